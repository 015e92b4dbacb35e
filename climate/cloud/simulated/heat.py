# SPDX-License-Identifier: Apache-2.0
"""Heat of the simulated cloud: its stacks, whose actions take [simulated] stack_seconds."""
import sqlite3
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import flavors
from climate.cloud.simulated import interface
from climate.cloud.simulated import server_rows
from climate.cloud.simulated import stack_parts
from climate.cloud.simulated import templates

TABLES = (
    """CREATE TABLE IF NOT EXISTS stacks (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, project_id TEXT NOT NULL,
        action TEXT NOT NULL, progress TEXT NOT NULL, reason TEXT NOT NULL,
        becomes TEXT, due REAL, tags TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS stack_parts (
        stack_id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, server_id TEXT,
        made_id TEXT)""",
)
# The project of the stacks that Climate itself creates: Heat then ignores the project in the path.
_SERVICE = 'service'
_NOT_SUSPENDABLE = ('CREATE', 'DELETE', 'ROLLBACK')


class SimulatedStacks(interface.SimulatedInterface, base.Stacks):
    """Heat under one identity."""

    def preview(self, spec, context=None):
        def work(connection, project_id):
            return self._preview(connection, spec, project_id if context is None
                                 else context.project_id)
        return self._call('preview', work)

    def create(self, spec):
        def work(connection, project_id):
            project = project_id or _SERVICE
            if find(connection, project, spec['name']) is not None:
                raise errors.Conflict(reason=f'The Stack ({spec["name"]}) already exists.')
            try:
                preview = self._preview(connection, spec, project)
            except errors.BadRequest as error:
                raise errors.CloudError.plain(self.service, error.message) from error
            self._make_trust(connection)
            stack_id = str(uuid.uuid4())
            connection.execute(
                "INSERT INTO stacks VALUES (?, ?, ?, 'CREATE', 'COMPLETE', '', NULL, NULL, ?)",
                (stack_id, spec['name'], project, ','.join(spec.get('tags') or ())))
            problem = self._build(connection, stack_id, project, preview)
            self._begin(connection, stack_id, 'CREATE', problem)
            return stack_id
        return self._call('create', work)

    def find(self, project_id, name_or_id):
        def work(connection, caller):
            owner = project_id or caller or _SERVICE
            self._refuse_stranger(owner, caller)
            row = find(connection, owner, name_or_id)
            return None if row is None else record(row)
        return self._call('find', work)

    def suspend(self, project_id, stack):
        def work(connection, current):
            problem = None
            if current.action in _NOT_SUSPENDABLE and current.status != 'CREATE_COMPLETE':
                problem = f"State ('{current.action}', '{current.progress}') invalid for suspend"
            for row, server in self._servers(connection, stack.id):
                if server is None:
                    problem = f'Failed to find server {row["server_id"]}'
                elif server['status'].startswith('SHELVED'):
                    problem = f"Cannot 'suspend' instance {server['id']} while it is shelved"
                elif problem is None:
                    server_rows.put(connection, server['id'], status='SUSPENDED')
            self._begin(connection, stack.id, 'SUSPEND', problem)
        self._act('suspend', project_id, stack, work)

    def resume(self, project_id, stack):
        def work(connection, current):
            problem = None
            if current.action not in ('SUSPEND', 'RESUME'):
                problem = f"State ('{current.action}', '{current.progress}') invalid for resume"
            for row, server in self._servers(connection, stack.id):
                if server is None:
                    problem = f'Failed to find server {row["server_id"]}'
                elif problem is None:
                    server_rows.put(connection, server['id'], status='ACTIVE')
            self._begin(connection, stack.id, 'RESUME', problem)
        self._act('resume', project_id, stack, work)

    def delete(self, project_id, stack):
        def work(connection, _current):
            problem = None
            for _, server in self._servers(connection, stack.id):
                if server is not None and server['locked']:
                    problem = f'Instance {server["id"]} is locked'
                elif server is not None:
                    self._lifecycle.delete(connection, server['id'], None)
            for row in connection.execute(
                    'SELECT * FROM stack_parts WHERE stack_id = ? AND made_id IS NOT NULL '
                    'ORDER BY rowid DESC', (stack.id,)).fetchall():
                stack_parts.unmake(connection, row)
            self._begin(connection, stack.id, 'DELETE', problem)
        self._act('delete', project_id, stack, work)

    def parts(self, project_id, stack):
        def work(connection, caller):
            self._refuse_stranger(project_id, caller)
            return [models.StackPart(
                name=row['name'], kind=row['kind'],
                status=f'{stack.action}_{"FAILED" if server and server["locked"] else "COMPLETE"}',
                reason=f'Instance {server["id"]} is locked' if server and server['locked'] else '')
                for row, server in self._servers(connection, stack.id)]
        return self._call('parts', work)

    def _act(self, name, project_id, stack, work):
        """Begin an action, unless the stack is gone. While another one runs, only delete begins."""
        def begin(connection, caller):
            self._refuse_stranger(project_id, caller)
            row = find(connection, project_id, stack.id)
            if row is None or (row['progress'] == 'IN_PROGRESS' and name != 'delete'):
                return
            work(connection, record(row))
        self._call(name, begin)

    def _settle(self, connection):
        settle(connection, self._lifecycle.now)

    def _begin(self, connection, stack_id, action, problem=None):
        """Begin an action that ends after [simulated] stack_seconds, with `problem` if any."""
        connection.execute(
            "UPDATE stacks SET action = ?, progress = 'IN_PROGRESS', reason = ?, becomes = ?, "
            'due = ? WHERE id = ?', (
                action, problem or f'Stack {action} completed successfully',
                'FAILED' if problem else 'COMPLETE',
                self._lifecycle.due_in(self._lifecycle.options.stack_seconds), stack_id))
        settle(connection, self._lifecycle.now)

    def _build(self, connection, stack_id, project_id, preview):
        """Create the parts of a stack, its servers first; return the first problem, or None."""
        problem, server_ids = None, {}
        for part in sorted(preview.parts, key=lambda part: part.kind != templates.SERVER):
            made_id = None
            if part.kind == templates.SERVER and problem is None:
                server_ids[part.name] = self._boot(connection, project_id, part)
                if server_ids[part.name] is None:
                    problem = f'ResourceInError: resources.{part.name}: No valid host was found.'
            elif problem is None:
                try:
                    made_id = stack_parts.make(connection, project_id, part, server_ids)
                except errors.CloudError as error:
                    problem = f'resources.{part.name}: {error.message}'
            connection.execute('INSERT INTO stack_parts VALUES (?, ?, ?, ?, ?)', (
                stack_id, part.name, part.kind, server_ids.get(part.name), made_id))
        return problem

    def _boot(self, connection, project_id, part):
        """Boot a server of a stack; return its id, or None if no host takes it."""
        server = self._lifecycle.boot_anywhere(connection, models.Server(
            id='', name=part.name, host=None, project_id=project_id, status='BUILD',
            flavor=_flavor(connection, part, project_id)), part.properties.get('scheduler_hints'))
        return server and server.id

    def _preview(self, connection, spec, project_id):
        preview = templates.preview(spec)
        for part in preview.parts:
            if part.kind == templates.SERVER and (
                    _flavor(connection, part, project_id) is None):
                raise errors.BadRequest(reason=(
                    f'Property error: resources.{part.name}.properties.flavor: Error validating '
                    f'value: The Flavor ID ({part.properties.get("flavor")}) could not be found.'))
        return preview

    def _make_trust(self, connection):
        """Record Heat's trust of a new stack, made from the trust of this identity, if any."""
        if self.trust_id is None:
            return
        trust = connection.execute(
            'SELECT * FROM trusts WHERE id = ?', (self.trust_id,)).fetchone()
        if not trust['redelegation_count']:
            raise errors.CloudError(service=self.service, reason=(
                'RemoteError: You are not authorized to perform the requested action.'))
        try:
            connection.execute('INSERT INTO heat_trusts VALUES (?, ?, ?)', (
                trust['trustor_id'], trust['project_id'], trust['expires_at']))
        except sqlite3.IntegrityError as error:
            raise errors.CloudError(service=self.service, reason=(
                'RemoteError: An unexpected error prevented the server from fulfilling your '
                'request.')) from error

    def _refuse_stranger(self, project_id, caller):
        if caller not in (None, project_id):
            raise errors.CloudError(service=self.service, reason=(
                'You are not authorized to use that project.'))

    @staticmethod
    def _servers(connection, stack_id):
        """Return pairs (row of a part, row of its server or None) of a stack's servers."""
        return [(row, server_rows.find(connection, row['server_id'])) for row in connection.execute(
            'SELECT * FROM stack_parts WHERE stack_id = ? AND server_id IS NOT NULL '
            'ORDER BY rowid', (stack_id,)).fetchall()]


