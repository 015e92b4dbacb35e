# SPDX-License-Identifier: Apache-2.0
"""What an event does: the cloud side of one lease, all of it repeatable.

No transaction is open while the cloud is called. An action returns an Outcome; writing it down is
the clockwork's part.
"""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import resources
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import substitutes

LOG = log.getLogger(__name__)

DONE = 'done'
BUSY = 'busy'
FAILED = 'failed'
MOOT = 'moot'


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How an action went.

    :ivar result: DONE; BUSY, to be tried again in a moment; FAILED; MOOT, nothing was to be done.
    :ivar reason: in words, for the lease and the log.
    :ivar states: {reservation id: its new state}.
    :ivar bindings: {reservation id: what the cloud made for it}.
    :ivar free: ids of reservations that occupy nothing any more.
    """

    result: str
    reason: str | None = None
    states: dict = dataclasses.field(default_factory=dict)
    bindings: dict = dataclasses.field(default_factory=dict)
    free: frozenset = frozenset()


class LeaseCloud:
    """The cloud as a plugin sees it: as the service, or on behalf of the lease's owner.

    Without a trust, or with a dead one, the service itself acts for the owner.
    """

    def __init__(self, cloud, lease):
        self._cloud = cloud
        self._lease = lease

    def as_service(self):
        return self._cloud.as_service()

    def as_user(self):
        if self._lease.trust_id is None:
            return self._cloud.as_service()
        try:
            return self._cloud.as_user(self._lease.trust_id)
        except errors.TrustDead as error:
            LOG.warning('Lease %s: the service acts for its owner: %s', self._lease.id,
                        error.message)
            return self._cloud.as_service()


class Actions:
    """The actions of all kinds of events."""

    def __init__(self, core):
        self._core = core
        self._substitutes = substitutes.Substitutes(core)
        self._by_kind = {
            agenda.START: self._start, agenda.UPDATE: self._update, agenda.END: self._end,
            agenda.DELETE: self._end, agenda.BEFORE_END: self._before_end,
            agenda.NOTIFY: self._tell, agenda.DROP_TRUST: self._drop_trust,
        }

    def perform(self, lease, event, now):
        """Carry out a claimed event of a lease; returns the Outcome.

        Climate's own errors become Outcomes; any other error is a bug and is raised.
        """
        try:
            return self._by_kind[event.kind](lease, event, now)
        except errors.StillBusy as error:
            return Outcome(BUSY, error.message)
        except errors.ClimateError as error:
            return Outcome(FAILED, error.message)

    def _start(self, lease, event, now):
        if agenda.passed_by(lease, now):
            return Outcome(MOOT, 'Its whole time passed before it could be started.')
        lease = self._occupy(lease, event, now)
        return self._each(lease, lease.reservations, 'start', lifecycle.RESERVATION_ACTIVE,
                          lifecycle.RESERVATION_ERROR)

    def _update(self, lease, event, now):
        lease = self._occupy(lease, event, now)
        # Those in error too: an earlier try of this update failed on them.
        running = [each for each in lease.reservations if each.state in (
            lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)]
        return self._each(lease, running, 'start', lifecycle.RESERVATION_ACTIVE,
                          lifecycle.RESERVATION_ERROR)

    def _end(self, lease, event, now):
        left = [each for each in lease.reservations
                if each.state != lifecycle.RESERVATION_DELETED]
        if _never_touched(lease):
            ids = [each.id for each in left]
            return Outcome(DONE, lease.reason, free=frozenset(ids),
                           states=dict.fromkeys(ids, lifecycle.RESERVATION_DELETED))
        outcome = self._each(lease, left, 'end', lifecycle.RESERVATION_DELETED,
                             lifecycle.RESERVATION_ERROR, held=True)
        ended = [key for key, state in outcome.states.items()
                 if state == lifecycle.RESERVATION_DELETED]
        return dataclasses.replace(outcome, free=frozenset(ended))

    def _before_end(self, lease, event, now):
        if lease.state == lifecycle.PENDING and lease.end > now:
            raise errors.StillBusy(service='Climate', reason='the lease has not started yet.')
        if lease.state != lifecycle.ACTIVE:
            return Outcome(MOOT)
        return self._each(lease, lease.reservations, 'before_end', None, None)

    def _tell(self, lease, event, now):
        return Outcome(DONE)

    def _drop_trust(self, lease, event, now):
        if lease.trust_id is not None:
            self._core.cloud.as_service().keystone.delete_trust(lease.trust_id)
        return Outcome(DONE)

    def _occupy(self, lease, event, now):
        """Hold the resources of all reservations; substitutes where they cannot be had.

        :raises StillBusy: another reservation still holds one, and no other is free.
        """
        for reservation in lease.reservations:
            if reservation.resource_ids:
                # A lease that ends at this moment is giving its resources back just now.
                self._substitutes.ensure(lease, reservation, now, patient=event.waits == 0)
        with self._core.database.reader() as connection:
            return substitutes.reread(connection, lease)

    def _each(self, lease, reservations, method, good, bad, held=False):
        """Call a method of the plugin of each reservation; one failure does not stop the rest."""
        cloud = LeaseCloud(self._core.cloud, lease)
        states, bindings, reasons, busy = {}, {}, [], []
        for reservation in reservations:
            plugin = self._core.registry.plugin(reservation.resource_type)
            had = self._resources(reservation, held)
            try:
                binding = getattr(plugin, method)(cloud, lease, reservation, had)
            except errors.StillBusy as error:
                busy.append(error.message)
                continue
            except errors.ClimateError as error:
                LOG.warning('Lease %s, reservation %s: %s failed: %s', lease.id, reservation.id,
                            method, error.message)
                reasons.append(f'Reservation {reservation.id}: {error.message}')
                states[reservation.id] = bad
                continue
            states[reservation.id] = good
            if method == 'start':
                bindings[reservation.id] = binding
        result = FAILED if reasons else BUSY if busy else DONE
        return Outcome(result, ' '.join(reasons or busy) or None,
                       {key: state for key, state in states.items() if state is not None},
                       bindings)

    def _resources(self, reservation, held):
        """The Resources promised to a reservation; with `held`, those it occupies instead."""
        ids = set(reservation.resource_ids)
        with self._core.database.reader() as connection:
            if held:
                ids = set(resources.held(connection, reservation.id))
            pools = {each.pool for each in resources.with_ids(connection, ids)}
            return [each for pool in sorted(pools)
                    for each in resources.find(connection, pool, ids=ids)]


def _never_touched(lease):
    """True for a lease whose start was never tried, so that the cloud knows nothing of it.

    A start that was claimed may have been cut short by a crash. One that is done all the same,
    and was claimed once, came too late to do anything.
    """
    start = lease.event(agenda.START)
    return (lease.state == lifecycle.PENDING
            and all(each.state == lifecycle.RESERVATION_PENDING for each in lease.reservations)
            and (start is None or start.claim_no == 0 or (
                start.claim_no == 1 and start.status == lifecycle.EVENT_DONE)))
