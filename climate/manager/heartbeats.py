# SPDX-License-Identifier: Apache-2.0
"""The heartbeats of managers: their rows in the database show which managers are alive."""
import datetime
import socket

from climate.db import managers
from climate.db import migrate
from climate.domain import heartbeat

_FORGET = datetime.timedelta(hours=1)


class Heartbeat:
    """The heartbeat of one manager.

    :param owner: the name of the manager.
    """

    def __init__(self, core, owner, event_loop, login):
        self._core = core
        self._owner = owner
        self._event_loop = event_loop
        self._login = login
        self._since = None
        self._tables_revision = migrate.expanded()

    def begin(self):
        """Note the time of the manager's start.

        :raises DatabaseUnreachable: the database does not answer.
        """
        self._since = self._core.clock()

    def beat(self):
        """Report that the manager is alive; delete the rows of managers silent for an hour."""
        now = self._core.clock()
        with self._core.database.writer() as connection:
            managers.forget(connection, now - _FORGET)
            managers.seen(connection, self._owner, socket.gethostname(), self._since, now,
                          self._event_loop.running, self._login.not_ready, self._tables_revision)

    def end(self):
        """Report that the manager has stopped."""
        with self._core.database.writer() as connection:
            managers.gone(connection, self._owner)


def services(core):
    """Return the Services, ordered by id, without managers that were stopped cleanly."""
    now = core.clock()
    with core.database.reader() as connection:
        stored = managers.every(connection)
    return heartbeat.with_liveness(stored, now, core.conf.manager.claim_seconds)
