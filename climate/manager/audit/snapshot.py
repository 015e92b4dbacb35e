# SPDX-License-Identifier: Apache-2.0
"""The cloud snapshot: what plugins and pools observe of the cloud in one look."""
import dataclasses

from climate.cloud import readings
from climate.plugins import clearable


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What was observed of the cloud, one kind of object after the other.

    :ivar plugins: {resource type: what its plugin observed}.
    :ivar pools: {name: what the pool observed}.
    :ivar unfit: {name of a pool: {name: why}} of resources that could not be enrolled now.
    :ivar disabled: what is disabled to be cleared for a lease, as ``domain.audit.Disabled``.
    :ivar trusts: the Trusts that users gave to Climate.
    """

    plugins: dict
    pools: dict
    unfit: dict
    disabled: list
    trusts: list


def take(cloud, registry, enrolled):
    """Return a Snapshot of the cloud. What several plugins observe is read only once.

    :param enrolled: {name of a pool: its Resources}.
    """
    cloud = readings.Readings(cloud)
    pools = {name: pool.observe(cloud) for name, pool in registry.pools.items()}
    return Snapshot(
        plugins={name: plugin.observe(cloud) for name, plugin in registry.plugins.items()},
        pools=pools,
        unfit={name: pool.unfit(cloud, enrolled[name]) for name, pool in registry.pools.items()
               if enrolled[name]},
        disabled=[each for name, pool in registry.pools.items()
                  if isinstance(pool, clearable.Clearable) for each in pool.disabled(pools[name])],
        trusts=cloud.as_service().keystone.trusts())
