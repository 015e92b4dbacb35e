# SPDX-License-Identifier: Apache-2.0
"""Allocated resources that no longer meet the criteria, are too small, or are out of service."""
import dataclasses

from climate.db import allocations
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import criteria
from climate.manager.health import failures

UNMET = 'it does not meet the criteria any more'
TOO_SMALL = 'it has less capacity now than is allocated on it'


class Shortfalls:
    """Finds allocated resources that give a reservation less than it asked for."""

    def __init__(self, core):
        self._core = core

    def of(self, lease, reservation, resources, now):
        """Return {id: the reason in words} of such resources among those of a reservation.

        :param resources: Resources with their properties and facts; others are not judged.
        """
        if reservation.state == lifecycle.RESERVATION_ACTIVE or not reservation.resource_ids:
            return {}
        known = {each.id: each for each in resources}
        needs = {need.key: need for need in self._core.registry.needs_of(reservation)}
        short, shared = {}, False
        for key, ids in reservation.allocated.items():
            need = needs.get(key)
            if need is None:
                continue
            shared |= need.demand.amount is not selection.WHOLE
            short |= {resource_id: UNMET for resource_id in set(ids).intersection(known)
                      if not meets(self._core, need, known[resource_id])}
        doubts = {key: failures.doubtful(each) for key, each in known.items()
                  if key in reservation.resource_ids}
        short |= {key: why for key, why in doubts.items() if why is not None}
        if shared:
            short |= self._too_small(lease, reservation, known, now)
        return short

    def _too_small(self, lease, reservation, known, now):
        """Return {id: why} of the shared resources with too little capacity for all on them."""
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        with self._core.database.reader() as connection:
            own = [given for given in allocations.of_reservations(connection, [reservation.id])
                   if not given.whole and given.resource_id in known]
            booked = allocations.bookings(connection, {given.resource_id for given in own}, span,
                                          ignoring=[reservation.id])
        short = {}
        for given in own:
            taken = booked.setdefault(given.resource_id, [])
            if not booking.fits(known[given.resource_id], given, taken):
                short[given.resource_id] = TOO_SMALL
            taken += [(interval.Interval(given.start, given.end), given.amount)] * given.copies
        return short


def meets(core, need, resource):
    """Return True if a Resource with its properties and facts meets all criteria of a need."""
    return (not requirement.names(need.requirement)
            or criteria.met_by(core, need, dataclasses.replace(
                resource, facts={**resource.properties, **resource.facts})))
