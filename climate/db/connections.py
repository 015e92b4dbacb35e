# SPDX-License-Identifier: Apache-2.0
"""SQLAlchemy's engines for each kind of database, and how their connections behave."""
import time
import weakref

from oslo_db.sqlalchemy import engines
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy import pool

# A connection is pinged before reuse only if it was idle for at least this time.
_TRUSTED_SECONDS = 1
# not_null_violation and check_violation of PostgreSQL, whose details show the whole row.
_WITH_ROW = ('23502', '23514')


def open_server(url, isolation_level, options):
    """Return the engine of a database server."""
    if url.get_backend_name() == 'mariadb':
        # SQLAlchemy's dialect "mariadb" is unknown to oslo.db and to our column types.
        url = url.set(drivername=url.drivername.replace('mariadb', 'mysql', 1))
    engine = engines.create_engine(url, thread_checkin=False, **options)

    # The level is set once for each connection, because an execution option costs MariaDB four
    # more statements in each transaction.
    @event.listens_for(engine, 'connect')
    def _prepare(connection, _record):
        engine.dialect.set_isolation_level(connection, isolation_level)

    _ping_only_idle(engine)
    _hide_rows(engine.dialect)
    # Close the first connection, which was opened before the listener existed.
    engine.dispose()
    return engine


def refusing_to_write(engine):
    """Make an engine refuse to write, and return it as the engine of readers.

    Its connections begin no transaction, because that would cost more than the query.
    """
    @event.listens_for(engine, 'before_execute')
    def _refuse_to_write(_connection, statement, *_):
        if statement.is_dml:
            raise RuntimeError('A reader must not write: use Database.writer().')

    return engine


def _ping_only_idle(engine):
    """Ping a pooled connection before reuse only if it was idle for a while."""
    ping = engine.dialect.do_ping
    checked_in_at = weakref.WeakKeyDictionary()

    @event.listens_for(engine, 'checkin')
    def _left(connection, _record):
        if connection is not None:
            checked_in_at[connection] = time.monotonic()

    def is_alive(connection):
        idle = time.monotonic() - checked_in_at.get(connection, float('-inf'))
        return idle < _TRUSTED_SECONDS or ping(connection)

    # oslo.db lets the pool ping before each use, which costs as much as a statement.
    engine.dialect.do_ping = is_alive


def _hide_rows(dialect):
    """Remove the rows that PostgreSQL refused from its errors, because they may have secrets."""
    execute = dialect.do_execute

    def execute_hiding_rows(cursor, statement, parameters, context=None):
        try:
            execute(cursor, statement, parameters, context)
        except dialect.dbapi.IntegrityError as error:
            detail = getattr(getattr(error, 'diag', None), 'message_detail', None)
            if detail and error.pgcode in _WITH_ROW:
                error.args = tuple(str(part).replace(detail, 'The row is not shown.')
                                   for part in error.args)
            raise

    dialect.do_execute = execute_hiding_rows


def open_sqlite(url):
    """Return the engines of writers and of readers, which share connections."""
    # oslo.db's engine sends a plain BEGIN itself and opens a new file for each connection. Both
    # cost time. So SQLAlchemy opens SQLite without oslo.db, as its documentation describes.
    in_memory = url.database in (None, '', ':memory:')
    options = ({'poolclass': pool.StaticPool} if in_memory
               else {'poolclass': pool.QueuePool, 'pool_size': 20, 'max_overflow': 40})
    engine = sa.create_engine(url, connect_args={'check_same_thread': False, 'timeout': 60},
                              **options)

    @event.listens_for(engine, 'connect')
    def _prepare(connection, _record):
        connection.isolation_level = None
        connection.execute('PRAGMA foreign_keys = ON')
        connection.execute('PRAGMA busy_timeout = 60000')
        if not in_memory:
            connection.execute('PRAGMA journal_mode = WAL')
            connection.execute('PRAGMA synchronous = NORMAL')

    def begin(connection):
        connection.driver_connection.execute('BEGIN IMMEDIATE')

    # BEGIN is sent to the driver directly, because this costs less than a SQLAlchemy statement.
    engine.dialect.do_begin = begin
    return engine, refusing_to_write(sa.create_engine(url, pool=engine.pool))
