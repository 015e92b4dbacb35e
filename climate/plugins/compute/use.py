# SPDX-License-Identifier: Apache-2.0
"""The use of leased hosts, instance capacity and servers, measured by the running servers."""
import collections

from climate.domain import use_sampling

#: An extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'
# A server with one of these statuses does not run, unless a change of it is in progress.
_AT_REST = frozenset({'SHUTOFF', 'SUSPENDED', 'SHELVED', 'SHELVED_OFFLOADED', 'ERROR', 'DELETED',
                      'SOFT_DELETED'})


def runs(server):
    """Return whether a Server runs or is being changed."""
    return server.status not in _AT_REST or server.task is not None


def of_hosts(cloud, parts):
    """Return {key: Use} of whole hosts: the share of their vCPUs that running servers use."""
    servers, silent = _running(cloud)
    shares = {}
    for part in parts:
        host = part.resource and part.resource.facts.get('service_name')
        if host is None or host in silent:
            continue
        own_servers = [server for server in servers[host]
                       if server.hypervisor in (None, part.resource.name)]
        # A server whose flavor is not known counts as one vCPU.
        vcpus = sum(max(1, server.flavor.vcpus) if server.flavor else 1 for server in own_servers)
        shares[part.key] = use_sampling.of_share(vcpus, part.resource.capacity.get('vcpus', 0))
    return shares


def of_capacity(cloud, parts):
    """Return {key: Use} of instance capacity: the share of slots that running servers use."""
    servers, silent = _running(cloud)
    counts = collections.Counter(
        (server.flavor.extra_specs.get(FLAVOR_KEY), host)
        for host, host_servers in servers.items() for server in host_servers if server.flavor)
    shares = {}
    for part in parts:
        host = part.resource and part.resource.facts.get('service_name')
        if host is not None and host not in silent:
            shares[part.key] = use_sampling.of_share(counts[part.reservation.id, host], part.copies)
    return shares


def of_servers(cloud, parts):
    """Return {key: Use} of leased servers: 1 while the server runs, else 0."""
    servers = {server.id: server for server in cloud.as_service().servers.every()}
    silent = _silent(cloud)
    shares = {}
    for part in parts:
        server = servers.get(part.reservation.leased_id)
        if server is not None and server.host not in silent:
            shares[part.key] = use_sampling.of_share(int(runs(server)), 1)
    return shares


def _running(cloud):
    """Return ({service host: its running Servers}, the hosts of cells that do not answer)."""
    by_host = collections.defaultdict(list)
    for server in cloud.as_service().servers.every():
        if server.host is not None and runs(server):
            by_host[server.host].append(server)
    return by_host, _silent(cloud)


def _silent(cloud):
    """Return the service hosts whose cell does not answer, so that their servers are not known."""
    return {compute.host for compute in cloud.as_service().computes.every()
            if not compute.answers}
