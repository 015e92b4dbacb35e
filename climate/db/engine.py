# SPDX-License-Identifier: Apache-2.0
"""The connection to the database: transactions for reading and for writing."""
import contextlib
import datetime
import logging
import threading
import time

from oslo_db import exception as db_exc
from oslo_log import log
import sqlalchemy as sa

from climate import errors
from climate.db import changes
from climate.db import connections
from climate.db import outages
from climate.db import wakeup_channel
from climate.db import wakeups

LOG = log.getLogger(__name__)

# The first versions of MySQL (False) and MariaDB (True) that support SKIP LOCKED.
_SKIPPING = {False: (8, 0, 1), True: (10, 6)}
# Texts of errors that mean a lost race but that oslo.db does not know: conflicts with another node
# of Galera, an exclusion constraint of PostgreSQL, and a timeout while waiting for SQLite's lock.
_RACE_LOST = ('WSREP detected deadlock', 'Lock deadlock; Retry transaction', 'whole_against_',
              'database is locked')
# The clock of the database is read again after this time.
_CLOCK_SECONDS = 1
# The Retry-After of failed requests: in an outage, and if an operator must repair the database.
_RETRY_SECONDS = 5
_REFUSED_SECONDS = 30
_EXAMPLE = 'mysql+pymysql://climate:PASSWORD@db.example.org/climate'


class Database:
    """One database. Each process opens it once.

    A writer is one transaction at READ COMMITTED: with MariaDB's default isolation a second read in
    the same transaction would see the old snapshot, and two managers would book the same host.
    A reader has no transaction: each statement sees the data that is committed at its time. A
    reader raises an error for statements that write. On MariaDB and PostgreSQL readers have
    connections of their own. On SQLite a writer begins with BEGIN IMMEDIATE, so that writers queue
    before they read.
    """

    def __init__(self, url, max_pool_size=None, max_overflow=None, max_retries=3,
                 retry_interval=1, mysql_sql_mode='TRADITIONAL'):
        """Open `url`. The other parameters are options of [database]; SQLite ignores them.

        :raises DatabaseUnreachable: the database does not answer.
        """
        url = sa.make_url(url)
        options = {'max_pool_size': max_pool_size, 'max_overflow': max_overflow,
                   'max_retries': max_retries, 'retry_interval': retry_interval,
                   # Empty: the mode of the server.
                   'mysql_sql_mode': mysql_sql_mode or None}
        self._outages = outages.Log()
        in_file = url.get_backend_name() == 'sqlite'
        if in_file:
            self._engine, self._reading = connections.open_sqlite(url)
        else:
            with _translated(self._outages):
                self._engine = connections.open_server(url, 'READ COMMITTED', options)
                self._reading = connections.refusing_to_write(
                    connections.open_server(url, 'AUTOCOMMIT', options))
        # The parameters of statements may have secrets, and SQLAlchemy's errors and log show them.
        self._engine.hide_parameters = self._reading.hide_parameters = True
        changes.watch(self._engine)
        self.dialect = self._engine.dialect.name
        self._clock_reading = float('-inf'), None
        self.wakeups = wakeups.Wakeups()
        self._channel = None
        if self.dialect == 'postgresql':
            self._channel = wakeup_channel.Channel(self._reading, self.wakeups)
            self.wakeups.forward = self._channel.send
        # Threads of one process queue at this lock, because SQLite's busy loop sleeps.
        self._writing = threading.Lock() if self.dialect == 'sqlite' else contextlib.nullcontext()

    @property
    def engine(self):
        """Return the SQLAlchemy engine, for migrations."""
        return self._engine

    @contextlib.contextmanager
    def reader(self):
        """Yield a connection for reading.

        :raises DatabaseUnreachable: the database does not answer.
        """
        with _translated(self._outages), self._reading.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writer(self, counted=True):
        """Yield a connection in a transaction: committed at the end, rolled back after an error.

        A transaction that changes something that REST shows is counted (``db.changes``).

        :param counted: False: do not count, because the tables may be older.
        :raises LostRace: another transaction wrote the same rows; nothing was written.
        :raises Duplicate: a unique key is taken; nothing was written.
        :raises DatabaseUnreachable: the database does not answer.
        """
        with _translated(self._outages), self._writing, self._engine.begin() as connection:
            # Forget the wake-ups of a transaction of this connection that was rolled back.
            wakeups.requested(connection)
            yield connection
            if counted:
                changes.count(connection)
            topics = wakeups.requested(connection)
        self.wakeups.committed(topics)

    def now(self):
        """Return the current time of the database's clock (of this machine's for SQLite).

        The clock is read once a second; in between, this process adds the time since then.
        """
        if self.dialect == 'sqlite':
            return datetime.datetime.now(datetime.UTC)
        read_at, moment = self._clock_reading
        if time.monotonic() - read_at > _CLOCK_SECONDS:
            moment = self._read_clock()
            # Read after the answer, so that the result may be late but is never ahead.
            read_at = time.monotonic()
            self._clock_reading = read_at, moment
        return moment + datetime.timedelta(seconds=time.monotonic() - read_at)

    def _read_clock(self):
        query = {'postgresql': 'SELECT clock_timestamp()',
                 'mysql': 'SELECT UTC_TIMESTAMP(6)'}[self.dialect]
        with self.reader() as connection:
            moment = connection.exec_driver_sql(query).scalar_one()
        if moment.tzinfo is None:
            return moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(datetime.UTC)

    def listen(self):
        """Wake threads of this process for commits of others; return when the database is closed.

        Only PostgreSQL does this. On other databases this method returns at once.
        """
        if self._channel is not None:
            self._channel.listen()

    def dispose(self):
        """Close the pooled connections."""
        if self._channel is not None:
            self._channel.close()
        self._engine.dispose()
        self._reading.dispose()


