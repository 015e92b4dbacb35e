# SPDX-License-Identifier: Apache-2.0
"""Criteria of needs: check the properties that they name, and find matching resources."""
import functools
import json

from climate import errors
from climate.db import conditions
from climate.db import resource_properties
from climate.domain import facets
from climate.domain import requirement
from climate.domain import selection
from climate.manager import property_values
from climate.policies import leases


def check_names(core, connection, need, hidden=True, kept=()):
    """Refuse criteria with a property that no resource of the pool has, or with another region.

    :param hidden: whether criteria may name resources and use private properties.
    :param kept: criteria that may name resources and use private properties in any case.
    :raises UnknownProperty: no resource has a property; the error lists similar names.
    :raises Forbidden: a criterion names resources although `hidden` is False.
    :raises BadField: the criterion $region asks for a region that this service does not serve.
    """
    if not requirement.names(need.requirement):
        return
    pool = core.registry.pool(need.pool)
    public, private = resource_properties.names(connection, need.pool)
    public |= {*pool.own_names(), 'region'}
    public |= {name for name in requirement.names(need.requirement)
               if name.startswith(pool.fact_prefixes)}
    requirement.check_names(need.requirement, public, hidden=private, pool=need.pool)
    if not hidden:
        _refuse_hidden(pool, [part for part in requirement.criteria(need.requirement)
                              if part not in kept], public)
    for part in requirement.criteria(need.requirement):
        if requirement.names(part) == {'region'} and not requirement.matches(
                part, {'region': core.conf.region_name}):
            raise errors.BadField(field='region', reason=(
                f'this Climate serves the region {core.conf.region_name} only.'))


def _refuse_hidden(pool, parts, public):
    for part in parts:
        if named := sorted(requirement.names(part) & pool.identifying_names):
            raise errors.Forbidden(
                f'Policy does not allow criteria with ${named[0]} with these roles: it names a '
                f'{pool.name}.', action=leases.HIDDEN_CRITERIA)
        # A private property is refused like an unknown one, so that no name is confirmed.
        requirement.check_names(part, public, pool=pool.name)


def check_wishes(core, wishes, hidden=True, had=()):
    """Check the criteria of all Wishes as `check_names` does; raise the same errors.

    :param had: the Wishes of the lease before a change, whose criteria stay allowed.
    """
    with core.database.reader() as connection:
        for wish in wishes:
            kept = [part for old in had if old.reservation_id == wish.reservation_id
                    for part in requirement.criteria(old.need.requirement)]
            check_names(core, connection, wish.need, hidden, kept)


def in_words(core, need):
    """Return the criteria of a need for messages: a list of (words, requirement).

    A plugin derives criteria on facts from the size of one copy. They are summarized as one
    criterion, because users know the size, but not the facts.
    """
    prefixes = tuple(core.registry.pool(need.pool).fact_prefixes)
    parts = requirement.criteria(need.requirement)
    sizes = [part for part in parts if need.called and isinstance(part, requirement.Leaf)
             and part.name.startswith(prefixes)]
    pairs = [(str(part), part) for part in parts if part not in sizes]
    if sizes:
        pairs.append(('capacity for one when empty', requirement.conjunction(*sizes)))
    return pairs


def matching(core, connection, need, candidates):
    """Return the sorted ids of the candidates, {id: Resource}, that meet all criteria."""
    names = requirement.names(need.requirement)
    if not names:
        return sorted(candidates)
    values = values_of(core, connection, need.pool, candidates, names)
    return [key for key in sorted(candidates)
            if requirement.matches(need.requirement, values[key])]


class Sieve:
    """Filters rows of ``db.free_resources`` by the criteria of a need.

    :ivar condition: the criteria that the database can check, as a ``conditions.Condition``.
    :ivar names: the properties and facts whose values each row must contain.
    """

    def __init__(self, core, need):
        pool, region = core.registry.pool(need.pool), core.conf.region_name
        self._all_names = requirement.names(need.requirement)
        self._needs_name = pool.name_fact in self._all_names
        self.names = names = tuple(sorted(
            self._all_names - {pool.name_fact, *pool.capacity_names}))
        self.condition = conditions.of(need.requirement, pool.name_fact,
                                       {'region', *pool.capacity_names})

        @functools.cache
        def meets(resource_name, capacity, *texts):
            stored = {name: text for name, text in zip(names, texts, strict=True)
                      if text is not None}
            return requirement.matches(need.requirement, property_values.compared(
                pool, region, resource_name, json.loads(capacity), stored))
        self._meets = meets

    def meeting(self, rows):
        """Return the rows that meet all criteria; rows with equal values are checked once."""
        if not self._all_names:
            return rows
        return [row for row in rows
                if self._meets(row.name if self._needs_name else None, row.capacity, *row[3:])]


def met_by(core, need, resource):
    """Return True if the facts of a ``base.Found`` or a Resource meet all criteria of a need."""
    pool = core.registry.pool(need.pool)
    return requirement.matches(need.requirement, property_values.compared(
        pool, core.conf.region_name, resource.name, resource.capacity, resource.facts))


def values_of(core, connection, pool_name, candidates, names):
    """Return {id: {name: value}}: the values that criteria compare, for each candidate.

    :param candidates: {id: Resource}.
    :param names: the names of the properties and facts.
    """
    pool = core.registry.pool(pool_name)
    stored = resource_properties.values_of(connection, pool_name, names,
                                           candidates if len(candidates) <= 500 else None)
    return {key: property_values.compared(pool, core.conf.region_name, resource.name,
                                          resource.capacity, stored.get(key, {}))
            for key, resource in candidates.items()}


def readable_kinds(connection, pool):
    """Return {name: kind} of the properties of a Pool whose values every caller may read.

    Names of resources, private properties and the many facts with a prefix are left out.
    """
    public, _private = resource_properties.names(connection, pool.name)
    kinds = {name: facets.FACT if name in pool.fact_names else facets.PROPERTY for name in public}
    kinds |= dict.fromkeys(pool.capacity_names, facets.CAPACITY)
    return {name: kind for name, kind in kinds.items()
            if name not in {*pool.identifying_names, pool.name_fact}
            and not name.startswith(pool.fact_prefixes)}


def existing_values(core, connection, need, resources):
    """Return {name: values} of the properties in the criteria that too few resources meet.

    Only properties whose values every caller may read are returned.

    :param resources: {id: Resource}.
    """
    parts = requirement.criteria(need.requirement)
    names = requirement.names(need.requirement)
    rows = values_of(core, connection, need.pool, resources, names)
    least = need.demand.at_least if need.demand.amount is selection.WHOLE else 1
    asked = set().union(*(requirement.names(part) for part in parts if sum(
        requirement.matches(part, row) for row in rows.values()) < least))
    readable = readable_kinds(connection, core.registry.pool(need.pool)) if asked else ()
    return {name: found for name in sorted(asked.intersection(readable))
            if (found := facets.existing(name, rows))}
