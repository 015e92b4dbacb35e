# SPDX-License-Identifier: Apache-2.0
"""The changes of servers in the simulated cloud: when they begin, and when they end."""
import dataclasses
import json

from climate import errors
from climate.cloud.simulated import images
from climate.cloud.simulated import scheduler
from climate.cloud.simulated import server_rows


@dataclasses.dataclass(frozen=True)
class ServerChange:
    """A kind of change of a server.

    :ivar task: Nova's task state while it runs.
    :ivar begins_in: the statuses in which Nova allows it.
    :ivar becomes: the status after it; None: a function of its own ends it.
    """

    task: str
    begins_in: tuple
    becomes: str | None = None


#: Statuses of a server that is built and not shelved.
AWAKE = ('ACTIVE', 'SHUTOFF', 'SUSPENDED', 'PAUSED')
_CHANGES = {
    'build': ServerChange('spawning', ('BUILD',), 'ACTIVE'),
    'shelve': ServerChange('shelving', AWAKE),
    'offload': ServerChange('shelving_offloading', ('SHELVED',)),
    'unshelve': ServerChange('unshelving', ('SHELVED', 'SHELVED_OFFLOADED')),
    'suspend': ServerChange('suspending', ('ACTIVE',), 'SUSPENDED'),
    'unrescue': ServerChange('unrescuing', ('RESCUE',), 'ACTIVE'),
    'stop': ServerChange('powering-off', ('ACTIVE', 'ERROR')),
    'migrate': ServerChange('migrating', ('ACTIVE', 'PAUSED')),
    'migrate stopped': ServerChange('resize_migrating', ('SHUTOFF',)),
    'confirm': ServerChange('confirming', ('VERIFY_RESIZE',), 'SHUTOFF'),
    'snapshot': ServerChange(images.UPLOADING, AWAKE),
}
_BECOMES = {change.task: change.becomes for change in _CHANGES.values()}


