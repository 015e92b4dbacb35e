# SPDX-License-Identifier: Apache-2.0
"""The actions of events: what each kind of event does in the cloud for one lease. Repeatable.

No transaction is open while the cloud is called. An action returns an Outcome; the event loop
writes it to the database.
"""
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import lease_cloud
from climate.manager import request_secrets
from climate.manager import results
from climate.manager.acquisition import tries
from climate.manager.booking import allocated
from climate.manager.booking import shortfalls
from climate.manager.booking import substitutes
from climate.manager.clearing import lending
from climate.manager.clearing import reconcile
from climate.manager.energy import wake_before_start
from climate.manager.events import announcements
from climate.manager.events import refused_resources
from climate.manager.events import retries
from climate.manager.events import turns
from climate.manager.idle import reclaim
from climate.manager.leases import early
from climate.manager.leases import targets
from climate.manager.leases import trusts
from climate.manager.pools import flags
from climate.manager.pools import refresh
from climate.plugins import base

LOG = log.getLogger(__name__)

# The state of a reservation after a method of its plugin succeeded, and after it failed.
_STATES_AFTER = {
    'prepare': (None, None), 'stage': (None, None), 'before_end': (None, None),
    'secure': (None, lifecycle.RESERVATION_ERROR),
    'start': (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR),
    'end': (lifecycle.RESERVATION_DELETED, lifecycle.RESERVATION_ERROR),
}
# How often a method is called in one action while it has something new to announce.
_ANNOUNCE_TRIES = 4
# The methods that return a binding.
_MAKING = ('prepare', 'stage', 'start')
# The methods that get all resources that the reservation still occupies.
_ENDING = ('secure', 'end')
_GONE = texts.same('Its target is not in the cloud any more.')
_NEVER_CAME = texts.same('Its target never came.')
_PASSED = texts.same('It could not be started before its end.')
_NOT_STARTED = texts.same('It could not be started for too long, and what it held was given back.')
_UNCHANGED = texts.same('It could not be changed before its end.')


