# SPDX-License-Identifier: Apache-2.0
"""The heartbeat of a manager: its row in the list of managers."""
import datetime
import socket

from climate.db import managers

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

    def begin(self):
        """Note that the manager starts now.

        :raises DatabaseUnreachable: the database does not answer.
        """
        self._since = self._core.clock()

    def beat(self):
        """Report that the manager is alive, and forget those that have been silent for long."""
        now = self._core.clock()
        with self._core.database.writer() as connection:
            managers.forget(connection, now - _FORGET)
            managers.seen(connection, self._owner, socket.gethostname(), self._since, now,
                          self._event_loop.running, self._login.not_ready)

    def end(self):
        """Report that the manager has stopped."""
        with self._core.database.writer() as connection:
            managers.gone(connection, self._owner)
