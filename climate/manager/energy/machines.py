# SPDX-License-Identifier: Apache-2.0
"""The machines that power drivers switch on and off, and the resources on each of them."""
import collections
from collections.abc import Mapping
import dataclasses

from climate.db import resources
from climate.domain import records
from climate.plugins import sleepable


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine, the unit that a power driver switches.

    :ivar resources: all enrolled Resources on it, of any pool, in the order of their ids.
    """

    name: str
    resources: tuple[records.Resource, ...]

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties of its resources; those of the first resource take precedence."""
        return dict(collections.ChainMap(*(dict(resource.properties)
                                           for resource in self.resources)))

    def by_pool(self):
        """Return [(name of a pool, its Resources on the machine)], in the order of the names."""
        resources_of = collections.defaultdict(list)
        for resource in self.resources:
            resources_of[resource.pool].append(resource)
        return sorted(resources_of.items())


def pools(core):
    """Return the names of the pools whose resources can sleep, in order."""
    return sorted(name for name, pool in core.registry.pools.items()
                  if isinstance(pool, sleepable.Sleepable))


def together(core, connection, resource_ids):
    """Return the ids of all enrolled resources on the machines of the given resources.

    :returns: one sorted tuple of ids for each machine, in the order of the first ids.
    """
    ids = set(resource_ids)
    return sorted(group for group in _groups(core, connection) if not ids.isdisjoint(group))


def shares(core, connection):
    """Return {resource id: 1 / number of resources on its machine} of all that can sleep."""
    return {key: 1 / len(group) for group in _groups(core, connection) for key in group}


def _groups(core, connection):
    """Return the sorted ids of the resources on each machine, as tuples."""
    ids_of = collections.defaultdict(list)
    for key, pool, name in resources.names(connection, pools(core)):
        ids_of[core.registry.pool(pool).machine(name)].append(key)
    return [tuple(sorted(ids)) for ids in ids_of.values()]


def around(core, connection, resource_ids):
    """Return the Machines of some resources, each with all enrolled resources on it."""
    groups = together(core, connection, resource_ids)
    by_id = {resource.id: resource for resource in resources.enrolled(
        connection, [key for group in groups for key in group])} if groups else {}
    machines = []
    for group in groups:
        on_machine = tuple(by_id[key] for key in group if key in by_id)
        if on_machine:
            first = on_machine[0]
            name = core.registry.pool(first.pool).machine(first.name)
            machines.append(Machine(name, on_machine))
    return machines