class Actions:
    """The actions by kind of event. Notices have none: the claim itself finishes them."""

    def __init__(self, core):
        self._core = core
        self._substitutes = substitutes.Substitutes(core)
        self._allocated = allocated.Allocated(core)
        self._wakes = wake_before_start.WakeBeforeStart(core)
        self._starts = refused_resources.Starts(core)
        self._shortfalls = shortfalls.Shortfalls(core)
        self._targets = targets.Targets(core)
        self._refresher = refresh.Refresher(core, None)
        self._tries = tries.Tries(core)
        self._clearing = reconcile.Reconciler(core)
        self._retries = retries.Retries(core.conf.manager)
        self._lending = lending.Lending(core)
        self._reclaim = reclaim.Reclaim(core)
        self._by_kind = {
            event_kinds.DELETE: self._end, event_kinds.END: self._end,
            event_kinds.CHECK: self._check, event_kinds.UPDATE: self._update,
            event_kinds.PREPARE: self._prepare, event_kinds.STAGE: self._stage,
            event_kinds.START: self._start,
            event_kinds.HEAL: self._heal, event_kinds.ACQUIRE: self._tries.carry_out,
            event_kinds.BEFORE_END: self._before_end, event_kinds.DROP_TRUST: self._drop_trust,
            event_kinds.GIVE_BACK: self._return_hosts, event_kinds.RECLAIM: self._reclaim_idle,
            event_kinds.WAKE: self._wake,
        }

    @property
    def kinds(self):
        """The names of the kinds of events that have an action."""
        return frozenset(self._by_kind)

    def perform(self, claim):
        """Carry out the event of a Claim that was taken just now; return the Outcome.

        Climate's own errors become Outcomes. Any other error is a bug and is raised.

        :raises ClaimLost: the claim was lost; nothing more is done.
        :raises DatabaseUnreachable: the event is carried out again, since no Outcome can be stored.
        """
        claim.ownership.check()
        with call_guard.before_each_call(claim.ownership.check, _rank(claim.kind)):
            return _outcome(self._by_kind[claim.event.kind], claim, claim.at)

    def _start(self, claim, now):
        if due_events.passed_by(claim.lease, now):
            return results.Outcome(results.MOOT, _PASSED)
        claim, in_vain = self._bound(claim, now)
        claim, found = self._occupy_for_start(claim, now)
        claim, found, missing = self._improve(claim, now, found)
        # They are held by now, so that none can fall asleep after this.
        self._await_awake(claim.lease, now)
        outcome = self._each(claim, now, 'start', claim.lease.open_reservations, in_vain, found)
        return dataclasses.replace(outcome, missing_resources=missing)

    def _heal(self, claim, now):
        """Try the start or the change of a lease again after it was given up."""
        if claim.lease.end <= now:
            return results.Outcome(results.MOOT, claim.lease.reason_text)
        if due_events.change_given_up(claim.lease):
            return self._update(claim, now)
        outcome = _outcome(self._start, claim, now)
        if outcome.unreachable or outcome.result in (results.DONE, results.MOOT) or (
                not self._retries.is_healed_too_long(claim.lease, now)):
            return outcome
        return self._give_back(claim, now, outcome)

    def _give_back(self, claim, now, failed):
        """End those reservations of a lease that could not be started for too long.

        :param failed: the Outcome of the last try.
        """
        with self._core.database.reader() as connection:
            lease = substitutes.reread(connection, claim.lease)
        claim = dataclasses.replace(claim, lease=lease)
        left = [each for each in lease.open_reservations if lifecycle.RESERVATION_ACTIVE not in (
            each.state, failed.states.get(each.id))]
        ended = self._each(claim, now, 'end', left)
        over = {key for key, state in ended.states.items()
                if state == lifecycle.RESERVATION_DELETED}
        states = {**failed.states, **ended.states}
        if ended.result != results.DONE:
            return dataclasses.replace(ended, states=states, bindings=failed.bindings,
                                       free=frozenset(over))
        return _without(lease, dataclasses.replace(
            failed, result=results.DONE, states=states, given_back=True), over, _NOT_STARTED)

    def _prepare(self, claim, now):
        claim, in_vain = self._bound(claim, now)
        some = [each for each in claim.lease.open_reservations if each.id in in_vain
                or self._plugin(each).prepares(each.request)]
        return self._each(claim, now, 'prepare', some, in_vain)

    def _stage(self, claim, now):
        def check():
            claim.ownership.check()
            if self._core.clock() >= claim.lease.start:
                # The start waits for the end of this event, and makes what is missing.
                raise errors.StillBusy.plain('Climate', 'the lease starts now.')
        with call_guard.before_each_call(check):
            return self._each(claim, now, 'stage', [
                each for each in claim.lease.open_reservations
                if self._plugin(each).stages(each.request)])

    def _check(self, claim, now):
        """Check whether the targets of the lease still exist."""
        lease = claim.lease
        gone = set()
        for each in lease.open_reservations:
            if each.leased_id is not None:
                gone |= self._plugin(each).gone(self._core.cloud, [each.leased_id])
        return _without(lease, results.Outcome(results.DONE), {
            each.id for each in lease.open_reservations if each.leased_id in gone}, _GONE)

    def _update(self, claim, now):
        if claim.lease.end <= now:
            # The event of the end comes next, and takes all hosts back.
            return results.Outcome(
                results.MOOT, texts.joined(claim.lease.reason_text, _UNCHANGED))
        claim = self._occupy(claim, now)
        self._await_awake(claim.lease, now)
        # Reservations in error count too: an earlier try of this update failed on them.
        running = [each for each in claim.lease.reservations if each.state in (
            lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)]
        outcome = self._each(claim, now, 'start', running)
        if claim.lease.degraded and outcome.result == results.DONE:
            # A swap may have given it again all that it asked for.
            return dataclasses.replace(
                outcome, missing_resources=flags.Flags(self._core).short(claim.lease, now))
        return outcome

    def _end(self, claim, now):
        lease = claim.lease
        left = lease.open_reservations
        if due_events.never_acquired(lease):
            self._clearing.abandon(lease, now)
        if due_events.never_acquired(lease) or _never_touched(lease):
            ids = [each.id for each in left]
            return results.Outcome(results.DONE, free=frozenset(ids),
                                   states=dict.fromkeys(ids, lifecycle.RESERVATION_DELETED))
        outcome = self._secured(claim, now)
        if outcome.result != results.DONE:
            # A server that stays without its image keeps its network and its volumes, too.
            return outcome
        outcome = self._each(claim, now, 'end', left)
        ended = [key for key, state in outcome.states.items()
                 if state == lifecycle.RESERVATION_DELETED]
        return dataclasses.replace(outcome, free=frozenset(ended))

    def _secured(self, claim, now):
        """Let servers get their images before the end of another reservation deletes them."""
        plugins = self._core.registry.plugins
        left = [each for each in claim.lease.open_reservations if each.resource_type in plugins]
        if not any(self._plugin(each).ends_servers for each in left):
            # Reservations of hosts make the images of their servers when they end.
            return results.Outcome(results.DONE)
        return self._each(claim, now, 'secure', [
            each for each in left if self._plugin(each).secures(each)])

    def _before_end(self, claim, now):
        lease = claim.lease
        if lease.state == lifecycle.PENDING and lease.end > now:
            raise errors.StillBusy.plain('Climate', 'the lease has not started yet.')
        if lease.state not in (lifecycle.ACTIVE, lifecycle.ERROR):
            return results.Outcome(results.MOOT)
        running = [each for each in lease.open_reservations
                   if each.state == lifecycle.RESERVATION_ACTIVE]
        if not running:
            return results.Outcome(results.MOOT)
        return self._each(claim, now, 'before_end', running)

    def _drop_trust(self, claim, now):
        early.delete(self._core, claim.lease)
        trusts.drop_of(self._core, claim.lease)
        return results.Outcome(results.DONE)

    def _return_hosts(self, claim, now):
        """Return hosts that the lease does not need; if one part fails, the other is still done."""
        lease, failed = claim.lease, []
        undo = self._clearing.abandon if due_events.never_acquired(lease) else self._clearing.tidy
        for part in (lambda: undo(lease, now), lambda: self._lending.return_unneeded(lease)):
            try:
                part()
            except errors.ClimateError as error:
                failed.append(error)
        if failed:
            raise failed[0]
        return results.Outcome(results.DONE)

    def _reclaim_idle(self, claim, now):
        cloud = lease_cloud.ActionCloud(self._core.cloud, claim.lease)
        return self._reclaim.carry_out(claim, cloud, now)

    def _bound(self, claim, now):
        """Return (the claim with bound reservations, the ids of those whose target never came)."""
        lease, in_vain = self._targets.ensure(claim.lease, now)
        return dataclasses.replace(claim, lease=lease), in_vain

    def _occupy_for_start(self, claim, now):
        """Hold the resources of all reservations that can be used in the cloud.

        :returns: (the claim with the lease as it is then, its allocated Resources; None instead of
            them if some were substituted).
        :raises StillBusy: as `_occupy`.
        """
        found = self._allocated.all_of(claim.lease.reservations)
        failing = self._substitutes.failing(found)
        # A service may have got another name just now.
        if failing and self._refresher.reread(
                [each for each in found if each.id in failing], now):
            found = self._allocated.all_of(claim.lease.reservations)
            failing = self._substitutes.failing(found)
        occupied = self._occupy(claim, now, failing)
        return occupied, found if occupied is claim else None

    def _wake(self, claim, now):
        """Let the resources of the lease wake up; the start waits until they have."""
        self._wakes.wake_ahead(_resource_ids(claim.lease), now)
        return results.Outcome(results.DONE)

    def _await_awake(self, lease, now):
        """Wake the sleeping resources of a lease.

        :raises StillBusy: one sleeps still.
        """
        self._wakes.await_awake(_resource_ids(lease), now)

    def _improve(self, claim, now, found):
        """Substitute occupied resources that do not give what was promised, if others do.

        :param found: the allocated Resources; None: they are read.
        :returns: (the claim with the lease as it is then, its allocated Resources or None, the ids
            of the reservations that keep such resources, because there are no better ones).
        """
        found = self._allocated.all_of(claim.lease.reservations) if found is None else found
        missing = set()
        for reservation in claim.lease.open_reservations:
            short = self._shortfalls.of(claim.lease, reservation, found, now)
            if not short:
                continue
            claim.ownership.check()
            try:
                self._substitutes.ensure(claim.lease, reservation, now, failing=short,
                                         all_of_them=True)
            except errors.NotEnough as error:
                LOG.warning('Lease %s, reservation %s: it starts with less than it was promised: '
                            '%s', claim.lease.id, reservation.id, error.message)
                missing.add(reservation.id)
            else:
                found = None
        if found is None:
            with self._core.database.reader() as connection:
                claim = dataclasses.replace(
                    claim, lease=substitutes.reread(connection, claim.lease))
        return claim, found, frozenset(missing)

    def _occupy(self, claim, now, failing=None):
        """Hold the resources of all reservations; substitute those that cannot be had.

        :param failing: {resource id: why nothing can be started on it now}.
        :returns: the claim with the lease as it is then.
        :raises StillBusy: another reservation still holds a resource, and no other is free.
        """
        changed = False
        for reservation in claim.lease.reservations:
            if reservation.resource_ids:
                claim.ownership.check()
                # A lease that ends at this moment is still releasing its resources.
                changed |= self._substitutes.ensure(claim.lease, reservation, now,
                                                    patient=claim.event.waits == 0,
                                                    failing=failing)
        if not changed:
            return claim
        with self._core.database.reader() as connection:
            lease = substitutes.reread(connection, claim.lease)
        return dataclasses.replace(claim, lease=lease)

    def _each(self, claim, now, method, reservations, in_vain=frozenset(), found=None):
        """Call a method of the plugin of each reservation; return the Outcome of all.

        What the plugins announce is written before they do it. The parameters are those of
        `_called`.
        """
        announced = announcements.Announcements(self._core, claim)
        outcome = None
        for _ in range(_ANNOUNCE_TRIES):
            outcome = self._called(claim, now, method, reservations, announced, in_vain, found)
            # A start may have substituted resources, which only the next try reads.
            if not announced.write() or method == 'start':
                break
        return outcome

    def _called(self, claim, now, method, reservations, announced, in_vain, found):
        """Call a method of the plugin of each reservation once; return the Outcome of all.

        A failure stops only the reservations that depend on the failed one.

        :param announced: the Announcements of this action.
        :param in_vain: ids of reservations that waited too long for their target; they are over.
        :param found: the Resources allocated to them, if they were read already.
        """
        lease, event = claim.lease, claim.event
        is_first = event.kind == event_kinds.START and event.claim_no == 1
        attempt = base.Attempt(
            now=now, since=event.begun_at, failures=event.attempts, is_first=is_first,
            former=self._allocated.former(reservations)
            if method == 'start' and not is_first else {})
        secrets = request_secrets.read(
            self._core, reservations if method in _MAKING else ())
        cloud = lease_cloud.ActionCloud(self._core.cloud, lease, attempt, announced,
                                       self._core.registry, secrets)
        good, bad = _STATES_AFTER[method]
        states, bindings, reasons, busy, gone = {}, {}, [], [], set()
        patient = slow = unreachable = True
        calls = turns.Turns(lease, method, reservations, in_vain)
        theirs = (self._allocated.left_to(lease, reservations) if method in _ENDING
                  else self._allocated.of(reservations, found))
        for reservation in calls:
            if reservation.id in in_vain or calls.must_wait(reservation):
                continue
            claim.ownership.check()
            try:
                calls.refuse_alone(reservation)
                if method == 'start':
                    reservation, made = self._starts.start(claim, cloud, calls, reservation,
                                                           theirs[reservation.id])
                else:
                    made = getattr(self._plugin(reservation), method)(
                        cloud, calls.lease, reservation, theirs[reservation.id])
            except errors.StillBusy as error:
                busy.append(self._masked(reservation, secrets, error))
                patient = patient and error.kwargs.get('has_own_limit', False)
                slow = slow and error.kwargs.get('takes_minutes', False)
                continue
            except errors.TargetGone:
                gone.add(reservation.id)
                calls.is_gone(reservation)
                continue
            except errors.DatabaseUnreachable:
                raise
            except errors.ClimateError as error:
                reason = self._masked(
                    reservation, secrets or request_secrets.read(self._core, [reservation]), error)
                LOG.warning('Lease %s, reservation %s: %s failed: %s', lease.id, reservation.id,
                            method, reason.operator)
                reasons.append(reason.within(f'Reservation {reservation.id}: '))
                unreachable = unreachable and isinstance(error, errors.CloudUnreachable)
                # What runs goes on while its change fails.
                runs = (method == 'start'
                        and reservation.state == lifecycle.RESERVATION_ACTIVE)
                states[reservation.id] = None if runs else bad
                continue
            states[reservation.id] = good
            if made is not None and method in _MAKING:
                bindings[reservation.id] = made
            calls.went_well(reservation, good, bindings.get(reservation.id))
        result = results.FAILED if reasons else results.BUSY if busy else results.DONE
        outcome = results.Outcome(
            result, texts.joined(*(reasons or busy), *map(texts.same, calls.told)),
            {key: state for key, state in states.items() if state is not None}, bindings,
            patient=patient, slow=bool(busy) and slow, unreachable=bool(reasons) and unreachable,
            in_vain=in_vain, warnings=cloud.warnings, released=cloud.released)
        outcome = _without(lease, outcome, in_vain, _NEVER_CAME)
        return _without(lease, outcome, gone, _GONE)

    def _masked(self, reservation, secrets, error):
        return request_secrets.masked(
            self._plugin(reservation), secrets.get(reservation.id, {}), error)

    def _plugin(self, reservation):
        return self._core.registry.plugin(reservation.resource_type)


