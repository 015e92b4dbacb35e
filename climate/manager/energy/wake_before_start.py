# SPDX-License-Identifier: Apache-2.0
"""Wake the sleeping resources of a lease before its start: by an event, and at the start itself."""
import datetime

from oslo_log import log

from climate import errors
from climate.db import events
from climate.db import leases
from climate.db import maintenances
from climate.db import power
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.energy import sleep_states

LOG = log.getLogger(__name__)

# Only events that are due within this time are corrected.
_AHEAD = datetime.timedelta(hours=1)
_NOTHING = lease_events.EventChanges()


class WakeBeforeStart:
    """Wakes the resources of leases for their start."""

    def __init__(self, core):
        self._core = core
        self._states = sleep_states.SleepStates(core)

    def wake_ahead(self, resource_ids, now):
        """Order the given resources to wake up if they sleep, except during maintenance."""
        for group in self._states.on_machines_of(self._states.asleep(resource_ids)):
            with self._core.database.reader() as connection:
                maintained = maintenances.under_way(connection, group, now)
            if not maintained:
                self._states.wake_machine(group, now)

    def await_awake(self, resource_ids, now):
        """Wake the resources of a lease that starts, even during their maintenance.

        A lease starts during maintenance only if it could not be moved to other resources. If a
        resource does not wake up in time, it is taken out of use, and the start replaces it.

        :raises StillBusy: a resource is not awake yet.
        """
        asleep = self._states.asleep(resource_ids)
        if not asleep:
            return
        self._states.wake(asleep, now)
        reason = texts.counted(len(asleep), 'of its resources wakes up.',
                               'of its resources wake up.')
        raise errors.StillBusy(service='Climate', has_own_limit=True, reason=reason,
                               owner_reason=reason)

    def align_events(self, ahead, now):
        """Correct the time of the events that wake the resources of the next leases.

        Several managers may call this at the same time. The creation of a lease writes an event,
        but later the estimated duration of the wake-up may change, a resource may fall asleep after
        the event, or a pool may become able to sleep.

        :param ahead: {id of a sleeping resource: how long before a start it has to be woken}.
        """
        if not ahead:
            return
        conf = self._core.conf.energy
        # New events assume that a wake-up takes wake_minutes, so an event may be early by that.
        until = now + max(ahead.values()) + _AHEAD + datetime.timedelta(minutes=conf.wake_minutes)
        due = {}
        with self._core.database.reader() as connection:
            rows = power.future_leases(connection, ahead, now, until)
            first_start = {}
            for resource_id, _, start in rows:
                first_start[resource_id] = min(start, first_start.get(resource_id, start))
            for resource_id, lease_id, start in rows:
                if start == first_start[resource_id]:
                    at = start - ahead[resource_id]
                    due[lease_id] = min(at, due.get(lease_id, (at, start))[0]), start
            events_of = events.of_leases(connection, sorted(due))
        for lease_id, (at, start) in due.items():
            wake_event = next((event for event in events_of.get(lease_id, ())
                               if event.kind == event_kinds.WAKE), None)
            if lease_events.woken(wake_event, at) != _NOTHING:
                with cores.isolated('Lease %s: its wake-up', lease_id):
                    self._write_event(lease_id, at, start, now)

    @cores.again_after_a_race
    def _write_event(self, lease_id, at, start, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            changes = lease_events.woken(lease.event(event_kinds.WAKE), at)
            if lease.state != lifecycle.PENDING or lease.start != start or changes == _NOTHING:
                return
            events.change(connection, lease_id, changes, now)
        LOG.info('Lease %s: its resources are woken at %s', lease_id, at.isoformat())
        self._core.notify()
