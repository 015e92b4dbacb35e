# SPDX-License-Identifier: Apache-2.0
"""Survey the lent hosts that could be cleared for a lease, and the targets for their servers.

Ordinary servers run on a lent host until it is cleared for a lease.
"""
import dataclasses

from climate.db import reservations
from climate.domain import records
from climate.domain import requirement
from climate.domain.clearing import choice
from climate.domain.clearing import plans
from climate.manager.booking import criteria


@dataclasses.dataclass(frozen=True)
class HostSurvey:
    """The result of a survey.

    :ivar hosts: {host name: choice.ClearableHost} of the hosts that could be cleared.
    :ivar out: {host name, or service host: the reason} of lent hosts that cannot be cleared.
    :ivar free: {host name: {resource class: units}} of all hosts that could take servers.
    :ivar service_hosts: {host name: service host}.
    :ivar own: the ids of servers on lent hosts that belong to the project of the lease.
    """

    hosts: dict
    out: dict
    free: dict
    service_hosts: dict
    own: tuple


class Surveyor:
    """Surveys the lent hosts; it only reads the cloud."""

    def __init__(self, core):
        self._core = core

    def survey(self, lease, plan=None):
        """Return a HostSurvey of the present cloud for a lease.

        Hosts that were disabled for this lease are included.

        :param plan: the plans.ClearingPlan in progress. Servers that are already moving are left
            out, and targets to which a server could not be moved are not tried again.
        """
        planned_hosts = plan.hosts if plan else ()
        moves = {move.server_id: move for host in planned_hosts for move in host.moves}
        reclaimed = {host.service_host: host.why for host in planned_hosts if host.reclaimed}
        lent = self._pool.lent(self._core.cloud, plans.fence_of(lease.id))
        out, able = {}, {}
        for service_host, unusable in lent.hosts.items():
            node = lent.nodes.get(service_host)
            reason = reclaimed.get(service_host) or unusable
            if reason is not None:
                out[node.name if node else service_host] = reason
            else:
                able[node.name] = service_host
        present = self._pool.servers_on(self._core.cloud, list(able.values()))
        servers = self._servers(lease, able, present, out, moves)
        destinations = self._pool.destinations(self._core.cloud, lent, servers, {
            server_id: move.tried for server_id, move in moves.items()})
        out |= destinations.unknown
        hosts = {name: choice.ClearableHost(name, tuple(destinations.servers[each.id]
                                                        for each in servers[name]))
                 for name in able if name not in out}
        return HostSurvey(
            hosts=hosts, out=out, free=destinations.free,
            service_hosts={node.name: key for key, node in lent.nodes.items()},
            own=tuple(sorted(each.id for each in present if each.project_id == lease.project_id)))

    def meeting(self, names, need):
        """Return the names of the hosts that meet the criteria of a Need.

        Criteria on names are never met, because users could find out the names of hosts by them.
        """
        pool = self._pool
        if requirement.names(need.requirement) & pool.identifying_names:
            return set()
        surveyed = pool.survey(self._core.cloud, [
            records.Resource(id=0, pool=pool.name, name=name, capacity={}) for name in names])
        return {name for name, each in surveyed.items() if criteria.met_by(self._core, need, each)}

    @property
    def _pool(self):
        return self._core.registry.clearable_pool()

    def _servers(self, lease, able, present, out, moves):
        """Return {host name: the Servers that must leave it}.

        Add a host with a server that must stay to `out` instead.
        """
        with self._core.database.reader() as connection:
            leased = set(reservations.leasing(connection, [each.id for each in present]))
        leaving = [each for each in present if not _is_moving(moves.get(each.id), each)]
        waited_for = {each.id for each in leaving if _is_waited_for(moves.get(each.id), each)}
        refusals = self._pool.refusals(self._core.cloud, leaving, lease.project_id, leased,
                                       waited_for)
        by_host = {}
        for name, service_host in able.items():
            servers = [each for each in leaving if each.host == service_host]
            reason = next((refusals[each.id] for each in servers if each.id in refusals), None)
            if reason is not None:
                out[name] = reason
            else:
                by_host[name] = servers
        return by_host


def _is_moving(move, server):
    """Return True if a server is being moved off its host, so that it needs no target."""
    return move is not None and move.state == plans.MOVING and move.source == server.host


def _is_waited_for(move, server):
    """Return True if a planned move waits for another task of the server."""
    return (move is not None and move.state == plans.PLANNED and move.source == server.host
            and move.busy_since is not None)
