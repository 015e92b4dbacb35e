# SPDX-License-Identifier: Apache-2.0
"""Foreign servers: those on enrolled hosts that Nova's scheduler could not have put there.

An administrator can force a server onto a host past the scheduler's filters. A scheduler that lacks
Climate's filter puts anybody's servers there.
"""
import collections

from climate.domain import audit
from climate.plugins.compute.servers import leased

# An extra spec by which a flavor belongs to a reservation, so that its servers may be on a host.
_FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'
# The scheduler hint with the ids of reservations.
_HINT = 'reservation'
# Above this number of hosts, one list of all servers is cheaper than one list for each host.
_FEW = 50


def on_leased(servers, project_id, aggregate, names):
    """Return the Servers that were not admitted under a reservation of whole hosts.

    Nova tells since 2025.1 with which hints a server was booted. Of an older Nova, only the project
    of a server is known.

    :param project_id: the project of the lease. The aggregate may be shared with others, as the
        filter has it: their ids are keys of its metadata.
    :param aggregate: the Aggregate of the reservation; None: it is gone.
    :param names: the ids by which a hint can name the reservation: its own, and that of its lease.
    """
    return [each for each in servers if not (
        (each.project_id == project_id
         or (aggregate is not None and aggregate.metadata.get(each.project_id)))
        and (each.hints is None or booted_with(each, names)))]


def booted_with(server, names):
    """Return whether a hint or the flavor of a Server names one of these ids.

    Hints are not known of servers of an older Nova.
    """
    hints = server.hints or {}
    flavor = () if server.flavor is None else (server.flavor.extra_specs.get(_FLAVOR_KEY),)
    return not set(names).isdisjoint((*hints.get(_HINT, ()), *flavor))


def on_pooled(servers):
    """Return the Servers on hosts that are leased to nobody as a whole and use no reservation.

    A server whose flavor Nova does not show counts as one with a reservation.
    """
    return [each for each in servers
            if each.flavor is not None and _FLAVOR_KEY not in each.flavor.extra_specs
            and not {leased.LEASE_KEY, leased.RESERVATION_KEY} & each.metadata.keys()]


def drifts(servers, where):
    """Return foreign Servers as Drifts.

    :param where: the place in words, such as 'the freepool'.
    """
    return [audit.Drift('foreign server', f'server {each.id}', (
        f'of project {each.project_id} on host {each.host} of {where}, which did not admit it; was '
        'it forced there, or does nova-scheduler lack the filter of Climate?')) for each in servers]


def disturbed(services, held):
    """Return {resource id: why} of the Helds with foreign servers, as ``Pool.disturbed``."""
    hosts = sorted({each.resource.facts['service_name'] for each in held})
    servers = (services.nova.servers_on(hosts) if len(hosts) <= _FEW
               else services.servers.every())
    aggregates = {each.name: each for each in services.nova.aggregates()}
    by_host = collections.defaultdict(list)
    for each in servers:
        by_host[each.host].append(each)
    found = {}
    for each in held:
        there = [server for server in by_host[each.resource.facts['service_name']]
                 if server.hypervisor in (None, each.resource.name)]
        strangers = _strangers(there, each, aggregates.get(each.reservation_id))
        if strangers:
            found[each.resource.id] = (
                f'foreign servers are on it: {", ".join(server.id for server in strangers)}')
    return found


def _strangers(servers, held, aggregate):
    if not held.whole:
        return on_pooled(servers)
    # What has no aggregate is incomplete, which audits report.
    return [] if aggregate is None else on_leased(
        servers, held.project_id, aggregate, {held.reservation_id, held.lease_id})
