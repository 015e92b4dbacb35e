# SPDX-License-Identifier: Apache-2.0
"""The machines whose power is switched, and the resources on each."""
import collections
from collections.abc import Mapping
import dataclasses

from climate.db import resources
from climate.domain import records
from climate.plugins import sleepable


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine, as power drivers know it.

    :ivar resources: all enrolled Resources on it, of any pool, by id.
    """

    name: str
    resources: tuple[records.Resource, ...]

    @property
    def properties(self) -> Mapping[str, str]:
        """What operators say of its resources; what they say of the first one counts most."""
        return dict(collections.ChainMap(*(dict(each.properties) for each in self.resources)))

    def by_pool(self):
        """Return [(name of a pool, its Resources on the machine)], by name."""
        found = collections.defaultdict(list)
        for each in self.resources:
            found[each.pool].append(each)
        return sorted(found.items())


def pools(core):
    """Return the names of the pools whose resources can sleep, in order."""
    return sorted(name for name, pool in core.registry.pools.items()
                  if isinstance(pool, sleepable.Sleepable))


def name_of(core, pool, name):
    """Return the name of the machine of a resource."""
    return core.registry.pool(pool).machine(name)


def together(core, connection, resource_ids):
    """Return the ids of all enrolled resources on the machines of these, as sorted tuples.

    :returns: a tuple for each machine, in the order of the first ids.
    """
    wanted = set(resource_ids)
    return sorted(each for each in _all(core, connection) if not wanted.isdisjoint(each))


def shares(core, connection):
    """Return {resource id: which share of its machine it is}, of all resources that can sleep."""
    return {key: 1 / len(each) for each in _all(core, connection) for key in each}


def _all(core, connection):
    """Return the sorted ids of the resources on each machine."""
    found = collections.defaultdict(list)
    for key, pool, name in resources.names(connection, pools(core)):
        found[name_of(core, pool, name)].append(key)
    return [tuple(sorted(each)) for each in found.values()]


def around(core, connection, resource_ids):
    """Return the Machines of these resources, with all that is enrolled on each."""
    groups = together(core, connection, resource_ids)
    known = {each.id: each for each in resources.enrolled(
        connection, [key for group in groups for key in group])} if groups else {}
    found = []
    for group in groups:
        there = tuple(known[key] for key in group if key in known)
        if there:
            found.append(Machine(name_of(core, there[0].pool, there[0].name), there))
    return found
