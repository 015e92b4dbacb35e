# SPDX-License-Identifier: Apache-2.0
"""The database of Blazar: read in one transaction that changes nothing, or written in one.

Blazar 2025.2 to 2026.2 is supported. A column that a release does not have reads as None, so that
older schemas need no separate code.
"""
import collections
import contextlib
import dataclasses
import pathlib

import sqlalchemy as sa

from climate import errors

#: The columns without which nothing can be imported, by table.
REQUIRED = {
    'leases': ('id', 'name', 'user_id', 'project_id', 'start_date', 'end_date', 'trust_id',
               'status'),
    'reservations': ('id', 'lease_id', 'resource_id', 'resource_type', 'status'),
    'events': ('id', 'lease_id', 'event_type', 'time', 'status'),
    'computehosts': ('id', 'vcpus', 'memory_mb', 'local_gb', 'hypervisor_hostname',
                     'service_name', 'reservable'),
    'computehost_reservations': ('reservation_id', 'count_range', 'hypervisor_properties',
                                 'resource_properties', 'aggregate_id', 'before_end'),
    'computehost_allocations': ('compute_host_id', 'reservation_id'),
}
#: Further tables. A database may lack some of them.
OPTIONAL = (
    'instance_reservations', 'resource_properties', 'computehost_extra_capabilities',
    'computehost_trait', 'computehost_resource_inventory', 'floatingips',
    'floatingip_reservations', 'required_floatingips', 'floatingip_allocations')
_WRITE = 'Write mysql+pymysql://USER:PASSWORD@HOST/DATABASE.'


class Row(dict):
    """A row, {column: value}. A column that the release does not have is None."""

    def __missing__(self, column):
        return None


class NotBlazar(errors.ConfigurationError):
    """The URL does not lead to a usable database of Blazar. The message says what to do."""


@dataclasses.dataclass(frozen=True)
class Source:
    """The contents of a database of Blazar.

    :ivar tables: {name of a table: its Rows}.
    :ivar others: the tables with rows that are not imported, such as those of Chameleon's fork.
    :ivar connections: how many other programs are connected to the database; None: unknown.
    :ivar columns: {name of a table: the names of its columns}.
    """

    tables: dict
    others: tuple = ()
    connections: int | None = None
    columns: dict = dataclasses.field(default_factory=dict)

    def rows(self, name):
        """Return the rows of a table; () if the database has no such table."""
        return self.tables.get(name, ())

    def grouped(self, name, column):
        """Return {value: the rows of a table with this value in a column}, a defaultdict."""
        groups = collections.defaultdict(list)
        for row in self.rows(name):
            groups[row[column]].append(row)
        return groups


def read(url):
    """Return the Source of the option ``--source``; raise the errors of `opened`."""
    with opened(url, '--source') as database:
        return database.read()


class OpenDatabase:
    """A connection to a database of Blazar. Its methods raise NotBlazar if a statement fails.

    :param shown: the option with the URL, without the password, for errors.
    """

    def __init__(self, connection, shown):
        self._connection, self._shown = connection, shown

    def read(self):
        """Return the Source.

        :raises NotBlazar: the tables are not Blazar's.
        """
        with _failures_of(self._shown):
            _begin_read_only(self._connection)
            found = _read(self._connection, self._shown)
            self._connection.rollback()
        return found

    @contextlib.contextmanager
    def writer(self):
        """Yield the connection with one transaction, which is committed at the end of the block.

        :raises NotBlazar: other programs are connected; nothing was written.
        """
        with _failures_of(self._shown), self._connection.begin():
            self.refuse_connected(_connections(self._connection))
            yield self._connection

    def refuse_connected(self, connections):
        """Refuse a database to which other programs are connected, because Blazar may write to it.

        :param connections: the number of other connections; None: unknown.
        :raises NotBlazar: there are other connections.
        """
        if connections:
            raise NotBlazar(f'{self._shown}: {connections} other programs are connected to this '
                            'database: stop blazar-manager and blazar-api. Nothing was written.')


@contextlib.contextmanager
def opened(url, option):
    """Yield the OpenDatabase of a URL.

    :param url: such as ``mysql+pymysql://blazar:PASSWORD@controller/blazar``.
    :param option: the option with the URL, which errors name.
    :raises NotBlazar: the URL is malformed, or nothing answers.
    """
    database = _engine(url, option)
    shown = f'{option} {database.url.render_as_string(hide_password=True)}'
    try:
        with _failures_of(shown):
            connection = _connect(database, shown)
        with connection:
            yield OpenDatabase(connection, shown)
    finally:
        database.dispose()


