# SPDX-License-Identifier: Apache-2.0
"""Each lease to come that has sleeping resources gets an event that wakes them early enough."""
import datetime

from oslo_log import log

from climate.db import events
from climate.db import leases
from climate.db import power
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.manager import core as cores

LOG = log.getLogger(__name__)

# An event is set right when it is so near, or nearer.
_AHEAD = datetime.timedelta(hours=1)


class Wakes:
    """Sets the moments of the events that wake resources by what is learnt of the resources."""

    def __init__(self, core):
        self._core = core

    def align(self, ahead, now):
        """Let the events of the next leases on sleeping resources happen at the right moment.

        Any number of managers may do it at once, and at any time. A lease has such an event since
        it was made; but a resource may be slower or faster than was thought then, may have fallen
        asleep since the event, or could not sleep when the lease was made.

        :param ahead: {id of a sleeping resource: how long before a start it has to be woken}.
        """
        if not ahead:
            return
        conf = self._core.conf.energy
        # An event may be too early by the time that was assumed when the lease was made.
        until = now + max(ahead.values()) + _AHEAD + datetime.timedelta(minutes=conf.wake_minutes)
        wanted = {}
        with self._core.database.reader() as connection:
            found = power.leases_to_come(connection, ahead, now, until)
            first = {}
            for resource_id, _, start in found:
                first[resource_id] = min(start, first.get(resource_id, start))
            for resource_id, lease_id, start in found:
                if start == first[resource_id]:
                    at = start - ahead[resource_id]
                    wanted[lease_id] = min(at, wanted.get(lease_id, (at, start))[0]), start
            theirs = events.of_leases(connection, sorted(wanted))
        for lease_id, (at, start) in wanted.items():
            known = next((each for each in theirs.get(lease_id, ())
                          if each.kind == event_kinds.WAKE), None)
            if lease_events.woken(known, at) != _NOTHING:
                with cores.isolated('Lease %s: its wake-up', lease_id):
                    self._write(lease_id, at, start, now)

    @cores.again_after_a_race
    def _write(self, lease_id, at, start, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            changes = lease_events.woken(lease.event(event_kinds.WAKE), at)
            if lease.state != lifecycle.PENDING or lease.start != start or changes == _NOTHING:
                return
            events.change(connection, lease_id, changes, now)
        LOG.info('Lease %s: its resources are woken at %s', lease_id, at.isoformat())
        self._core.notify()


_NOTHING = lease_events.EventChanges()
