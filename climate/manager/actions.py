# SPDX-License-Identifier: Apache-2.0
"""What an event does: the cloud side of one lease, all of it repeatable.

No transaction is open while the cloud is called. An action returns an Outcome; writing it down is
the clockwork's part.
"""
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import guard
from climate.db import resources
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import binding
from climate.manager import lease_cloud
from climate.manager import results
from climate.manager import substitutes
from climate.manager.acquire import hunt
from climate.manager.acquire import lending
from climate.manager.acquire import tries
from climate.plugins import base

LOG = log.getLogger(__name__)

# The state of a reservation after a method of its plugin went well, and after it did not.
_STATES_AFTER = {
    'prepare': (None, None), 'before_end': (None, None),
    'start': (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR),
    'end': (lifecycle.RESERVATION_DELETED, lifecycle.RESERVATION_ERROR),
}
# Those that return a binding.
_MAKING = ('prepare', 'start')
_GONE = 'What it leased is not in the cloud any more.'
_NEVER_CAME = 'What it was made for never came.'
_PASSED = 'Its whole time passed before it could be started.'


class Actions:
    """The actions of all kinds of events that do something; notices are told by who claims."""

    def __init__(self, core):
        self._core = core
        self._substitutes = substitutes.Substitutes(core)
        self._binding = binding.Binding(core)
        self._tries = tries.Tries(core)
        self._hunt = hunt.Hunt(core)
        self._lending = lending.Lending(core)
        self._by_kind = {
            agenda.START: self._start, agenda.UPDATE: self._update, agenda.END: self._end,
            agenda.DELETE: self._end, agenda.BEFORE_END: self._before_end,
            agenda.DROP_TRUST: self._drop_trust,
            agenda.PREPARE: self._prepare, agenda.CHECK: self._check,
            agenda.HEAL: self._heal, agenda.ACQUIRE: self._tries.carry_out,
            agenda.GIVE_BACK: self._give_back,
        }

    def perform(self, claim):
        """Carry out the event of a Claim, which was taken just now; returns the Outcome.

        Climate's own errors become Outcomes; any other error is a bug and is raised.

        :raises ClaimLost: the claim ended; nothing more is done.
        """
        claim.hold.check()
        try:
            with guard.before_each_call(claim.hold.check):
                return self._by_kind[claim.event.kind](claim, claim.at)
        except errors.StillBusy as error:
            return results.Outcome(results.BUSY, error.message,
                                   patient=error.kwargs.get('has_own_limit', False))
        except errors.ClimateError as error:
            return results.Outcome(results.FAILED, error.message)

    def _start(self, claim, now):
        if agenda.passed_by(claim.lease, now):
            return results.Outcome(results.MOOT, _PASSED)
        claim, in_vain = self._bound(claim, now)
        claim, found = self._occupy_for_start(claim, now)
        return self._each(claim, now, 'start', claim.lease.open_reservations, in_vain, found)

    def _heal(self, claim, now):
        """Start, after all, a lease whose start was given up."""
        if claim.lease.end <= now:
            return results.Outcome(results.MOOT, claim.lease.reason)
        return self._start(claim, now)

    def _prepare(self, claim, now):
        claim, in_vain = self._bound(claim, now)
        some = [each for each in claim.lease.open_reservations if each.id in in_vain
                or self._plugin(each).prepares(each.request)]
        return self._each(claim, now, 'prepare', some, in_vain)

    def _check(self, claim, now):
        """Look whether what the lease leases is still there."""
        lease = claim.lease
        gone = set()
        for each in lease.open_reservations:
            if each.leased_id is not None:
                gone |= self._plugin(each).gone(self._core.cloud, [each.leased_id])
        return _without(lease, results.Outcome(results.DONE), {
            each.id for each in lease.open_reservations if each.leased_id in gone}, _GONE)

    def _update(self, claim, now):
        claim = self._occupy(claim, now)
        # Those in error too: an earlier try of this update failed on them.
        running = [each for each in claim.lease.reservations if each.state in (
            lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)]
        return self._each(claim, now, 'start', running)

    def _end(self, claim, now):
        lease = claim.lease
        left = lease.open_reservations
        if agenda.never_acquired(lease):
            self._hunt.abandon(lease, now)
        if agenda.never_acquired(lease) or _never_touched(lease):
            ids = [each.id for each in left]
            return results.Outcome(results.DONE, free=frozenset(ids),
                                   states=dict.fromkeys(ids, lifecycle.RESERVATION_DELETED))
        outcome = self._each(claim, now, 'end', left)
        ended = [key for key, state in outcome.states.items()
                 if state == lifecycle.RESERVATION_DELETED]
        return dataclasses.replace(outcome, free=frozenset(ended))

    def _before_end(self, claim, now):
        lease = claim.lease
        if lease.state == lifecycle.PENDING and lease.end > now:
            raise errors.StillBusy(service='Climate', reason='the lease has not started yet.')
        if lease.state != lifecycle.ACTIVE:
            return results.Outcome(results.MOOT)
        return self._each(claim, now, 'before_end', lease.open_reservations)

    def _drop_trust(self, claim, now):
        if claim.lease.trust_id is not None:
            self._core.cloud.as_service().keystone.delete_trust(claim.lease.trust_id)
        return results.Outcome(results.DONE)

    def _give_back(self, claim, now):
        """Give back what the lease has no need of; one part that fails does not stop the other."""
        lease, failed = claim.lease, []
        undo = self._hunt.abandon if agenda.never_acquired(lease) else self._hunt.tidy
        for part in (lambda: undo(lease, now), lambda: self._lending.give_back(lease)):
            try:
                part()
            except errors.ClimateError as error:
                failed.append(error)
        if failed:
            raise failed[0]
        return results.Outcome(results.DONE)

    def _bound(self, claim, now):
        """The claim with the reservations of its lease bound, and ids of those in vain."""
        lease, in_vain = self._binding.ensure(claim.lease, now)
        return dataclasses.replace(claim, lease=lease), in_vain

    def _occupy_for_start(self, claim, now):
        """Hold the resources of all reservations, where they are in order in the cloud.

        :returns: (the claim with the lease as it is then, its promised Resources or None where
            they are others than they were).
        :raises StillBusy: as `_occupy`.
        """
        found = self._promised(claim.lease.reservations)
        occupied = self._occupy(claim, now, self._substitutes.failing(found))
        return occupied, found if occupied is claim else None

    def _occupy(self, claim, now, failing=None):
        """Hold the resources of all reservations; substitutes where they cannot be had.

        :param failing: {resource id: why nothing can be started on it now}.
        :returns: the claim with the lease as it is then.
        :raises StillBusy: another reservation still holds one, and no other is free.
        """
        changed = False
        for reservation in claim.lease.reservations:
            if reservation.resource_ids:
                claim.hold.check()
                # A lease that ends at this moment is giving its resources back just now.
                changed |= self._substitutes.ensure(claim.lease, reservation, now,
                                                    patient=claim.event.waits == 0,
                                                    failing=failing)
        if not changed:
            return claim
        with self._core.database.reader() as connection:
            lease = substitutes.reread(connection, claim.lease)
        return dataclasses.replace(claim, lease=lease)

    def _each(self, claim, now, method, reservations, in_vain=frozenset(), found=None):
        """Call a method of the plugin of each reservation; one failure does not stop the rest.

        :param in_vain: ids of those that waited too long for what they lease; they are over.
        :param found: the Resources that are promised to them, where they were read already.
        """
        lease, event = claim.lease, claim.event
        attempt = base.Attempt(now=now, since=event.begun_at, failures=event.attempts)
        cloud = lease_cloud.LeaseCloud(self._core.cloud, lease, attempt)
        good, bad = _STATES_AFTER[method]
        states, bindings, reasons, busy, gone = {}, {}, [], [], set()
        patient = True
        theirs = self._resources(reservations, method == 'end', found)
        for reservation in reservations:
            if reservation.id in in_vain:
                continue
            claim.hold.check()
            try:
                made = getattr(self._plugin(reservation), method)(
                    cloud, lease, reservation, theirs[reservation.id])
            except errors.StillBusy as error:
                busy.append(error.message)
                patient = patient and error.kwargs.get('has_own_limit', False)
                continue
            except errors.ServerNotFound:
                gone.add(reservation.id)
                continue
            except errors.ClimateError as error:
                LOG.warning('Lease %s, reservation %s: %s failed: %s', lease.id, reservation.id,
                            method, error.message)
                reasons.append(f'Reservation {reservation.id}: {error.message}')
                states[reservation.id] = bad
                continue
            states[reservation.id] = good
            if made is not None and method in _MAKING:
                bindings[reservation.id] = made
        result = results.FAILED if reasons else results.BUSY if busy else results.DONE
        outcome = results.Outcome(
            result, ' '.join(reasons or busy) or None,
            {key: state for key, state in states.items() if state is not None}, bindings,
            patient=patient, in_vain=in_vain)
        outcome = _without(lease, outcome, in_vain, _NEVER_CAME)
        return _without(lease, outcome, gone, _GONE)

    def _plugin(self, reservation):
        return self._core.registry.plugin(reservation.resource_type)

    def _resources(self, reservations, held, found):
        """{reservation id: the Resources promised to it}; with `held`, those it occupies instead.

        :param found: what is promised to them, where it was read already.
        """
        if held:
            with self._core.database.reader() as connection:
                found = resources.held(connection, [each.id for each in reservations])
            return {each.id: [one for one in found if one.held_by == each.id]
                    for each in reservations}
        found = self._promised(reservations) if found is None else found
        return {each.id: [one for one in found if one.id in each.resource_ids]
                for each in reservations}

    def _promised(self, reservations):
        """The Resources that are promised to any of the reservations, whole."""
        ids = {key for each in reservations for key in each.resource_ids}
        with self._core.database.reader() as connection:
            return resources.enrolled(connection, ids)


def _without(lease, outcome, ids, reason):
    """The Outcome where, besides, the reservations `ids` are over before their time."""
    if not ids:
        return outcome
    states = {**outcome.states, **dict.fromkeys(ids, lifecycle.RESERVATION_DELETED)}
    over = all(states.get(each.id) == lifecycle.RESERVATION_DELETED
               for each in lease.open_reservations)
    LOG.info('Lease %s: of its reservations %s are over: %s', lease.id, ', '.join(sorted(ids)),
             reason)
    return dataclasses.replace(
        outcome, states=states, free=outcome.free | frozenset(ids), over=over,
        reason=' '.join(filter(None, (outcome.reason, reason))))


def _never_touched(lease):
    """True for a lease that the cloud knows nothing of.

    A start that is done all the same, and was claimed once, came too late to do anything.
    """
    start = lease.event(agenda.START)
    late = (start is not None and start.claim_no == 1
            and start.status == lifecycle.EVENT_DONE)
    events = tuple(each for each in lease.events if not late or each.kind != agenda.START)
    return (agenda.untouched(dataclasses.replace(lease, events=events))
            and all(each.state == lifecycle.RESERVATION_PENDING
                    for each in lease.open_reservations))
