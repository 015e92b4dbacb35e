# SPDX-License-Identifier: Apache-2.0
"""Which resources meet the criteria of a need."""
from climate import errors
from climate.db import resources
from climate.domain import requirement


def check_names(core, connection, need):
    """Refuse criteria that name what no resource of the pool has, or another region.

    :raises UnknownProperty: with the names that are near.
    :raises BadField: the criterion $region asks for another region than ours.
    """
    if not requirement.names(need.requirement):
        return
    pool = core.registry.pool(need.pool)
    public, private = resources.names(connection, need.pool)
    public |= {*pool.capacity_names, *pool.fact_names, pool.name_fact, 'region'}
    public |= {name for name in requirement.names(need.requirement)
               if name.startswith(pool.fact_prefixes)}
    requirement.check_names(need.requirement, public, hidden=private)
    for part in requirement.criteria(need.requirement):
        if requirement.names(part) == {'region'} and not requirement.matches(
                part, {'region': core.conf.region_name}):
            raise errors.BadField(field='region', reason=(
                f'this Climate serves the region {core.conf.region_name} only.'))


def check_wishes(core, wishes):
    """The same of all Wishes.

    :raises UnknownProperty: with the names that are near.
    """
    with core.database.reader() as connection:
        for wish in wishes:
            check_names(core, connection, wish.need)


def matching(core, connection, need, candidates):
    """The ids of those resources, {id: Resource}, that meet all criteria, in order."""
    wanted = requirement.names(need.requirement)
    if not wanted:
        return sorted(candidates)
    values = values_of(core, connection, need.pool, candidates, wanted)
    return [key for key in sorted(candidates)
            if requirement.matches(need.requirement, values[key])]


def met_by(core, need, found):
    """Whether something that is not enrolled, a Found of its pool, would meet all criteria."""
    pool = core.registry.pool(need.pool)
    return requirement.matches(need.requirement, _values(
        pool, core.conf.region_name, found, found.facts))


def values_of(core, connection, pool_name, candidates, wanted):
    """{id: {name: value}}, what criteria compare with."""
    pool = core.registry.pool(pool_name)
    said = resources.values_of(connection, pool_name, wanted,
                               candidates if len(candidates) <= 500 else None)
    return {key: _values(pool, core.conf.region_name, resource, said.get(key, {}))
            for key, resource in candidates.items()}


def _values(pool, region, resource, said):
    values = {'region': region, **said, pool.name_fact: resource.name}
    for name, unit in pool.capacity_names.items():
        values[name] = resource.capacity.get(unit, 0)
    if 'traits' in values:
        values['traits'] = frozenset(values['traits'].split())
    return values
