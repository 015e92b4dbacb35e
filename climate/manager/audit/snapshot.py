# SPDX-License-Identifier: Apache-2.0
"""The cloud snapshot: all that plugins and pools observe in the cloud in one pass."""
import contextlib
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import caching_cloud
from climate.plugins import clearable

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class CloudSnapshot:
    """The observations of plugins and pools; those whose service failed are missing.

    :ivar plugins: {resource type: the observation of its plugin}.
    :ivar pools: {name: the observation of the pool}.
    :ivar unfit: {name of a pool: {name: why}} of resources that could not be enrolled now.
    :ivar disabled: the hosts disabled for the clearing of a lease, as ``domain.audit.Disabled``.
    :ivar trusts: the Trusts that users gave to Climate; None if Keystone failed.
    :ivar failures: the errors of the observations that are missing.
    """

    plugins: dict
    pools: dict
    unfit: dict
    disabled: list
    trusts: list | None
    failures: list


def take(cloud, registry, enrolled):
    """Return a CloudSnapshot. If several plugins observe the same objects, they are read once.

    :param enrolled: {name of a pool: its Resources}.
    """
    cloud = caching_cloud.CachingCloud(cloud)
    pools, unfit, plugins, trusts, failures = {}, {}, {}, None, []
    for name, pool in registry.pools.items():
        with _collected(failures):
            observed = pool.observe(cloud)
            unfit[name] = pool.unfit(cloud, enrolled[name]) if enrolled[name] else {}
            pools[name] = observed
    for name, plugin in registry.plugins.items():
        with _collected(failures):
            plugins[name] = plugin.observe(cloud)
    with _collected(failures):
        trusts = cloud.as_service().keystone.trusts()
    return CloudSnapshot(
        plugins=plugins, pools=pools, unfit=unfit, trusts=trusts, failures=failures,
        disabled=[host for name, pool in registry.pools.items()
                  if isinstance(pool, clearable.Clearable) and name in pools
                  for host in pool.disabled(pools[name])])


@contextlib.contextmanager
def _collected(failures):
    try:
        yield
    except errors.ClimateError as error:
        failures.append(error)
    except Exception as error:  # Outer loop: one observation must not stop the others.
        LOG.exception('A part of the cloud cannot be audited')
        failures.append(error)
