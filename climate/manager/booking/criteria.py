# SPDX-License-Identifier: Apache-2.0
"""Criteria of needs: check their names, and find the resources that meet them."""
import json

from climate import errors
from climate.db import conditions
from climate.db import resource_properties
from climate.domain import requirement
from climate.policies import leases


def check_names(core, connection, need, hidden=True, kept=()):
    """Refuse criteria with a property that no resource of the pool has, or with another region.

    :param hidden: whether criteria may name resources and use private properties.
    :param kept: criteria that may do so in any case.
    :raises UnknownProperty: a name is unknown; the error has the names that are similar.
    :raises Forbidden: a criterion names resources, and it may not.
    :raises BadField: the criterion $region asks for another region than ours.
    """
    if not requirement.names(need.requirement):
        return
    pool = core.registry.pool(need.pool)
    public, private = resource_properties.names(connection, need.pool)
    public |= {*pool.capacity_names, *pool.fact_names, pool.name_fact, 'region'}
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
    naming = pool.identifying_names
    for part in parts:
        if named := sorted(requirement.names(part) & naming):
            raise errors.Forbidden(
                f'Policy does not allow criteria with ${named[0]} with these roles: it names a '
                f'{pool.name}.', action=leases.HIDDEN_CRITERIA)
        # The error is the one for a property that does not exist, so that no name is confirmed.
        requirement.check_names(part, public, pool=pool.name)


def check_wishes(core, wishes, hidden=True, had=()):
    """Check the criteria of all Wishes as `check_names` does.

    :param hidden: whether criteria may name resources and use private properties.
    :param had: the Wishes of the lease before a change; its criteria may stay.
    :raises Forbidden: a criterion names resources, and it may not.
    :raises UnknownProperty: a name is unknown; the error has the names that are similar.
    :raises BadField: a criterion asks for another region than ours.
    """
    with core.database.reader() as connection:
        for wish in wishes:
            kept = [part for each in had if each.reservation_id == wish.reservation_id
                    for part in requirement.criteria(each.need.requirement)]
            check_names(core, connection, wish.need, hidden, kept)


def in_words(core, need):
    """Return the criteria of a need for messages: a list of (words, requirement).

    The limits that follow from the size of one copy are one criterion, because the user knows the
    size, and not the facts of the pool that it is compared with.
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
    wanted = requirement.names(need.requirement)
    if not wanted:
        return sorted(candidates)
    values = values_of(core, connection, need.pool, candidates, wanted)
    return [key for key in sorted(candidates)
            if requirement.matches(need.requirement, values[key])]


class Sieve:
    """The criteria of a need, applied to resources that are read as rows of ``db.free_resources``.

    :ivar condition: the part that the database can check, a ``conditions.Condition``.
    :ivar names: the properties and facts whose values each row must contain.
    """

    def __init__(self, core, need):
        self._requirement = need.requirement
        self._pool = core.registry.pool(need.pool)
        self._region = core.conf.region_name
        self._wanted = requirement.names(need.requirement)
        known = self._pool.capacity_names
        self.names = tuple(sorted(self._wanted - {self._pool.name_fact, *known}))
        self.condition = conditions.of(need.requirement, self._pool.name_fact, {'region', *known})
        self._judged = {}

    def meeting(self, rows):
        """Return the rows that meet all criteria; equal rows are judged only once."""
        if not self._wanted:
            return rows
        named = self._pool.name_fact in self._wanted
        return [row for row in rows
                if self._meets(row.name if named else None, row.capacity, *row[3:])]

    def _meets(self, *row):
        known = self._judged.get(row)
        if known is None:
            name, capacity, *texts = row
            stored = {each: text for each, text in zip(self.names, texts, strict=True)
                      if text is not None}
            known = self._judged[row] = requirement.matches(self._requirement, _values(
                self._pool, self._region, name, json.loads(capacity), stored))
        return known


def met_by(core, need, resource):
    """Return True if a Found of the pool, or a Resource, would meet all criteria."""
    pool = core.registry.pool(need.pool)
    return requirement.matches(need.requirement, _values(
        pool, core.conf.region_name, resource.name, resource.capacity, resource.facts))


def values_of(core, connection, pool_name, candidates, wanted):
    """Return {id: {name: value}}: the values that the criteria compare with.

    :param candidates: {id: Resource}.
    :param wanted: the names whose values are needed.
    """
    pool = core.registry.pool(pool_name)
    stored = resource_properties.values_of(connection, pool_name, wanted,
                                           candidates if len(candidates) <= 500 else None)
    return {key: _values(pool, core.conf.region_name, resource.name, resource.capacity,
                         stored.get(key, {}))
            for key, resource in candidates.items()}


def _values(pool, region, resource_name, capacity, stored):
    values = {'region': region, **stored, pool.name_fact: resource_name}
    for name, unit in pool.capacity_names.items():
        values[name] = capacity.get(unit, 0)
    if 'traits' in values:
        values['traits'] = frozenset(values['traits'].split())
    return values