def _outcome(action, claim, now):
    """Carry out an action; return its Outcome, also if it raises an error of Climate's own.

    :raises ClaimLost: the claim was lost.
    :raises DatabaseUnreachable: the event is carried out again, since no Outcome can be stored.
    """
    try:
        return action(claim, now)
    except errors.DatabaseUnreachable:
        raise
    except errors.StillBusy as error:
        return results.Outcome(results.BUSY, texts.of_error(error),
                               patient=error.kwargs.get('has_own_limit', False),
                               slow=error.kwargs.get('takes_minutes', False))
    except errors.ClimateError as error:
        return results.Outcome(results.FAILED, texts.of_error(error),
                               unreachable=isinstance(error, errors.CloudUnreachable))


def _rank(kind):
    """Return the Rank of the calls for an event: ends go first, what is only tried last."""
    if kind.releases_all:
        return call_guard.Rank.FIRST
    return call_guard.Rank.NORMAL if kind.lane is event_kinds.Lane.PROMPT else call_guard.Rank.LAST


def _without(lease, outcome, ids, reason):
    """Return the Outcome with the reservations `ids` over before their end, for `reason`."""
    if not ids:
        return outcome
    states = {**outcome.states, **dict.fromkeys(ids, lifecycle.RESERVATION_DELETED)}
    over = all(states.get(each.id) == lifecycle.RESERVATION_DELETED
               for each in lease.open_reservations)
    LOG.info('Lease %s: its reservations %s are over: %s', lease.id, ', '.join(sorted(ids)),
             reason.operator)
    return dataclasses.replace(
        outcome, states=states, free=outcome.free | frozenset(ids), over=over,
        reason=texts.joined(outcome.reason, reason))


def _resource_ids(lease):
    return {key for each in lease.reservations for key in each.resource_ids}


def _never_touched(lease):
    """Return whether the cloud has nothing of a lease.

    A start that is done, and was first tried when the lease was over already, did nothing.
    """
    start = lease.event(event_kinds.START)
    late = (start is not None and start.status == lifecycle.EVENT_DONE
            and start.begun_at is not None and start.begun_at >= lease.end)
    events = tuple(each for each in lease.events if not late or each.kind != event_kinds.START)
    return (due_events.untouched(dataclasses.replace(lease, events=events))
            and all(each.state == lifecycle.RESERVATION_PENDING
                    for each in lease.open_reservations))
