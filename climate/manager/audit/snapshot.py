# SPDX-License-Identifier: Apache-2.0
"""The cloud snapshot: what plugins and pools observe of the cloud in one look."""
import contextlib
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import caching_cloud
from climate.plugins import clearable

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What was observed of the cloud, one kind of object after the other.

    Plugins and pools whose service failed are missing in it.

    :ivar plugins: {resource type: what its plugin observed}.
    :ivar pools: {name: what the pool observed}.
    :ivar unfit: {name of a pool: {name: why}} of resources that could not be enrolled now.
    :ivar disabled: what is disabled to be cleared for a lease, as ``domain.audit.Disabled``.
    :ivar trusts: the Trusts that users gave to Climate; None if Keystone failed.
    :ivar failures: the errors because of which something is missing.
    """

    plugins: dict
    pools: dict
    unfit: dict
    disabled: list
    trusts: list | None
    failures: list


def take(cloud, registry, enrolled):
    """Return a Snapshot of the cloud. What several plugins observe is read only once.

    :param enrolled: {name of a pool: its Resources}.
    """
    cloud = caching_cloud.CachingCloud(cloud)
    pools, unfit, plugins, trusts, failures = {}, {}, {}, None, []
    for name, pool in registry.pools.items():
        with _noted(failures):
            observed = pool.observe(cloud)
            unfit[name] = pool.unfit(cloud, enrolled[name]) if enrolled[name] else {}
            pools[name] = observed
    for name, plugin in registry.plugins.items():
        with _noted(failures):
            plugins[name] = plugin.observe(cloud)
    with _noted(failures):
        trusts = cloud.as_service().keystone.trusts()
    return Snapshot(
        plugins=plugins, pools=pools, unfit=unfit, trusts=trusts, failures=failures,
        disabled=[each for name, pool in registry.pools.items()
                  if isinstance(pool, clearable.Clearable) and name in pools
                  for each in pool.disabled(pools[name])])


@contextlib.contextmanager
def _noted(failures):
    try:
        yield
    except errors.ClimateError as error:
        failures.append(error)
    except Exception as error:  # Outer loop: one part must not stop the others.
        LOG.exception('A part of the cloud cannot be audited')
        failures.append(error)