def _engine(url, option):
    try:
        return sa.create_engine(sa.make_url(url))
    except (sa.exc.NoSuchModuleError, ImportError) as error:
        raise NotBlazar(f'{option}: {error}. {_WRITE}') from error
    except sa.exc.ArgumentError:
        # Older releases of SQLAlchemy write the URL with its password into this error.
        raise NotBlazar(f'{option}: this is not the URL of a database. {_WRITE}') from None
    except ValueError:
        # The error and its context may contain a part of the password.
        raise NotBlazar(f'{option}: the port is not a number. Write '
                        'mysql+pymysql://USER:PASSWORD@HOST/DATABASE, with %2F for a slash and '
                        '%40 for an @ in the password.') from None


@contextlib.contextmanager
def _failures_of(shown):
    """Raise NotBlazar for an error of the database."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        [reason, *_] = str(error.orig).strip().splitlines() or ['']
        raise NotBlazar(f'{shown}: {reason.rstrip(".")}. Check the address, the user and its '
                        'password, and the rights of the user.') from error


def _connect(database, shown):
    """Return a connection.

    :raises NotBlazar: the URL names no database, or the driver refuses an option of the URL.
    :raises DBAPIError: the database refuses the connection.
    """
    if not database.url.database:
        raise NotBlazar(f'{shown}: the URL names no database. {_WRITE}')
    if database.dialect.name == 'sqlite' and not pathlib.Path(database.url.database).is_file():
        raise NotBlazar(f'{shown}: there is no file "{database.url.database}".')
    try:
        return database.connect()
    except (AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        # Drivers raise these for an option that they do not know, or a file of TLS that they
        # cannot read.
        raise NotBlazar(f'{shown}: the driver refuses the URL: {error}. Check the options after '
                        '"?", and the files that they name.') from error


def _begin_read_only(connection):
    # A snapshot, so that the tables agree with each other even if Blazar still runs.
    name = connection.dialect.name
    if name == 'mysql':
        connection.exec_driver_sql('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
        connection.exec_driver_sql('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    elif name == 'postgresql':
        connection.exec_driver_sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')


def _read(connection, shown):
    inspector = sa.inspect(connection)
    names = set(inspector.get_table_names())
    columns = {name: {column['name'] for column in inspector.get_columns(name)}
               for name in sorted(names & {*REQUIRED, *OPTIONAL})}
    missing = [f'{name}.{column}' for name, wanted in REQUIRED.items() for column in wanted
               if column not in columns.get(name, ())]
    if missing:
        raise NotBlazar(
            f'{shown}: this is not a database of Blazar 2025.2 to 2026.2: it lacks '
            f'{", ".join(missing[:5])}{" and more" if len(missing) > 5 else ""}. Name the database '
            'of Blazar, or upgrade it first with "blazar-db-manage upgrade head".')
    tables = {name: _rows(connection, name, columns[name]) for name in columns}
    others = [name for name in sorted(names - {*columns, 'alembic_version'})
              if connection.execute(sa.select(sa.literal(1)).select_from(sa.table(name)).limit(1))
              .first()]
    return Source(tables, tuple(others), _connections(connection), columns)


def _rows(connection, name, columns):
    table = sa.table(name, *(sa.column(column) for column in sorted(columns)))
    return [Row(zip(row._fields, map(_storable, row), strict=True))
            for row in connection.execute(sa.select(table))]


def _storable(value):
    """Return a value without the character NUL, which PostgreSQL refuses."""
    return value.replace('\0', ' ') if isinstance(value, str) and '\0' in value else value


def _connections(connection):
    """Return the number of other connections to the database; None if it cannot be read."""
    statement = {
        'mysql': 'SELECT COUNT(*) FROM information_schema.processlist '
                 'WHERE db = DATABASE() AND id <> CONNECTION_ID()',
        'postgresql': 'SELECT COUNT(*) FROM pg_stat_activity '
                      'WHERE datname = current_database() AND pid <> pg_backend_pid()',
    }.get(connection.dialect.name)
    return None if statement is None else connection.exec_driver_sql(statement).scalar()
