# SPDX-License-Identifier: Apache-2.0
"""Serialization of the results of an availability search, for the answer to the caller."""
import collections

from climate.db import resource_properties
from climate.db import resources
from climate.domain import availability
from climate.domain import requirement
from climate.manager.booking import criteria


class AnswerSerializer:
    """Describes resources in an answer while its connection is open."""

    def __init__(self, core, connection, ids=()):
        """Read the resources `ids`, which the answer names."""
        self._core, self._connection = core, connection
        self._hidden = {}
        # A resource that was withdrawn since it was chosen is left out.
        self._known = {each.id: (each.name, tuple(self._shown(each).items()))
                       for each in resources.enrolled(connection, ids)}

    def shares(self, reservations, chosen):
        """Return the Share of each reservation in `chosen`, a list of Allocations."""
        return tuple(self._share(each, [given for given in chosen
                                        if given.reservation_id == each.id])
                     for each in reservations)

    def considered(self, reservations, search, duration):
        """Return the Considered of each wish of a Search for the reservations."""
        types = {each.id: each.resource_type for each in reservations}
        return tuple(
            self._considered(types[wish.reservation_id], wish.need,
                             search.pools[wish.need.pool].resources, len(search.matching[place]),
                             search.most(place, duration), search.free_at_start(place, duration))
            for place, wish in enumerate(search.wishes))

    def _considered(self, resource_type, need, enrolled, matching, free, free_at_earliest):
        values = criteria.values_of(self._core, self._connection, need.pool, enrolled,
                                    requirement.names(need.requirement))
        counts, left = [], set(enrolled)
        for words, part in criteria.in_words(self._core, need):
            met = {key for key in enrolled if requirement.matches(part, values[key])}
            left &= met
            counts.append(availability.Criterion(words, len(met), len(left)))
        return availability.Considered(
            resource_type=resource_type, pool=need.pool, wanted=need.demand.at_least,
            enrolled=len(enrolled), matching=matching, free=free,
            free_at_earliest=free_at_earliest, criteria=tuple(counts))

    def _share(self, reservation, given):
        groups = collections.defaultdict(list)
        for each in given:
            if each.resource_id in self._known:
                name, shown = self._known[each.resource_id]
                groups[shown].append(name)
        return availability.ReservationShare(
            resource_type=reservation.resource_type, count=sum(each.copies for each in given),
            groups=tuple(availability.ResourceGroup(len(names), dict(shown), tuple(names))
                         for shown, names in groups.items()))

    def _shown(self, resource):
        """Return {name: value} of the properties and sizes of a resource that everybody may see."""
        pool = self._core.registry.pool(resource.pool)
        if resource.pool not in self._hidden:
            _, self._hidden[resource.pool] = resource_properties.names(
                self._connection, resource.pool)
        hidden = self._hidden[resource.pool]
        sizes = {name: resource.capacity.get(unit, 0)
                 for name, unit in pool.capacity_names.items()}
        properties = {name: value for name, value in sorted(resource.properties.items())
                      if name not in hidden}
        return {**properties, **sizes}
