# SPDX-License-Identifier: Apache-2.0
"""The database: how a transaction for reading or for writing is opened."""
import contextlib
import datetime
import threading
import time
import weakref

from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import engines
from oslo_log import log
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy import pool

from climate import errors

LOG = log.getLogger(__name__)

# The first versions of MySQL (False) and MariaDB (True) that know SKIP LOCKED.
_SKIPPING = {False: (8, 0, 1), True: (10, 6)}
# A connection that was used so short a time ago is taken to live.
_TRUSTED_SECONDS = 1
# So long a process counts on from what the clock of the database said.
_CLOCK_SECONDS = 1


class Database:
    """One database, opened once for each process.

    A reader sees one committed state after another; a writer is one transaction. On MariaDB and
    PostgreSQL both see what is committed at each statement: under MariaDB's default a second read
    in the same transaction would see the old picture, and two managers would book the same host.
    Readers begin no transaction and refuse to write; on a database that is a server they have
    connections of their own. On SQLite a writer begins with BEGIN IMMEDIATE, so that writers queue
    before they read.
    """

    def __init__(self, url, max_pool_size=None, max_overflow=None, max_retries=3,
                 retry_interval=1):
        """Open `url`; the rest is as in the group [database], and is not for SQLite.

        :raises DatabaseUnreachable: the database does not answer.
        """
        url = sa.make_url(url)
        options = {'max_pool_size': max_pool_size, 'max_overflow': max_overflow,
                   'max_retries': max_retries, 'retry_interval': retry_interval}
        in_file = url.get_backend_name() == 'sqlite'
        if in_file:
            self._engine, self._reading = _open_sqlite(url)
        else:
            self._engine = _open(url, 'READ COMMITTED', options)
            self._reading = _refusing_to_write(_open(url, 'AUTOCOMMIT', options))
        self.dialect = self._engine.dialect.name
        self._asked = float('-inf'), None
        # Threads of one process queue here instead of in SQLite's busy loop, which sleeps.
        self._turn = threading.Lock() if self.dialect == 'sqlite' else contextlib.nullcontext()

    @property
    def engine(self):
        """The SQLAlchemy engine, for migrations."""
        return self._engine

    @contextlib.contextmanager
    def reader(self):
        """A connection for reading; nothing that is written there is kept.

        :raises DatabaseUnreachable: the database does not answer.
        """
        with _translated(), self._reading.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writer(self):
        """A connection in one transaction: committed at the end, rolled back by any error.

        :raises LostRace: others wrote the same rows at the same time; nothing was written.
        :raises Duplicate: a unique key is taken; nothing was written.
        :raises DatabaseUnreachable: the database does not answer.
        """
        with _translated(), self._turn, self._engine.begin() as connection:
            yield connection

    def now(self):
        """This moment by the clock of the database (of this machine for SQLite).

        The database is asked once a second; between, this process only says how long ago that was.
        """
        if self.dialect == 'sqlite':
            return datetime.datetime.now(datetime.UTC)
        asked_at, moment = self._asked
        if time.monotonic() - asked_at > _CLOCK_SECONDS:
            moment = self._ask_the_time()
            # Only now: what is said until the next time may be late, but is never ahead.
            asked_at = time.monotonic()
            self._asked = asked_at, moment
        return moment + datetime.timedelta(seconds=time.monotonic() - asked_at)

    def _ask_the_time(self):
        question = {'postgresql': 'SELECT clock_timestamp()',
                    'mysql': 'SELECT UTC_TIMESTAMP(6)'}[self.dialect]
        with self.reader() as connection:
            moment = connection.exec_driver_sql(question).scalar_one()
        if moment.tzinfo is None:
            return moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(datetime.UTC)

    def dispose(self):
        """Close the pooled connections."""
        self._engine.dispose()
        self._reading.dispose()


class Duplicate(Exception):
    """A row with that unique key is there already."""


