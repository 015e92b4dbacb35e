# SPDX-License-Identifier: Apache-2.0
"""The state of the simulated cloud: a SQLite database, in a file or in memory."""
import contextlib
import functools
import os
import sqlite3
import threading

from climate import errors

_BUSY_SECONDS = 60
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS hosts (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, service_host TEXT NOT NULL UNIQUE,
        vcpus INTEGER NOT NULL, memory_mb INTEGER NOT NULL, disk_gb INTEGER NOT NULL,
        hypervisor_type TEXT NOT NULL, hypervisor_version INTEGER NOT NULL,
        cpu_info TEXT NOT NULL, traits TEXT NOT NULL, up INTEGER NOT NULL,
        enabled INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS servers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, host TEXT, project_id TEXT NOT NULL,
        status TEXT NOT NULL, gone_at REAL, flavor_id TEXT)""",
    'CREATE INDEX IF NOT EXISTS servers_host ON servers (host)',
    """CREATE TABLE IF NOT EXISTS aggregates (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, zone TEXT)""",
    """CREATE TABLE IF NOT EXISTS aggregate_hosts (
        aggregate_id INTEGER NOT NULL, host TEXT NOT NULL, PRIMARY KEY (aggregate_id, host))""",
    """CREATE TABLE IF NOT EXISTS aggregate_metadata (
        aggregate_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (aggregate_id, name))""",
    """CREATE TABLE IF NOT EXISTS providers (
        name TEXT PRIMARY KEY, uuid TEXT NOT NULL, parent TEXT NOT NULL,
        inventory TEXT NOT NULL)""",
    'CREATE INDEX IF NOT EXISTS aggregate_hosts_host ON aggregate_hosts (host)',
    """CREATE TABLE IF NOT EXISTS trusts (
        id TEXT PRIMARY KEY, project_id TEXT NOT NULL, trustor_id TEXT NOT NULL,
        roles TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS flavors (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, vcpus INTEGER NOT NULL, ram INTEGER NOT NULL,
        disk INTEGER NOT NULL, ephemeral INTEGER NOT NULL, swap INTEGER NOT NULL,
        is_public INTEGER NOT NULL, extra_specs TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS flavor_access (
        flavor_id TEXT NOT NULL, project_id TEXT NOT NULL, PRIMARY KEY (flavor_id, project_id))""",
    """CREATE TABLE IF NOT EXISTS server_groups (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, policy TEXT NOT NULL,
        project_id TEXT NOT NULL)""",
    'CREATE TABLE IF NOT EXISTS resource_classes (name TEXT PRIMARY KEY)',
    """CREATE TABLE IF NOT EXISTS images (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, server_id TEXT NOT NULL,
        project_id TEXT NOT NULL)""",
)
# Each of the following groups upgrades a state file of the version before.
_SECOND = (
    "ALTER TABLE servers ADD COLUMN hints TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE servers ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'",
    'ALTER TABLE servers ADD COLUMN flavor TEXT',
    'ALTER TABLE servers ADD COLUMN task TEXT',
    'ALTER TABLE servers ADD COLUMN task_due REAL',
    'ALTER TABLE servers ADD COLUMN task_about TEXT',
    'CREATE INDEX servers_due ON servers (task_due) WHERE task_due IS NOT NULL',
    "ALTER TABLE images ADD COLUMN kind TEXT NOT NULL DEFAULT 'snapshot'",
    "ALTER TABLE images ADD COLUMN status TEXT NOT NULL DEFAULT 'active'",
    'ALTER TABLE images ADD COLUMN key TEXT',
    """CREATE TABLE failures (
        server_id TEXT NOT NULL, change TEXT NOT NULL, at REAL NOT NULL)""",
)
_THIRD = ('ALTER TABLE servers ADD COLUMN locked INTEGER NOT NULL DEFAULT 0',)
_FOURTH = (
    'ALTER TABLE hosts ADD COLUMN reason TEXT',
    # Whether the host has the trait of a disabled service, which may lag behind the service.
    'ALTER TABLE hosts ADD COLUMN barred INTEGER NOT NULL DEFAULT 0',
    'UPDATE hosts SET barred = 1 WHERE NOT enabled',
    'ALTER TABLE servers ADD COLUMN moves_to TEXT',
    """CREATE TABLE moves (
        id INTEGER PRIMARY KEY AUTOINCREMENT, server_id TEXT NOT NULL, kind TEXT NOT NULL,
        status TEXT NOT NULL, source TEXT NOT NULL, target TEXT)""",
    'CREATE INDEX moves_server ON moves (server_id)',
)
# Several hypervisors may have one service host; SQLite can drop the constraint only with the table.
_FIFTH = (
    """CREATE TABLE new_hosts (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, service_host TEXT NOT NULL,
        vcpus INTEGER NOT NULL, memory_mb INTEGER NOT NULL, disk_gb INTEGER NOT NULL,
        hypervisor_type TEXT NOT NULL, hypervisor_version INTEGER NOT NULL,
        cpu_info TEXT NOT NULL, traits TEXT NOT NULL, up INTEGER NOT NULL,
        enabled INTEGER NOT NULL, reason TEXT, barred INTEGER NOT NULL DEFAULT 0)""",
    'INSERT INTO new_hosts SELECT id, name, service_host, vcpus, memory_mb, disk_gb, '
    'hypervisor_type, hypervisor_version, cpu_info, traits, up, enabled, reason, barred FROM hosts',
    'DROP TABLE hosts',
    'ALTER TABLE new_hosts RENAME TO hosts',
    'CREATE INDEX hosts_service_host ON hosts (service_host)',
    # The name of the first hypervisor of the server; it may have moved within its host since.
    'ALTER TABLE servers ADD COLUMN node TEXT',
)
_SIXTH = ('ALTER TABLE trusts ADD COLUMN expires_at TEXT',)
_SEVENTH = (
    'ALTER TABLE trusts ADD COLUMN redelegable INTEGER NOT NULL DEFAULT 0',
    """CREATE TABLE quotas (
        project_id TEXT NOT NULL, name TEXT NOT NULL, most INTEGER NOT NULL,
        PRIMARY KEY (project_id, name))""",
)
_EIGHTH = (
    'ALTER TABLE trusts RENAME COLUMN redelegable TO redelegation_count',
    'ALTER TABLE trusts ADD COLUMN parent_id TEXT',
    # The trusts that Heat made, including deleted ones: Keystone's constraint covers those too.
    """CREATE TABLE heat_trusts (
        trustor_id TEXT NOT NULL, project_id TEXT NOT NULL, expires_at TEXT,
        UNIQUE (trustor_id, project_id, expires_at))""",
)
_NINTH = (
    # Users without a role in a project; an empty project stands for all projects. All other users
    # have a role in each project.
    """CREATE TABLE departures (
        user_id TEXT NOT NULL, project_id TEXT NOT NULL, PRIMARY KEY (user_id, project_id))""",
)
_TENTH = (
    # The unified limits of projects; an empty project stands for the registered default.
    """CREATE TABLE unified_limits (
        project_id TEXT NOT NULL, name TEXT NOT NULL, most INTEGER NOT NULL,
        PRIMARY KEY (project_id, name))""",
)
_NEWER = {2: _SECOND, 3: _THIRD, 4: _FOURTH, 5: _FIFTH, 6: _SIXTH, 7: _SEVENTH, 8: _EIGHTH,
          9: _NINTH, 10: _TENTH}


def _upgraded(connection, tables):
    """Create the tables, or upgrade them; return the version that they had, 0 if there were none.

    :param tables: the statements that create the tables of adapters.
    """
    for statement in (*_SCHEMA, *tables):
        connection.execute(statement)
    version = connection.execute('PRAGMA user_version').fetchone()[0]
    for newer, statements in _NEWER.items():
        if version < newer:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f'PRAGMA user_version = {newer}')
    return version


@functools.cache
def _in_memory(tables):
    """Return a connection to a database in memory that has the tables and no rows."""
    connection = sqlite3.connect(':memory:', isolation_level=None, check_same_thread=False)
    _upgraded(connection, tables)
    return connection


class StateStore:
    """The database, used by all threads of this process and perhaps by other processes.

    :param path: the path of the file; empty: a database in memory.
    :param fill: callable(connection) that fills a new database; called once in its life.
    :param tables: statements that create the tables of adapters if they do not exist.
    """

    def __init__(self, path, fill, tables=()):
        self._path = path
        self._lock = threading.Lock()
        self._connection = None
        self._process = None
        if not path:
            # Copying the tables is ten times as fast as creating them.
            _in_memory(tuple(tables)).backup(self._connected())
        with self.transaction() as connection:
            if not path or _upgraded(connection, tables) == 0:
                fill(connection)

    @contextlib.contextmanager
    def transaction(self):
        """Yield a connection in an exclusive transaction, which is committed at the end."""
        with self._lock:
            connection = self._connected()
            with connection:
                connection.execute('BEGIN IMMEDIATE')
                yield connection

    def close(self):
        """Close the file; a database in memory is lost."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connected(self):
        # SQLite forbids the use of a connection that was opened before a fork.
        if self._connection is None or (self._path and self._process != os.getpid()):
            try:
                self._connection = sqlite3.connect(
                    self._path or ':memory:', timeout=_BUSY_SECONDS, isolation_level=None,
                    check_same_thread=False)
            except sqlite3.OperationalError as error:
                raise errors.ConfigurationError(
                    f'[simulated] state = "{self._path}" cannot be opened: {error}. Name a file '
                    'that this user can write.') from error
            self._connection.row_factory = sqlite3.Row
            # Writes survive a killed process; only a crash of the machine can lose them.
            self._connection.execute('PRAGMA synchronous = OFF')
            self._process = os.getpid()
        return self._connection
