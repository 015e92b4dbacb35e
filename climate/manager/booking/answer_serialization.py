# SPDX-License-Identifier: Apache-2.0
"""Serialization of the results of an availability search for the answer."""
import collections

from climate.db import resource_properties
from climate.db import resources
from climate.domain import availability
from climate.domain import requirement
from climate.manager.booking import criteria


class AnswerSerializer:
    """Describes resources in an answer; it reads with the connection of its caller."""

    def __init__(self, core, connection, ids=()):
        """Read the resources `ids`, which the answer names."""
        self._core, self._connection = core, connection
        self._private_names = {}
        # A resource that was withdrawn after it was chosen is missing here.
        self._shown = {each.id: (each.name, tuple(self._properties(each).items()))
                       for each in resources.enrolled(connection, ids)}

    def shares(self, reservations, allocations):
        """Return the ReservationShare of each reservation in the Allocations."""
        return tuple(self._share(reservation, [allocation for allocation in allocations
                                               if allocation.reservation_id == reservation.id])
                     for reservation in reservations)

    def considered(self, reservations, search, duration):
        """Return the Considered of each wish of a StartSearch for the reservations."""
        types = {each.id: each.resource_type for each in reservations}
        return tuple(self._considered(types[wish.reservation_id], search, place, duration)
                     for place, wish in enumerate(search.wishes))

    def _considered(self, resource_type, search, place, duration):
        need = search.wishes[place].need
        enrolled = search.pools[need.pool].resources
        values = criteria.values_of(self._core, self._connection, need.pool, enrolled,
                                    requirement.names(need.requirement))
        counts, remaining = [], set(enrolled)
        for words, part in criteria.in_words(self._core, need):
            met = {key for key in enrolled if requirement.matches(part, values[key])}
            remaining &= met
            counts.append(availability.Criterion(words, len(met), len(remaining)))
        return availability.Considered(
            resource_type=resource_type, pool=need.pool, wanted=need.demand.at_least,
            enrolled=len(enrolled), matching=len(search.matching[place]),
            free=search.most(place, duration),
            free_at_earliest=search.free_at_start(place, duration), criteria=tuple(counts),
            values=criteria.existing_values(self._core, self._connection, need, enrolled))

    def _share(self, reservation, allocations):
        groups = collections.defaultdict(list)
        for allocation in allocations:
            if allocation.resource_id in self._shown:
                name, properties = self._shown[allocation.resource_id]
                groups[properties].append(name)
        return availability.ReservationShare(
            resource_type=reservation.resource_type,
            count=sum(allocation.copies for allocation in allocations),
            groups=tuple(availability.ResourceGroup(len(names), dict(properties), tuple(names))
                         for properties, names in groups.items()))

    def _properties(self, resource):
        """Return {name: value} of the public properties and the sizes of a resource."""
        pool = self._core.registry.pool(resource.pool)
        if resource.pool not in self._private_names:
            _, self._private_names[resource.pool] = resource_properties.names(
                self._connection, resource.pool)
        private_names = self._private_names[resource.pool]
        sizes = {name: resource.capacity.get(unit, 0)
                 for name, unit in pool.capacity_names.items()}
        properties = {name: value for name, value in sorted(resource.properties.items())
                      if name not in private_names}
        return {**properties, **sizes}
