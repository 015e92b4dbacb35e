# SPDX-License-Identifier: Apache-2.0
"""The leases and offers that requests create or change, as limits count them."""
import collections.abc
import dataclasses

from climate.domain import lifecycle
from climate.domain.limits import holdings as domain
from climate.manager.limits import holdings


@dataclasses.dataclass(frozen=True)
class LimitSubject:
    """A lease or an offer that a request creates or changes.

    :ivar after: the Holding after the request, but without its resources.
    :ivar chosen: the Allocations that the request adds.
    :ivar types: {reservation id: resource type} of `chosen`.
    :ivar before_id: the id of the lease or offer before the request; None: it is new.
    :ivar kept: a function that returns the HeldResources that are left after the request of a
        HeldResource before it.
    :ivar more_moments: the start and end before the request.
    :ivar needed: the HeldResources that a new waiting lease will need, as far as they are known.
    :ivar candidates: the HeldResources that a new waiting lease may get.
    :ivar roles: the roles of the caller; None: roles do not matter.
    :ivar is_attempt: see ``holdings.Request``.
    """

    after: domain.Holding
    chosen: tuple = ()
    types: dict = dataclasses.field(default_factory=dict)
    before_id: str | None = None
    kept: collections.abc.Callable = lambda held: ()
    more_moments: tuple = ()
    needed: tuple = ()
    candidates: tuple = ()
    roles: frozenset | None = None
    is_attempt: bool = False

    @property
    def moments(self):
        """The moments at which what is held may change."""
        return (self.after.start, self.after.end, *self.more_moments)


def holding_of(core, lease, kind, span=None):
    """Return the Holding of a Lease, without its resources.

    :param span: the Interval of the lease; None: its own.
    """
    span = lease.interval if span is None else span
    acquisition = lease.acquisition
    waits = kind is domain.Kind.WAITING and acquisition is not None
    return domain.Holding(
        lease.id, kind, lease.project_id, lease.user_id, span.start, span.end,
        {each.resource_type: holdings.pools_of(core, each.resource_type)
         for each in lease.open_reservations},
        latest_start=acquisition.not_after if waits else None)


def of_new_lease(core, lease, chosen, roles=None, offer_id=None):
    """Return the LimitSubject of a new Lease with its Allocations.

    :param offer_id: the offer that the lease takes, or None.
    """
    waits = lease.state == lifecycle.ACQUIRING
    return LimitSubject(
        holding_of(core, lease, domain.Kind.WAITING if waits else domain.Kind.LEASE),
        tuple(chosen), _types(lease.reservations), before_id=offer_id, roles=roles)


def of_waiting_lease(core, draft, lease, limits, candidates=()):
    """Return the LimitSubject of a new Lease in the state ACQUIRING.

    :param draft: the Draft of the lease.
    :param limits: the Limits that apply.
    :param candidates: the HeldResources that it may get, for limits with criteria.
    """
    types = _types(lease.reservations)
    needed = tuple(holdings.of_need(core, wish, types[wish.reservation_id],
                                    (lease.start, lease.end), limits)
                   for wish in draft.wishes if not wish.need.optional)
    subject = of_new_lease(core, lease, (), draft.roles)
    return dataclasses.replace(subject, needed=needed, candidates=needed + tuple(candidates))


def of_offer(core, offer, chosen, roles=None):
    """Return the LimitSubject of a new Offer with its Allocations."""
    after = domain.Holding(
        offer.id, domain.Kind.OFFER, offer.project_id, offer.user_id, offer.start, offer.end,
        {each.resource_type: holdings.pools_of(core, each.resource_type)
         for each in offer.request}, held_until=offer.held_until)
    return LimitSubject(after, tuple(chosen), _types(offer.request), roles=roles)


def of_attempt(core, lease, chosen, span, acquired=True):
    """Return the LimitSubject of an attempt to acquire the resources of a waiting Lease.

    :param acquired: whether the lease starts; otherwise `chosen` is held back for it.
    """
    kind = domain.Kind.LEASE if acquired else domain.Kind.WAITING
    return LimitSubject(holding_of(core, lease, kind, span), tuple(chosen),
                        _types(lease.reservations), before_id=lease.id, is_attempt=True)


def of_change(core, change, chosen):
    """Return the LimitSubject of a ``change_plan.LeaseChange``.

    :param chosen: the Allocations for its Wishes.
    """
    lease, target, now = change.lease, change.target, change.now
    booked = {wish.reservation_id for wish in change.wishes}

    def kept(held):
        if held.reservation_id in booked:
            return _cut(held, now) if change.running else ()
        if held.end <= now:
            return (held,)
        if target.end <= now:
            return _cut(held, now)
        start = target.start if target.start != lease.start else held.start
        return (dataclasses.replace(held, start=start, end=target.end),)
    waits = lease.state == lifecycle.ACQUIRING
    # The owner had the roles when they chose the steps.
    has_caller = change.by_owner and not change.in_steps
    roles = frozenset(change.context.roles) if has_caller else None
    return LimitSubject(
        holding_of(core, target, domain.Kind.WAITING if waits else domain.Kind.LEASE),
        tuple(chosen), _types(target.reservations), before_id=lease.id, kept=kept, roles=roles,
        more_moments=(lease.start, lease.end))


def of_swap(core, lease, reservation, resource_id, chosen, now, roles=None):
    """Return the LimitSubject of a swap of a resource of a running Lease for Allocations.

    :param roles: the roles of the caller; None: roles do not matter.
    """
    def kept(held):
        is_old = (held.reservation_id, held.resource_id) == (reservation.id, resource_id)
        return _cut(held, now) if is_old else (held,)
    return LimitSubject(holding_of(core, lease, domain.Kind.LEASE), tuple(chosen),
                        _types(lease.reservations), before_id=lease.id, kept=kept,
                        roles=roles)


def _cut(held, now):
    """Return what is left of a HeldResource that is released now, as a tuple."""
    if held.end <= now:
        return (held,)
    return (dataclasses.replace(held, end=now),) if held.start < now else ()


def _types(reservations):
    return {each.id: each.resource_type for each in reservations}