@contextlib.contextmanager
def _translated():
    """What databases and oslo.db call an error, as Climate's own errors."""
    try:
        yield
    except db_exc.DBDuplicateEntry as error:
        raise Duplicate(str(error)) from error
    except db_exc.DBDeadlock as error:
        raise errors.LostRace() from error
    except (db_exc.DBConnectionError, sa.exc.TimeoutError) as error:
        LOG.warning('The database does not answer: %s', error)
        raise errors.DatabaseUnreachable(retry_after=5) from error
    except (db_exc.DBError, sa.exc.DBAPIError) as error:
        text = str(error)
        # Without a statement it failed while connecting; oslo.db knows few of PostgreSQL's words.
        if isinstance(error, sa.exc.OperationalError) and error.statement is None:
            LOG.error('The database cannot be opened: %s', error.orig)
            raise errors.DatabaseUnreachable(retry_after=5) from error
        if 'UNIQUE constraint' in text:
            raise Duplicate(text) from error
        # PostgreSQL's exclusion constraints, and SQLite's lock that was not got in time.
        if 'whole_against_' in text or 'database is locked' in text:
            raise errors.LostRace() from error
        raise


def skips_locked(connection):
    """True where a SELECT that locks its rows can pass over those that others have locked.

    SQLite, which has one writer, and MariaDB before 10.6 wait.
    """
    dialect = connection.dialect
    return dialect.name == 'postgresql' or (
        dialect.name == 'mysql'
        and dialect.server_version_info >= _SKIPPING[bool(dialect.is_mariadb)])


def connect(conf):
    """The database that [database] connection names."""
    options = conf.database
    return Database(options.connection, max_pool_size=options.max_pool_size,
                    max_overflow=options.max_overflow, max_retries=options.max_retries,
                    retry_interval=options.retry_interval)


def _open(url, isolation_level, options):
    """The engine of a database that is a server."""
    if url.get_backend_name() == 'mariadb':
        # To SQLAlchemy another dialect, which neither oslo.db nor our types know.
        url = url.set(drivername=url.drivername.replace('mariadb', 'mysql', 1))
    with _translated():
        engine = engines.create_engine(url, thread_checkin=False, **options)

    # Once for each connection: as an execution option it would cost MariaDB four statements more
    # in each transaction.
    @event.listens_for(engine, 'connect')
    def _prepare(connection, _record):
        engine.dialect.set_isolation_level(connection, isolation_level)

    _ask_only_the_idle(engine)
    # The connection that proved that the database answers was opened before.
    engine.dispose()
    return engine


def _refusing_to_write(engine):
    """The engine of readers. Its connections begin no transaction.

    To begin and to end one would be more than what is asked between.
    """
    @event.listens_for(engine, 'before_execute')
    def _refuse_to_write(_connection, statement, *_):
        if statement.is_dml:
            raise RuntimeError('A reader does not write.')

    return engine


def _ask_only_the_idle(engine):
    """Let a connection be taken again without asking it whether it lives, if it just did."""
    ask = engine.dialect.do_ping
    left_at = weakref.WeakKeyDictionary()

    @event.listens_for(engine, 'checkin')
    def _left(connection, _record):
        if connection is not None:
            left_at[connection] = time.monotonic()

    def lives(connection):
        idle = time.monotonic() - left_at.get(connection, float('-inf'))
        return idle < _TRUSTED_SECONDS or ask(connection)

    # oslo.db lets the pool ask before each use, which is as dear as a statement.
    engine.dialect.do_ping = lives


def _open_sqlite(url):
    """The engines of writers and of readers, with the same connections."""
    # oslo.db's engine says a plain BEGIN itself and opens a new file for each connection; both
    # would cost here, so SQLite is opened with SQLAlchemy alone, as its dialect's page advises.
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

    # The driver is told itself: as a statement of SQLAlchemy's it would cost as much as another.
    engine.dialect.do_begin = begin
    return engine, _refusing_to_write(sa.create_engine(url, pool=engine.pool))
