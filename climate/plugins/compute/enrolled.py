# SPDX-License-Identifier: Apache-2.0
"""The hosts that are enrolled, as Nova's aggregates show them."""
from climate.plugins.compute import aggregates


def service_hosts(conf, cloud, but_of=None):
    """Return the set of service hosts that are enrolled, with leased ones.

    :param but_of: the id of a project; hosts that it has leased as a whole are left out.
    """
    owner = conf.nova.aggregate_owner_key
    return {host for each in cloud.as_service().nova.aggregates() for host in each.hosts
            if each.name == conf.nova.aggregate_freepool
            or (aggregates.reserves(conf, each)
                and (but_of is None or each.metadata.get(owner) != but_of))}
