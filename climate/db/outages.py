# SPDX-License-Identifier: Apache-2.0
"""Outages of a database: their reasons, and a log with one line for each outage."""
import re
import threading
import time

from oslo_log import log

LOG = log.getLogger(__name__)

_LOGIN = 'it refuses the login of Climate.'
_FULL = 'it has no space left.'
_READ_ONLY = 'it is read-only.'
# The keys are error numbers of MySQL and MariaDB, SQLSTATEs of PostgreSQL and names of SQLite.
_REASONS = {
    **dict.fromkeys((1044, 1045, 1049, 1698, '28000', '28P01', '3D000'), _LOGIN),
    **dict.fromkeys((1021, 1114, '53100', 'SQLITE_FULL'), _FULL),
    **dict.fromkeys((1290, 1792, 1836, '25006'), _READ_ONLY)}
# The keys are beginnings of error names of SQLite. A full disk can also cause SQLITE_IOERR.
_REASONS_OF_SQLITE = {'SQLITE_READONLY': _READ_ONLY, 'SQLITE_IOERR': 'its disk fails, or is full.'}
# psycopg2 has no SQLSTATE for a connection that failed.
_LOGIN_OF_POSTGRESQL = re.compile(
    r'FATAL: .*(authentication failed|role .* does not exist|database .* does not exist|'
    'no pg_hba.conf entry|not permitted to log in|permission denied for database)')
# An outage is over if no failure occurred for this time.
_OVER_SECONDS = 30


def driver_error(error):
    """Return the error of the driver inside an error of SQLAlchemy or oslo.db."""
    inner = getattr(error, 'inner_exception', None) or error
    return getattr(inner, 'orig', None) or inner


def refusal(error):
    """Return why a database that answers refuses to work; None: `error` has another cause."""
    cause = driver_error(error)
    number = cause.args[0] if cause.args else None
    for code in (getattr(cause, 'pgcode', None), getattr(cause, 'sqlite_errorname', None), number):
        if isinstance(code, (int, str)) and code in _REASONS:
            return _REASONS[code]
    name = getattr(cause, 'sqlite_errorname', '')
    for beginning, reason in _REASONS_OF_SQLITE.items():
        if name.startswith(beginning):
            return reason
    if isinstance(number, str) and _LOGIN_OF_POSTGRESQL.search(number):
        return _LOGIN
    return None


class Log:
    """The log of the outages of one database: a line when one begins, and a line when it is over.

    :param monotonic: a function that returns the seconds of a monotonic clock.
    """

    def __init__(self, monotonic=time.monotonic):
        self._monotonic = monotonic
        self._lock = threading.Lock()
        # The problem of the present outage; None: the database works.
        self._problem = None
        self._failed_at = None

    def failed(self, level, problem, detail):
        """Record a failure; log it unless it belongs to the present outage."""
        with self._lock:
            is_logged = self._problem == problem and not self._is_over()
            self._problem, self._failed_at = problem, self._monotonic()
        if not is_logged:
            LOG.log(level, '%s This is logged once for each outage. Failed work is tried again. '
                           'Cause: %s', problem, detail)

    def succeeded(self):
        """Record a success. It ends the outage if no failure occurred for some time."""
        # Read without the lock, because each transaction calls this.
        if self._problem is None:
            return
        with self._lock:
            if self._problem is None or not self._is_over():
                return
            self._problem = None
        LOG.info('The database works again')

    def _is_over(self):
        return self._monotonic() - self._failed_at >= _OVER_SECONDS
