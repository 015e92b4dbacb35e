# SPDX-License-Identifier: Apache-2.0
"""Calls of the plugins for the reservations of a lease, in the order of their dependencies."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import lease_cloud
from climate.manager import ownership
from climate.manager import request_secrets
from climate.manager import results
from climate.manager.booking import allocated_resources
from climate.manager.booking import substitutes
from climate.manager.energy import wake_before_start
from climate.manager.events import announcements
from climate.manager.events import call_order
from climate.plugins import base

LOG = log.getLogger(__name__)

# The state of a reservation after a method of its plugin succeeded, and after it failed.
_STATES_AFTER = {
    'prepare': (None, None), 'stage': (None, None), 'before_end': (None, None),
    'secure': (None, lifecycle.RESERVATION_ERROR),
    'start': (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR),
    'end': (lifecycle.RESERVATION_DELETED, lifecycle.RESERVATION_ERROR),
}
# The maximum number of passes in one action while plugins still announce new entries.
_ANNOUNCE_TRIES = 4
# The methods that return a binding.
_WITH_BINDING = ('prepare', 'stage', 'start')
# The methods that get all resources that the reservation still occupies.
_ENDING = ('secure', 'end')
# The limit of substitutions in one start: each of them costs a few calls of the cloud.
_MOST_SUBSTITUTIONS = 10
GONE = texts.same('Its target is not in the cloud any more.')
_NEVER_CREATED = texts.same('Its target was never created.')


class PluginCalls:
    """Calls a method of the plugin of each reservation of a claimed lease."""

    def __init__(self, core):
        self.core = core
        self.allocated = allocated_resources.AllocatedResources(core)
        self.substitutes = substitutes.Substitutes(core)
        self.wakes = wake_before_start.WakeBeforeStart(core)

    def call(self, claim, method, reservations, targetless=frozenset(), already_read=None):
        """Call a method for each of the reservations; return the Outcome of all calls.

        The announcements of a plugin are written before the plugin does what it announced.

        :param targetless: ids of reservations that waited too long for their target and are over.
        :param already_read: the Resources allocated to the reservations, or None.
        """
        announced = announcements.Announcements(self.core, claim)
        outcome = None
        for _ in range(_ANNOUNCE_TRIES):
            resources = (self.allocated.possibly_used(claim.lease, reservations)
                         if method in _ENDING else self.allocated.of(reservations, already_read))
            outcome = _Pass(self, claim, method, reservations, announced, targetless).run(resources)
            # A start may have substituted resources, which only the next try of the event reads.
            if not announced.write() or method == 'start':
                break
        return outcome


class _Pass:
    """One pass, which calls the method at most once for each reservation.

    A failure stops only the reservations that depend on the failed one.
    """

    def __init__(self, calls, claim, method, reservations, announced, targetless):
        self._calls, self._claim, self._method = calls, claim, method
        self._targetless = targetless
        self._core, lease, event = calls.core, claim.lease, claim.event
        is_first = event.kind == event_kinds.START and event.claim_no == 1
        attempt = base.Attempt(
            now=claim.at, since=event.begun_at, failures=event.attempts, is_first=is_first,
            former=calls.allocated.former(reservations)
            if method == 'start' and not is_first else {})
        self._secrets = request_secrets.read(
            self._core, reservations if method in _WITH_BINDING else ())
        self._cloud = lease_cloud.ActionCloud(self._core.cloud, lease, attempt, announced,
                                              self._core.registry, self._secrets)
        self._order = call_order.CallOrder(lease, method, reservations, targetless)
        self._states, self._bindings, self._reasons, self._busy, self._gone = {}, {}, [], [], set()
        self._patient = self._slow = self._unreachable = True

    def run(self, resources):
        """Call the method for all reservations that need not wait; return the Outcome.

        :param resources: {reservation id: {need key: its Resources}}.
        """
        for reservation in self._order:
            if reservation.id not in self._targetless and not self._order.must_wait(reservation):
                self._claim.ownership.check()
                self._call(reservation, resources[reservation.id])
        return self._outcome()

    def _call(self, reservation, resources):
        try:
            self._order.refuse_without_dependencies(reservation)
            if self._method == 'start':
                reservation, binding = self._start_on_substitutes(reservation, resources)
            else:
                binding = getattr(self._plugin(reservation), self._method)(
                    self._cloud, self._order.lease, reservation, resources)
        except errors.StillBusy as error:
            self._busy.append(self._masked(reservation, self._secrets, error))
            self._patient = self._patient and error.kwargs.get('has_own_limit', False)
            self._slow = self._slow and error.kwargs.get('takes_minutes', False)
        except errors.TargetGone:
            self._gone.add(reservation.id)
            self._order.record_gone(reservation)
        except errors.DatabaseUnreachable:
            raise
        except errors.ClimateError as error:
            self._record_failure(reservation, error)
        else:
            self._record_success(reservation, binding)

    def _start_on_substitutes(self, reservation, resources):
        """Start a reservation; substitute the resources that the cloud refuses, and try again.

        :returns: (the Reservation with its substitutes, its binding).
        :raises NotEnough: a resource is refused, and there is no substitute; the error names it.
        :raises StillBusy: the start must wait, for example until a substitute is awake.
        """
        plugin, refused = self._plugin(reservation), {}
        for tries_left in reversed(range(_MOST_SUBSTITUTIONS)):
            self._claim.ownership.check()
            try:
                return reservation, plugin.start(self._cloud, self._order.lease, reservation,
                                                 resources)
            except errors.ResourcesRefused as error:
                LOG.warning('Lease %s, reservation %s: %s', self._claim.lease.id, reservation.id,
                            error.message)
                if not tries_left:
                    raise
                refused |= error.refused
            reservation = self._with_substitutes(reservation, refused)
            resources = self._calls.allocated.of([reservation])[reservation.id]
        raise AssertionError('The last try returns or raises.')

    def _with_substitutes(self, reservation, refused):
        """Return the Reservation with substitutes for the resources that the cloud refuses."""
        now = self._core.clock()
        self._calls.substitutes.ensure(self._order.lease, reservation, now, refused=refused)
        with self._core.database.reader() as connection:
            current = ownership.reread(connection, self._claim.lease)
        after = self._order.record_resources(
            next(each for each in current.reservations if each.id == reservation.id))
        self._calls.wakes.await_awake(set(after.resource_ids), now)
        return after

    def _record_success(self, reservation, binding):
        state, _ = _STATES_AFTER[self._method]
        self._states[reservation.id] = state
        if binding is not None and self._method in _WITH_BINDING:
            self._bindings[reservation.id] = binding
        self._order.record_success(reservation, state, self._bindings.get(reservation.id))

    def _record_failure(self, reservation, error):
        reason = self._masked(
            reservation, self._secrets or request_secrets.read(self._core, [reservation]), error)
        LOG.warning('Lease %s, reservation %s: %s failed: %s', self._claim.lease.id,
                    reservation.id, self._method, reason.operator)
        self._reasons.append(reason.within(f'Reservation {reservation.id}: '))
        self._unreachable = self._unreachable and isinstance(error, errors.CloudUnreachable)
        # A running reservation stays active if its change fails.
        runs = self._method == 'start' and reservation.state == lifecycle.RESERVATION_ACTIVE
        self._states[reservation.id] = None if runs else _STATES_AFTER[self._method][1]

    def _outcome(self):
        reasons, busy = self._reasons, self._busy
        outcome = results.Outcome(
            results.FAILED if reasons else results.BUSY if busy else results.DONE,
            texts.joined(*(reasons or busy), *map(texts.same, self._order.waiting)),
            {key: state for key, state in self._states.items() if state is not None},
            self._bindings, patient=self._patient, slow=bool(busy) and self._slow,
            unreachable=bool(reasons) and self._unreachable, targetless=self._targetless,
            warnings=self._cloud.warnings, released=self._cloud.released)
        outcome = ended_early(self._claim.lease, outcome, self._targetless, _NEVER_CREATED)
        return ended_early(self._claim.lease, outcome, self._gone, GONE)

    def _masked(self, reservation, secrets, error):
        return request_secrets.masked(
            self._plugin(reservation), secrets.get(reservation.id, {}), error)

    def _plugin(self, reservation):
        return self._core.registry.plugin(reservation.resource_type)


def ended_early(lease, outcome, ids, reason):
    """Return the Outcome with the reservations `ids` ended before the end of the lease."""
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
