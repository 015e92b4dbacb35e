# SPDX-License-Identifier: Apache-2.0
"""Wake-ups between processes that share a PostgreSQL, by LISTEN and NOTIFY.

NOTIFY is not sent in the transactions that write rows, because PostgreSQL commits transactions with
NOTIFY one after the other. A thread sends it afterwards, at most 20 times a second.
"""
import contextlib
import logging
import secrets
import select
import threading

from oslo_db import exception
from oslo_log import log
import sqlalchemy as sa

from climate.db import wakeups

LOG = log.getLogger(__name__)

_NAME = 'climate_wakeups'
_SEND = sa.select(sa.func.pg_notify(sa.bindparam('name'), sa.bindparam('text')))
_SHORTEST_PAUSE_SECONDS = 0.05
# The longest wait for a wake-up before the listener checks whether the process stops.
_CHECK_SECONDS = 1
# The pause before the listener connects again.
_RETRY_SECONDS = 5


class Channel:
    """Sends the wake-ups of this process to others, and wakes its threads for theirs.

    :param engine: the engine of readers, whose connections begin no transaction.
    :param waiting: the Wakeups of this process.
    """

    def __init__(self, engine, waiting):
        self._engine = engine
        self._wakeups = waiting
        self._own = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._unsent = set()
        self._has_unsent = threading.Event()
        self._closed = threading.Event()
        self._sender = None

    def send(self, topics):
        """Wake the other processes for these topics soon, in a thread."""
        if not topics:
            return
        with self._lock:
            self._unsent |= topics
            if self._sender is None:
                # Most processes never send, so the first wake-up starts the thread.
                self._sender = threading.Thread(target=self._send_all, name='send wake-ups',
                                                daemon=True)
                self._sender.start()
        self._has_unsent.set()

    def close(self):
        """End the threads of this channel."""
        self._closed.set()
        self._has_unsent.set()

    def listen(self):
        """Wake threads of this process for the wake-ups of others, until the channel is closed."""
        while not self._closed.is_set():
            # While the database does not answer, the threads poll.
            with self._logged('received'):
                pooled = self._engine.raw_connection()
                # The pool has no further use of a connection that listens.
                connection = pooled.driver_connection
                pooled.detach()
                with contextlib.closing(connection):
                    self._receive(connection)
            self._closed.wait(_RETRY_SECONDS)

    def _send_all(self):
        while True:
            self._has_unsent.wait()
            self._has_unsent.clear()
            if self._closed.is_set():
                return
            with self._lock:
                topics, self._unsent = self._unsent, set()
            with self._logged('sent'), self._engine.connect() as connection:
                connection.execute(_SEND, {
                    'name': _NAME, 'text': ' '.join([self._own, *sorted(topics)])})
            self._closed.wait(_SHORTEST_PAUSE_SECONDS)

    def _receive(self, connection):
        with connection.cursor() as cursor:
            cursor.execute(f'LISTEN {_NAME}')
        # Rows may have been written while nobody listened.
        self._wakeups.wake()
        while not self._closed.is_set():
            if not select.select([connection], [], [], _CHECK_SECONDS)[0]:
                continue
            connection.poll()
            topics = set()
            while connection.notifies:
                sender, *names = connection.notifies.pop(0).payload.split()
                topics |= set(names).intersection(wakeups.TOPICS) if sender != self._own else set()
            self._wakeups.wake(topics)

    @contextlib.contextmanager
    def _logged(self, action):
        try:
            yield
        except (sa.exc.SQLAlchemyError, exception.DBError, self._engine.dialect.dbapi.Error,
                OSError, ValueError) as error:
            # A closed connection has no number, which is a ValueError.
            LOG.log(logging.DEBUG if self._closed.is_set() else logging.INFO,
                    'Wake-ups of other processes are not %s now; threads poll instead: %s',
                    action, str(error).strip().partition('\n')[0])