class Lifecycle:
    """The changes of servers.

    :ivar options: the group [simulated] of the configuration.
    :ivar choose: ``Scheduler.choose``.
    :param clock: returns the current time, in seconds since the epoch.
    :ivar broken: ids of servers that cannot be stopped, in this process.
    :ivar unreachable: service hosts to which every migration fails, in this process.
    :ivar silent: service hosts whose cell does not answer, in this process.
    :ivar image_faults: {server id: the fault of its next images}: see ``spoil_images``.
    :ivar keeps_zones: whether volumes are attached only to servers in their zone.
    :ivar traits_to_lose: the number of further changes of services that do not reach Placement.
    """

    def __init__(self, options, choose, clock):
        self.broken = set()
        self.unreachable = set()
        self.silent = set()
        self.image_faults = {}
        self.traits_to_lose = 0
        self.keeps_zones = False
        self.options = options
        self.choose = choose
        self._clock = clock
        self._ends = {'shelving': _offload, 'shelving_offloading': _offload,
                      'unshelving': self._unshelve, 'powering-off': self._stop,
                      'migrating': self._migrate,
                      'resize_migrating': self._migrate, images.UPLOADING: self._upload}

    @property
    def now(self):
        """The current time, in seconds since the epoch."""
        return self._clock()

    def due_in(self, seconds):
        """Return the time when a change that begins now and takes `seconds` is due."""
        return self._clock() + seconds

    def boot_anywhere(self, connection, server, hints=None):
        """Begin to build a Server where it fits; return its current state, or None."""
        hints = hints or {}
        host = self.choose(connection, scheduler.HostRequest(
            server.project_id, hints, server.flavor))
        return None if host is None else self.boot(
            connection, dataclasses.replace(server, host=host), hints)

    def boot(self, connection, server, hints):
        """Begin to build a Server on its host; return its current state, without the flavor."""
        server_id = server_rows.make(connection, server, hints)
        self.begin(connection, 'build', server_id, None)
        return server_rows.record(server_rows.find(connection, server_id))

    def begin(self, connection, change, server_id, project_id, **about):
        """Begin a change, which ends after [simulated] server_seconds.

        :param change: build, shelve, offload, unshelve, suspend, unrescue, stop, confirm.
        :param project_id: that of the user who asks; None: an administrator.
        :param about: values for the end of the change.
        :raises TargetGone: there is none, or it belongs to another project.
        :raises StillBusy: the state of the server does not allow it.
        """
        row = self._begin(connection, change, server_id, project_id,
                          self.options.server_seconds, **about)
        if change == 'shelve':
            images.make(connection, row, images.SHELVED, project_id, f'{row["name"]}-shelved')
        self.settle(connection)

    def migrate(self, connection, server_id, service_host=None):
        """Begin to migrate a server, or confirm the cold migration of a stopped one.

        It arrives after [simulated] migrate_seconds; until then it takes resources of both hosts.

        :param service_host: the target; None: any host with enough free resources.
        :raises TargetGone, StillBusy: see `begin`.
        """
        row = server_rows.find(connection, server_id)
        status = None if row is None else row['status']
        if status == 'VERIFY_RESIZE':
            self.begin(connection, 'confirm', server_id, None)
            return
        stopped = status == 'SHUTOFF'
        change = 'migrate stopped' if stopped else 'migrate'
        seconds = self.options.migrate_seconds
        row = self._begin(connection, change, server_id, None,
                          self.options.server_seconds if seconds is None else seconds)
        target = self._place(connection, row, target=service_host)
        server_rows.begin_migration(
            connection, server_id, 'migration' if stopped else 'live-migration', row['host'],
            target)
        server_rows.put(connection, server_id, moves_to=target)
        self.settle(connection)

    def snapshot(self, connection, server_id, project_id, name, key=None):
        """Begin to create an image of a server, for [simulated] image_seconds; return its id.

        :raises TargetGone, StillBusy: see `begin`.
        :raises CloudError: images of this server are refused; see ``spoil_images``.
        """
        if self.image_faults.get(server_id) == images.REFUSED:
            raise errors.CloudError(service='Nova', reason=(
                'Quota exceeded, too many images.'))
        row = self._begin(connection, 'snapshot', server_id, project_id,
                          self.options.image_seconds)
        image_id = images.make(connection, row, images.SNAPSHOT, project_id, name, key)
        self.settle(connection)
        return image_id

    def delete(self, connection, server_id, project_id, seconds=None):
        """Begin to delete a server.

        :param seconds: how long it stays on its host; None: [simulated] delete_seconds.
        """
        row = server_rows.find(connection, server_id, project_id)
        if row is None:
            return
        if seconds is None:
            seconds = 0 if row['host'] is None else self.options.delete_seconds
        gone_at = self.due_in(seconds)
        server_rows.put(connection, server_id, task='deleting', task_due=None,
                        gone_at=gone_at if row['gone_at'] is None else min(gone_at, row['gone_at']))
        images.drop_unfinished(connection, server_id)
        images.drop_shelved(connection, server_id, project_id)

    def settle(self, connection):
        """Complete the changes that are due."""
        now = self._clock()
        for row in connection.execute(
                'SELECT * FROM servers WHERE task_due <= ? ORDER BY task_due, rowid',
                (now,)).fetchall():
            about = json.loads(row['task_about'])
            server_rows.put(connection, row['id'], task=None, task_due=None, task_about=None)
            becomes = _BECOMES[row['task']]
            if becomes is not None:
                server_rows.put(connection, row['id'], status=becomes)
            else:
                self._ends[row['task']](connection, row, about)
        connection.execute('DELETE FROM servers WHERE gone_at <= ?', (now,))

    def _begin(self, connection, change, server_id, project_id, seconds, **about):
        row = server_rows.find(connection, server_id, project_id)
        if row is None:
            raise errors.TargetGone(kind='server', target_id=server_id)
        rule = _CHANGES[change]
        if row['locked'] and project_id is not None and change != 'snapshot':
            raise errors.StillBusy(service='Nova', reason=f'Instance {server_id} is locked')
        if row['task'] is not None or row['status'] not in rule.begins_in:
            doing = f' ({row["task"]})' if row['task'] else ''
            raise errors.StillBusy(service='Nova', reason=(
                f"Cannot '{change}' instance {server_id} while it is {row['status']}{doing}."))
        server_rows.put(connection, server_id, task=rule.task, task_due=self.due_in(seconds),
                        task_about=json.dumps({'project_id': project_id, **about}))
        return row

    def _unshelve(self, connection, row, about):
        host = row['host'] or self._place(connection, row, about.get('service_host'))
        if host is None:
            _fail(connection, row, 'unshelve')
            return
        server_rows.put(connection, row['id'], status='ACTIVE', host=host)
        images.drop_shelved(connection, row['id'], about['project_id'])

    def _stop(self, connection, row, about):
        if row['id'] in self.broken:
            _fail(connection, row, 'stop')
            return
        server_rows.put(connection, row['id'], status='SHUTOFF')

    def _upload(self, connection, row, about):
        fault = self.image_faults.get(row['id'])
        if fault is None:
            images.finish(connection, row['id'])
        elif fault == images.LOST:
            # Nova deletes an image whose upload failed, too.
            images.drop_unfinished(connection, row['id'])

    def _migrate(self, connection, row, about):
        host = row['moves_to']
        server_rows.put(connection, row['id'], moves_to=None)
        if host is None or host in self.unreachable:
            server_rows.end_migration(connection, row['id'], server_rows.FAILED)
            _fail(connection, row, 'migrate')
            return
        server_rows.end_migration(connection, row['id'], server_rows.DONE)
        # A cold migration waits to be confirmed.
        server_rows.put(connection, row['id'], host=host, status=(
            'VERIFY_RESIZE' if row['status'] == 'SHUTOFF' else row['status']))

    def _place(self, connection, row, service_host=None, target=None):
        """Return a service host for an existing server, other than its own, or None.

        :param service_host: the host to unshelve it to.
        :param target: the host to migrate it to.
        """
        if service_host is not None or target is not None:
            names = {service_host or target}
        else:
            names = {host['service_host'] for host in connection.execute(
                'SELECT service_host FROM hosts')}
        return self.choose(connection, scheduler.HostRequest(
            project_id=row['project_id'], hints=json.loads(row['hints']),
            flavor=server_rows.flavor(row), leased=True, service_host=service_host,
            server_id=row['id'], hosts=frozenset(names - {row['host']})))


def _offload(connection, row, about):
    images.finish(connection, row['id'])
    server_rows.put(connection, row['id'], status='SHELVED_OFFLOADED', host=None)


def _fail(connection, row, change):
    connection.execute('INSERT INTO failures VALUES (?, ?, ?)',
                       (row['id'], change, row['task_due']))
