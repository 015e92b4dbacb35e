# SPDX-License-Identifier: Apache-2.0
"""The actions of events: the work of each kind of event in the cloud for one lease.

An action can be repeated. It calls the cloud without an open transaction and returns an Outcome,
which the event loop writes to the database.
"""
import dataclasses

from climate import errors
from climate.cloud import call_guard
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import lease_cloud
from climate.manager import results
from climate.manager.acquisition import attempts
from climate.manager.clearing import lent_hosts
from climate.manager.clearing import reconcile
from climate.manager.events import announcements
from climate.manager.events import occupation
from climate.manager.events import plugin_calls
from climate.manager.events import retries
from climate.manager.idle import reclaim
from climate.manager.leases import early_creations
from climate.manager.leases import steps
from climate.manager.leases import sub_lease_end
from climate.manager.leases import targets
from climate.manager.leases import trusts
from climate.manager.pools import flags
from climate.manager.shares import guest_access

_PASSED = texts.same('It could not be started before its end.')
_NOT_STARTED = texts.same('It could not be started for too long, so its resources were released.')
_UNCHANGED = texts.same('It could not be changed before its end.')


class Actions:
    """The actions by kind of event. Notices have no action, because the claim finishes them."""

    def __init__(self, core):
        self._core = core
        self._calls = plugin_calls.PluginCalls(core)
        self._occupation = occupation.Occupation(core)
        self._targets = targets.Targets(core)
        self._attempts = attempts.Attempts(core)
        self._clearing = reconcile.Reconciler(core)
        self._retries = retries.Retries(core.conf.manager)
        self._lent_hosts = lent_hosts.LentHosts(core)
        self._reclaim = reclaim.Reclaim(core)
        self._steps = steps.LeaseSteps(core)
        self._guests = guest_access.GuestAccess(core)
        self._by_kind = {
            event_kinds.DELETE: self._end, event_kinds.END: self._end,
            event_kinds.CHECK: self._check, event_kinds.UPDATE: self._update,
            event_kinds.PREPARE: self._prepare, event_kinds.STAGE: self._stage,
            event_kinds.START: self._start, event_kinds.HEAL: self._start_or_update_again,
            event_kinds.ACQUIRE: self._attempts.carry_out,
            event_kinds.BEFORE_END: self._before_end, event_kinds.DROP_TRUST: self._drop_trust,
            event_kinds.GIVE_BACK: self._return_hosts, event_kinds.RECLAIM: self._reclaim_idle,
            event_kinds.WAKE: self._wake, event_kinds.EXTEND: self._steps.carry_out,
            event_kinds.SHARE: self._share,
        }

    @property
    def kinds(self):
        """The names of the kinds of events that have an action."""
        return frozenset(self._by_kind)

    def perform(self, claim):
        """Carry out the event of a new Claim; return the Outcome.

        ClimateErrors become Outcomes. Any other error is a bug and is raised.

        :raises ClaimLost: the claim was lost; nothing more is done.
        :raises DatabaseUnreachable: no Outcome can be stored, so the event is carried out again.
        """
        claim.ownership.check()
        with call_guard.before_each_call(claim.ownership.check, _rank(claim.kind)):
            return _outcome(self._by_kind[claim.event.kind], claim)

    def _start(self, claim):
        if due_events.ended_before_start(claim.lease, claim.at):
            return results.Outcome(results.MOOT, _PASSED)
        claim, targetless = self._with_targets(claim)
        claim, resources = self._occupation.for_start(claim)
        # An occupied resource does not fall asleep any more. The start is tried each second until
        # all resources are awake, so search better ones only after that.
        self._occupation.await_awake(claim)
        claim, resources, missing = self._occupation.improve(claim, resources)
        if resources is None:
            # The start got substitutes, which may sleep.
            self._occupation.await_awake(claim)
        outcome = self._calls.call(claim, 'start', claim.lease.open_reservations, targetless,
                                   resources)
        return dataclasses.replace(outcome, missing_resources=missing)

    def _start_or_update_again(self, claim):
        """Try the start or the change of a lease again after it was given up."""
        if claim.lease.end <= claim.at:
            return results.Outcome(results.MOOT, claim.lease.reason_text)
        if due_events.change_given_up(claim.lease):
            return self._update(claim)
        outcome = _outcome(self._start, claim)
        if outcome.unreachable or outcome.result in (results.DONE, results.MOOT) or (
                not self._retries.is_retried_too_long(claim.lease, claim.at)):
            return outcome
        return self._end_unstarted(claim, outcome)

    def _end_unstarted(self, claim, failed):
        """End the reservations of a lease whose start failed for too long.

        :param failed: the Outcome of the last try.
        """
        claim = self._occupation.reread(claim)
        unstarted = [reservation for reservation in claim.lease.open_reservations if (
            lifecycle.RESERVATION_ACTIVE not in (
                reservation.state, failed.states.get(reservation.id)))]
        ended = self._calls.call(claim, 'end', unstarted)
        states = {**failed.states, **ended.states}
        if ended.result != results.DONE:
            return dataclasses.replace(ended, states=states, bindings=failed.bindings,
                                       free=_deleted(ended))
        outcome = dataclasses.replace(failed, result=results.DONE, states=states,
                                      start_abandoned=True)
        return plugin_calls.ended_early(claim.lease, outcome, _deleted(ended), _NOT_STARTED)

    def _prepare(self, claim):
        claim, targetless = self._with_targets(claim)
        return self._calls.call(claim, 'prepare', [
            each for each in claim.lease.open_reservations
            if each.id in targetless or self._plugin(each).prepares(each.request)], targetless)

    def _stage(self, claim):
        def check():
            claim.ownership.check()
            if self._core.clock() >= claim.lease.start:
                # The start waits for this event to end, and then creates the missing objects.
                raise errors.StillBusy.plain('Climate', 'the lease starts now.')
        with call_guard.before_each_call(check):
            return self._calls.call(claim, 'stage', [
                each for each in claim.lease.open_reservations
                if self._plugin(each).stages(each.request)])

    def _check(self, claim):
        """Check whether the targets of the lease still exist."""
        gone = {each.id for each in claim.lease.open_reservations if each.leased_id is not None
                and self._plugin(each).gone(self._core.cloud, [each.leased_id])}
        return plugin_calls.ended_early(claim.lease, results.Outcome(results.DONE), gone,
                                        plugin_calls.GONE)

    def _update(self, claim):
        if claim.lease.end <= claim.at:
            # The end of the lease is carried out next and releases all hosts.
            return results.Outcome(
                results.MOOT, texts.joined(claim.lease.reason_text, _UNCHANGED))
        claim = self._occupation.occupy(claim)
        self._occupation.await_awake(claim)
        # Include reservations in error, because an earlier try of this update failed on them.
        running = [each for each in claim.lease.reservations if each.state in (
            lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)]
        outcome = self._calls.call(claim, 'start', running)
        if claim.lease.degraded and outcome.result == results.DONE:
            # A swap may have replaced the resources that gave less than was requested.
            return dataclasses.replace(
                outcome, missing_resources=flags.Flags(self._core).short(claim.lease, claim.at))
        return outcome

    def _end(self, claim):
        lease = claim.lease
        if lease.sub_leased:
            self._await_sub_leases(claim)
        if due_events.never_acquired(lease):
            self._clearing.abandon(lease, claim.at)
        if due_events.never_acquired(lease) or _never_touched(lease):
            ids = [each.id for each in lease.open_reservations]
            return results.Outcome(results.DONE, free=frozenset(ids),
                                   states=dict.fromkeys(ids, lifecycle.RESERVATION_DELETED))
        outcome = self._secure(claim)
        if outcome.result != results.DONE:
            # A server without its image must stay, and needs its network and its volumes.
            return outcome
        outcome = self._calls.call(claim, 'end', lease.open_reservations)
        return dataclasses.replace(outcome, free=_deleted(outcome))

    def _await_sub_leases(self, claim):
        """End the sub-leases of a lease that ends; their hosts are then drained with its own.

        :raises StillBusy: some are not over yet.
        """
        ids = sub_lease_end.end_open(self._core, claim.lease, claim.at)
        if ids:
            self._core.notify()
            raise errors.StillBusy(service='Climate', has_own_limit=True, reason=texts.counted(
                len(ids), 'sub-lease is being ended.', 'sub-leases are being ended.'))

    def _secure(self, claim):
        """Make the images of servers before the end of another reservation deletes the servers."""
        plugins = self._core.registry.plugins
        reservations = [each for each in claim.lease.open_reservations
                        if each.resource_type in plugins]
        if not any(self._plugin(each).ends_servers for each in reservations):
            # Reservations of hosts make the images of their servers when they end.
            return results.Outcome(results.DONE)
        return self._calls.call(claim, 'secure', [
            each for each in reservations if self._plugin(each).secures(each)])

    def _before_end(self, claim):
        lease = claim.lease
        if lease.state == lifecycle.PENDING and lease.end > claim.at:
            raise errors.StillBusy.plain('Climate', 'the lease has not started yet.')
        running = [each for each in lease.open_reservations
                   if each.state == lifecycle.RESERVATION_ACTIVE]
        if lease.state not in (lifecycle.ACTIVE, lifecycle.ERROR) or not running:
            return results.Outcome(results.MOOT)
        return self._calls.call(claim, 'before_end', running)

    def _drop_trust(self, claim):
        early_creations.delete(self._core, claim.lease)
        trusts.drop_of(self._core, claim.lease)
        return results.Outcome(results.DONE)

    def _return_hosts(self, claim):
        """Return the cleared and the lent hosts that the lease does not need.

        If one of the two fails, the other is still done.
        """
        lease, failures = claim.lease, []
        undo = self._clearing.abandon if due_events.never_acquired(lease) else self._clearing.tidy
        for return_hosts in (lambda: undo(lease, claim.at),
                             lambda: self._lent_hosts.return_unneeded(lease)):
            try:
                return_hosts()
            except errors.ClimateError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return results.Outcome(results.DONE)

    def _reclaim_idle(self, claim):
        cloud = lease_cloud.ActionCloud(self._core.cloud, claim.lease)
        return self._reclaim.carry_out(claim, cloud, claim.at)

    def _share(self, claim):
        announced = announcements.Announcements(self._core, claim)
        cloud = lease_cloud.ActionCloud(self._core.cloud, claim.lease, announcements=announced)
        try:
            return self._guests.carry_out(claim, cloud)
        finally:
            # The next try does what this one has announced.
            announced.write()

    def _wake(self, claim):
        self._occupation.wake(claim)
        return results.Outcome(results.DONE)

    def _with_targets(self, claim):
        """Return (the claim with its targets, the ids of reservations whose target is overdue)."""
        lease, targetless = self._targets.ensure(claim.lease, claim.at)
        return dataclasses.replace(claim, lease=lease), targetless

    def _plugin(self, reservation):
        return self._core.registry.plugin(reservation.resource_type)


def _outcome(action, claim):
    """Return the Outcome of an action, or of the ClimateError that it raises."""
    try:
        return action(claim)
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
    """Return the Rank of the cloud calls of an event: ends come first, tries to acquire last."""
    if kind.releases_all:
        return call_guard.Rank.FIRST
    return call_guard.Rank.NORMAL if kind.lane is event_kinds.Lane.PROMPT else call_guard.Rank.LAST


def _deleted(outcome):
    """Return the ids of the reservations that an Outcome deletes."""
    return frozenset(key for key, state in outcome.states.items()
                     if state == lifecycle.RESERVATION_DELETED)


def _never_touched(lease):
    """Return whether the cloud has no objects of a lease.

    A start did nothing in the cloud if its first try was after the end of the lease.
    """
    start = lease.event(event_kinds.START)
    late = (start is not None and start.status == lifecycle.EVENT_DONE
            and start.begun_at is not None and start.begun_at >= lease.end)
    events = tuple(each for each in lease.events if not late or each.kind != event_kinds.START)
    return (due_events.never_tried(dataclasses.replace(lease, events=events))
            and all(each.state == lifecycle.RESERVATION_PENDING
                    for each in lease.open_reservations))
