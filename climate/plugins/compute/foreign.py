# SPDX-License-Identifier: Apache-2.0
"""Foreign servers: servers on enrolled hosts that Climate's scheduler filter did not admit.

An administrator can force a server onto a host past the scheduler's filters. A scheduler that lacks
Climate's filter places servers of any project there.
"""
import collections

from climate.domain import audit
from climate.plugins.compute import aggregates
from climate.plugins.compute import parent_marks
from climate.plugins.compute import use
from climate.plugins.compute.servers import nova_server

# The scheduler hint with the ids of reservations.
_HINT = 'reservation'
# Above this number of hosts, one list of all servers is cheaper than one list for each host.
_MOST_HOST_LISTS = 50


def on_leased(servers, project_id, aggregate, names):
    """Return the Servers that were not admitted under a reservation of whole hosts.

    Since 2025.1, Nova shows the hints with which a server was booted. With an older Nova, only the
    project of the server decides.

    :param project_id: the project of the lease.
    :param aggregate: the Aggregate of the reservation, whose metadata has the ids of the other
        projects that share it. None if it is gone; then all servers that were booted with the
        reservation count as admitted.
    :param names: the ids of the reservation and of its lease, which hints can contain.
    """
    if aggregate is not None:
        names = {*names, *aggregates.former_leases(aggregate)}

    def is_admitted(server):
        is_own = server.project_id == project_id
        if server.hints is None:
            return is_own or (aggregate is not None
                              and aggregates.admits(aggregate, server.project_id))
        return booted_with(server, names) and (
            is_own or aggregate is None or aggregates.admits(aggregate, server.project_id))
    return [server for server in servers if not is_admitted(server)]


def booted_with(server, names):
    """Return whether a hint or the flavor of a Server has one of these ids."""
    hints = server.hints or {}
    flavor = () if server.flavor is None else (server.flavor.extra_specs.get(use.FLAVOR_KEY),)
    return not set(names).isdisjoint((*hints.get(_HINT, ()), *flavor))


def without_parents(servers, aggregate):
    """Return the Servers without those that were booted with the parent of a sub-lease.

    :param aggregate: the Aggregate of the reservation, whose metadata names the parent, if any.
    """
    names = parent_marks.names(aggregate)
    if not names:
        return servers
    project_id = aggregate.metadata.get(parent_marks.PROJECT)
    return [server for server in servers if not (
        server.project_id == project_id if server.hints is None
        else booted_with(server, names))]


def on_pooled(servers):
    """Return the Servers without a reservation, for hosts that are not leased as a whole.

    If Nova does not show the flavor of a server, the server is not returned.
    """
    return [server for server in servers
            if server.flavor is not None and use.FLAVOR_KEY not in server.flavor.extra_specs
            and not {nova_server.LEASE_KEY, nova_server.RESERVATION_KEY} & server.metadata.keys()]


def drifts(servers, where):
    """Return foreign Servers as Drifts.

    :param where: the location in words, such as 'the freepool'.
    """
    return [audit.Drift('foreign server', f'server {each.id}', (
        f'of project {each.project_id} on host {each.host} of {where}, although the filter of '
        'Climate did not admit it: somebody forced it there, or nova-scheduler lacks the filter'))
            for each in servers]


def disturbed(services, held):
    """Return {resource id: why} of the hosts with foreign servers, as ``Pool.disturbed``."""
    hosts = sorted({each.resource.facts['service_name'] for each in held})
    servers = (services.nova.servers_on(hosts) if len(hosts) <= _MOST_HOST_LISTS
               else services.servers.every())
    by_name = {aggregate.name: aggregate for aggregate in services.nova.aggregates()}
    by_host = collections.defaultdict(list)
    for server in servers:
        by_host[server.host].append(server)
    reasons = {}
    for record in held:
        resource = record.resource
        candidates = [server for server in by_host[resource.facts['service_name']]
                      if server.hypervisor in (None, resource.name)]
        foreign_servers = _foreign_servers(
            candidates, record, by_name.get(record.reservation_id))
        if foreign_servers:
            reasons[resource.id] = (
                f'foreign servers are on it: {", ".join(server.id for server in foreign_servers)}')
    return reasons


def _foreign_servers(servers, held, aggregate):
    if not held.whole:
        return on_pooled(servers)
    # If the aggregate is missing, audits report the reservation as incomplete.
    return [] if aggregate is None else on_leased(
        without_parents(servers, aggregate), held.project_id, aggregate,
        {held.reservation_id, held.lease_id})
