# SPDX-License-Identifier: Apache-2.0
"""Watch the clock of the database, and stop events while it is ahead of the other clocks."""
import datetime
import threading

from oslo_log import log

from climate.db import journal
from climate.db import managers
from climate.domain import clock_jumps

LOG = log.getLogger(__name__)


def _machine_time():
    return datetime.datetime.now(datetime.UTC)


class ClockWatch:
    """Compares the clocks for all threads of one manager.

    :param owner: the name of this manager, for notifications.
    :param machine_clock: returns the time of this machine.
    :ivar may_act: True if due events may be carried out, according to the last comparison.
    """

    def __init__(self, core, owner, machine_clock=_machine_time):
        self._core = core
        self._owner = owner
        self._machine_clock = machine_clock
        self._limit = core.conf.manager.clock_jump_seconds
        self._judgement = clock_jumps.Judgement()
        self._confirmations = 0
        self._lock = threading.Lock()
        # No event may be carried out before the first comparison.
        self.may_act = not self._limit

    @property
    def ahead_seconds(self):
        """The seconds by which a doubted clock is ahead, negative if behind; 0 if trusted."""
        return self._judgement.ahead_seconds

    def check(self, now):
        """Compare `now`, which was just read from the database, with the other clocks.

        :returns: `may_act`.
        """
        if self._limit:
            with self._lock:
                self._compare(now)
        return self.may_act

    def _compare(self, now):
        before = self._judgement
        reading = clock_jumps.ClockReading(now, self._machine_clock(), self._core.monotonic())
        after = clock_jumps.judge(before, reading, self._limit, self._is_confirmed(before))
        self.may_act = not after.is_ahead
        if after.doubted is not None and after.doubted is not before.doubted:
            self._doubt(after, now)
        elif after.doubted is None and before.doubted is not None:
            self._believe(before, now)
        self._judgement = after

    def _is_confirmed(self, judgement):
        if judgement.doubted is None:
            return False
        with self._core.database.reader() as connection:
            return managers.last_clock_confirmation(connection) > self._confirmations

    def _doubt(self, judgement, now):
        with self._core.database.reader() as connection:
            self._confirmations = managers.last_clock_confirmation(connection)
        ahead = judgement.ahead_seconds
        LOG.warning('The clock of the database says %s, which is %.0f seconds %s than expected. %s '
                    'Correct the clock, or confirm it: climate-db confirm-clock',
                    now.isoformat(), abs(ahead), 'later' if ahead > 0 else 'earlier',
                    'No lease starts or ends here until it is believed.' if ahead > 0
                    else 'Leases start and end late.')
        self._publish('clock.doubted', judgement, now)

    def _believe(self, judgement, now):
        LOG.info('The clock of the database says %s and is believed again', now.isoformat())
        self._publish('clock.believed', judgement, now)

    def _publish(self, name, judgement, now):
        with self._core.database.writer() as connection:
            journal.publish(connection, now, name, [{
                'manager': self._owner, 'database_time': now.isoformat(),
                'ahead_seconds': round(judgement.ahead_seconds)}])
