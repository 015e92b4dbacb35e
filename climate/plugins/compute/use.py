# SPDX-License-Identifier: Apache-2.0
"""How much of leased hosts, instance capacity and servers is used: the servers that run there."""
import collections

from climate.domain import use_sampling

#: An extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'
# A server with one of these statuses does not run, unless something is being done to it.
_AT_REST = frozenset({'SHUTOFF', 'SUSPENDED', 'SHELVED', 'SHELVED_OFFLOADED', 'ERROR', 'DELETED',
                      'SOFT_DELETED'})


def runs(server):
    """Return whether a Server runs, or is about to."""
    return server.status not in _AT_REST or server.task is not None


def of_hosts(cloud, parts):
    """Return {key: Use} of whole hosts: the share of their vCPUs that running servers have."""
    servers, silent = _running(cloud)
    found = {}
    for part in parts:
        host = part.resource and part.resource.facts.get('service_name')
        if host is None or host in silent:
            continue
        there = [each for each in servers[host]
                 if each.hypervisor in (None, part.resource.name)]
        # A server whose flavor is not known counts as one vCPU.
        taken = sum(max(1, each.flavor.vcpus) if each.flavor else 1 for each in there)
        found[part.key] = use_sampling.of_share(taken, part.resource.capacity.get('vcpus', 0))
    return found


def of_capacity(cloud, parts):
    """Return {key: Use} of instance capacity: how many of its servers run, of those that may."""
    servers, silent = _running(cloud)
    counts = collections.Counter(
        (each.flavor.extra_specs.get(FLAVOR_KEY), host)
        for host, some in servers.items() for each in some if each.flavor)
    found = {}
    for part in parts:
        host = part.resource and part.resource.facts.get('service_name')
        if host is not None and host not in silent:
            found[part.key] = use_sampling.of_share(counts[part.reservation.id, host], part.copies)
    return found


def of_servers(cloud, parts):
    """Return {key: Use} of leased servers: all, or nothing while the server does not run."""
    known = {each.id: each for each in cloud.as_service().servers.every()}
    silent = _silent(cloud)
    found = {}
    for part in parts:
        server = known.get(part.reservation.leased_id)
        if server is not None and server.host not in silent:
            found[part.key] = use_sampling.of_share(int(runs(server)), 1)
    return found


def _running(cloud):
    """Return ({service host: the Servers that run there}, the hosts of cells without answer)."""
    by_host = collections.defaultdict(list)
    for each in cloud.as_service().servers.every():
        if each.host is not None and runs(each):
            by_host[each.host].append(each)
    return by_host, _silent(cloud)


def _silent(cloud):
    # Nova leaves the servers of such a cell out, or tells little of them.
    return {each.host for each in cloud.as_service().computes.every() if not each.answers}