def find(connection, project_id, name_or_id):
    """Return the row of a stack of a project, or None."""
    return connection.execute(
        'SELECT * FROM stacks WHERE project_id = ? AND ? IN (id, name)',
        (project_id, name_or_id)).fetchone()


def settle(connection, now):
    """Complete the actions that are due."""
    connection.execute('UPDATE stacks SET progress = becomes, becomes = NULL, due = NULL '
                       'WHERE due <= ?', (now,))
    for table, key in (('stack_parts', 'stack_id'), ('stacks', 'id')):
        connection.execute(
            f'DELETE FROM {table} WHERE {key} IN (SELECT id FROM stacks '
            "WHERE action = 'DELETE' AND progress = 'COMPLETE')")


def every(connection):
    """Return all rows of stacks, oldest first."""
    return connection.execute('SELECT * FROM stacks ORDER BY rowid').fetchall()


def record(row):
    """Return a row as a Stack."""
    return models.Stack(id=row['id'], name=row['name'], action=row['action'],
                        progress=row['progress'], reason=row['reason'])


def _flavor(connection, part, project_id):
    """Return the Flavor of a server of a template, by id or name, or None."""
    id_or_name = part.properties.get('flavor')
    row = connection.execute('SELECT id FROM flavors WHERE ? IN (id, name)',
                             (id_or_name,)).fetchone() if isinstance(id_or_name, str) else None
    return None if row is None else flavors.usable(connection, row['id'], project_id)


class SimulatedHeatAdapter(base.HeatAdapter):
    """Heat of the simulated cloud."""

    interfaces = {'stacks': SimulatedStacks}
    tables = TABLES
