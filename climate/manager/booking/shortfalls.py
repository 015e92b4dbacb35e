# SPDX-License-Identifier: Apache-2.0
"""Find allocated resources that are unsuitable, too small, or out of service."""
import dataclasses

from climate.db import allocations
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.booking import verification
from climate.manager.health import failures

UNMET = 'it does not meet the criteria any more'
TOO_SMALL = 'it has less capacity now than is allocated on it'


class Shortfalls:
    """Finds allocated resources that give a reservation less than it requested."""

    def __init__(self, core):
        self._core = core

    def of(self, lease, reservation, resources, now):
        """Return {resource id: why it falls short} for a reservation; {} for an active one.

        :param resources: the Resources to check, with their properties and facts.
        """
        if reservation.state == lifecycle.RESERVATION_ACTIVE or not reservation.resource_ids:
            return {}
        by_id = {each.id: each for each in resources}
        needs = {need.key: need for need in self._core.registry.needs_of(reservation)}
        reasons, has_shared = {}, False
        for key, ids in reservation.allocated.items():
            need = needs.get(key)
            if need is None:
                continue
            has_shared |= need.demand.amount is not selection.WHOLE
            reasons |= {resource_id: UNMET for resource_id in set(ids).intersection(by_id)
                        if not meets(self._core, need, by_id[resource_id])}
        doubts = {key: failures.doubtful(resource) for key, resource in by_id.items()
                  if key in reservation.resource_ids}
        reasons |= {key: doubt for key, doubt in doubts.items() if doubt is not None}
        if has_shared:
            reasons |= self._too_small(lease, reservation, by_id, now)
        return reasons

    def _too_small(self, lease, reservation, by_id, now):
        """Return {resource id: TOO_SMALL} of the shared resources that lack capacity.

        :param by_id: {id: Resource} of the resources to check.
        """
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        with self._core.database.reader() as connection:
            shared = [each for each in allocations.of_reservations(connection, [reservation.id])
                      if not each.whole and each.resource_id in by_id]
            booked = allocations.bookings(connection, {each.resource_id for each in shared}, span,
                                          ignoring=[reservation.id])
        reasons = {}
        for allocation in shared:
            resource = by_id[allocation.resource_id]
            bookings = booked.setdefault(resource.id, [])
            if not verification.fits(resource, allocation, bookings):
                reasons[resource.id] = TOO_SMALL
            own_span = interval.Interval(allocation.start, allocation.end)
            bookings += [(own_span, allocation.amount)] * allocation.copies
        return reasons


def meets(core, need, resource):
    """Return True if a Resource with its properties and facts meets all criteria of a need."""
    return (not requirement.names(need.requirement)
            or criteria.met_by(core, need, dataclasses.replace(
                resource, facts={**resource.properties, **resource.facts})))