class Duplicate(Exception):
    """A row with that unique key already exists."""


@contextlib.contextmanager
def _translated(outage):
    """Map errors of databases and of oslo.db to Climate's own errors."""
    try:
        yield
        outage.succeeded()
    except db_exc.DBDuplicateEntry as error:
        raise Duplicate(str(error)) from error
    except db_exc.DBDeadlock as error:
        raise errors.LostRace() from error
    except (db_exc.DBConnectionError, sa.exc.TimeoutError) as error:
        outage.failed(logging.WARNING, 'The database does not answer.', reason(error))
        raise errors.DatabaseUnreachable(retry_after=_RETRY_SECONDS) from error
    except (db_exc.DBError, sa.exc.DBAPIError) as error:
        text = str(error)
        if any(marker in text for marker in _RACE_LOST):
            raise errors.LostRace() from error
        refusal = outages.refusal(error)
        if refusal is not None:
            outage.failed(logging.ERROR, f'The database does not work: {refusal}', reason(error))
            raise errors.DatabaseRefuses(reason=refusal, retry_after=_REFUSED_SECONDS) from error
        # Another error without a statement came while connecting; oslo.db misses some of
        # PostgreSQL's.
        if isinstance(error, sa.exc.OperationalError) and error.statement is None:
            outage.failed(logging.WARNING, 'The database cannot be opened.', reason(error))
            raise errors.DatabaseUnreachable(retry_after=_RETRY_SECONDS) from error
        if 'UNIQUE constraint' in text:
            raise Duplicate(text) from error
        raise


def skips_locked(connection):
    """Return whether the database supports SELECT … FOR UPDATE SKIP LOCKED.

    SQLite, which has one writer, and MariaDB before 10.6 wait for locked rows instead.
    """
    dialect = connection.dialect
    return dialect.name == 'postgresql' or (
        dialect.name == 'mysql'
        and dialect.server_version_info >= _SKIPPING[bool(dialect.is_mariadb)])


def connect(conf):
    """Return the Database that [database] connection names.

    :raises ConfigurationError: the option is missing or not a URL, its driver is not installed,
        or the database refuses the connection.
    """
    options = conf.database
    if not options.connection:
        raise errors.ConfigurationError(
            '[database] connection is not set. Write the URL of the database there, such as '
            f'{_EXAMPLE}.')
    try:
        return Database(options.connection, max_pool_size=options.max_pool_size,
                        max_overflow=options.max_overflow, max_retries=options.max_retries,
                        retry_interval=options.retry_interval,
                        mysql_sql_mode=options.mysql_sql_mode)
    except sa.exc.NoSuchModuleError as error:
        kind = options.connection.partition(':')[0]
        raise errors.ConfigurationError(
            f'[database] connection: "{kind}" is not a supported kind of database. Write a URL '
            f'such as {_EXAMPLE}.') from error
    except (sa.exc.ArgumentError, ValueError) as error:
        raise errors.ConfigurationError(
            '[database] connection is not the URL of a database. Write one such as '
            f'{_EXAMPLE}.') from error
    except ImportError as error:
        raise errors.ConfigurationError(
            f'[database] connection needs the Python module {error.name}, which is not '
            f'installed. Install it, or write a URL such as {_EXAMPLE}.') from error
    except errors.DatabaseRefuses as error:
        shown = sa.make_url(options.connection).render_as_string(hide_password=True)
        raise errors.ConfigurationError(
            f'[database] connection = {shown} is refused: {reason(error)} Correct its user, '
            'password and database, or create them.') from error
    except errors.DatabaseUnreachable as error:
        raise unusable(error) from error


@contextlib.contextmanager
def refusals():
    """Raise errors of the database as ConfigurationError."""
    try:
        yield
    except errors.DatabaseUnreachable as error:
        raise unusable(error) from error
    except (db_exc.DBError, sa.exc.DBAPIError) as error:
        LOG.debug('The database refused a statement', exc_info=True)
        raise errors.ConfigurationError(
            f'the database refuses a statement: {reason(error)} Give the user of [database] '
            'connection the right to do this.') from error


def unusable(error):
    """Return the ConfigurationError for a DatabaseUnreachable at the start of a program."""
    return errors.ConfigurationError(
        f'[database] connection: {reason(error)} Correct the URL and its password, or start the '
        'database.')


def reason(error):
    """Return the first line of the error of the database or its driver, for operators."""
    text = str(outages.driver_error(error.__cause__ or error))
    return text.strip().splitlines()[0].rstrip('.') + '.'
