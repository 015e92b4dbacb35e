# SPDX-License-Identifier: Apache-2.0
"""The survey for host clearing: lent hosts that could be cleared, and targets of their servers."""
import collections
import dataclasses

from climate.db import reservations
from climate.domain import records
from climate.domain import requirement
from climate.domain.clearing import choice
from climate.domain.clearing import plans
from climate.domain.clearing import steps
from climate.manager.booking import criteria
from climate.manager.clearing import movable
from climate.plugins.compute import host_pool

_SERVICE_NAME = 'service_name'


@dataclasses.dataclass(frozen=True)
class Survey:
    """The result of a survey.

    :ivar hosts: {hypervisor name: choice.Host} of the hosts that could be cleared.
    :ivar out: {hypervisor name, or service host: why it cannot be cleared} of the other lent hosts.
    :ivar free: {hypervisor name: {resource class: units}} of all hosts that could take servers.
    :ivar service_hosts: {hypervisor name: service host}.
    :ivar own: the ids of the project's own servers on lent hosts.
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
        self._conf = core.conf.acquire
        self._pool = host_pool.HostPool.name

    def look(self, lease, plan=None):
        """Return a Survey of the present cloud for a lease.

        Hosts whose compute service was disabled for this lease stay in the survey.

        :param plan: the plans.Plan that is being followed. Servers that are already moving are
            left out, and no server gets a target again to which it could not be moved before.
        """
        reading = _Reading(self._core, lease)
        known = plan.hosts if plan else ()
        moves = {move.server_id: move for host in known for move in host.moves}
        reclaimed = {host.service_host: host.why for host in known if host.reclaimed}
        out, able = {}, {}
        for service_host in reading.lent:
            node = reading.nodes.get(service_host)
            reason = reclaimed.get(service_host) or reading.unusable(service_host)
            if reason is not None:
                out[node.name if node else service_host] = reason
            else:
                able[node.name] = service_host
        there = reading.services.nova.servers_on(list(able.values()))
        servers = self._servers(reading, able, there, out, moves)
        shapes = self._shapes(reading, servers, out)
        free_for = reading.services.placement.candidates(set(shapes.values()))
        hosts = {}
        for name in able:
            if name not in out:
                hosts[name] = choice.Host(name, tuple(
                    self._load(reading, server, shapes[server.id], free_for,
                               moves.get(server.id))
                    for server in servers[name]))
        free = collections.ChainMap(*free_for.values()) if free_for else {}
        return Survey(hosts, out, {name: units for name, units in free.items()
                                   if name in reading.targets},
                      {node.name: key for key, node in reading.nodes.items()},
                      tuple(sorted(each.id for each in there
                                   if each.project_id == reading.project_id)))

    def meeting(self, names, need):
        """Return the hosts, by hypervisor name, that meet the criteria of a Need.

        If the criteria ask for names, no host meets them. Otherwise anybody could find out which
        hosts exist.
        """
        pool = self._core.registry.pool(self._pool)
        if requirement.names(need.requirement) & {pool.name_fact, _SERVICE_NAME}:
            return set()
        found = pool.survey(self._core.cloud, [
            records.Resource(id=0, pool=self._pool, name=name, capacity={}) for name in names])
        return {name for name, each in found.items() if criteria.met_by(self._core, need, each)}

    def _servers(self, reading, able, everything, out, moves):
        """Return {hypervisor name: the Servers that must leave it}.

        A host with a server that must stay goes into `out` instead.
        """
        with self._core.database.reader() as connection:
            leased = set(reservations.leasing(connection, [each.id for each in everything]))
        rules = movable.Rules(reading.project_id, self._conf.move_stopped, leased,
                              reading.services.flavors.groups())
        found = {}
        for name, service_host in able.items():
            mine = [each for each in everything if each.host == service_host
                    and not _is_on_its_way(moves.get(each.id), each)]
            reason = next(filter(None, (rules.refusal(each, _is_waited_for(
                moves.get(each.id), each)) for each in mine)), None)
            if reason is not None:
                out[name] = reason
            else:
                found[name] = mine
        return found

    @staticmethod
    def _shapes(reading, servers, out):
        """Return {server id: Shape}; a host with a server of unknown shape goes into `out`."""
        shapes = {}
        held = reading.services.placement.held([name for name, mine in servers.items() if mine])
        for name, mine in servers.items():
            known = held.get(name, {})
            for server in mine:
                if server.id not in known:
                    out[name] = f'Placement does not say what server {server.id} takes'
                    break
                shapes[server.id] = movable.shape_of(server, known[server.id])
        return shapes

    @staticmethod
    def _load(reading, server, shape, free_for, move):
        zone = reading.nodes[server.host].availability_zone
        targets = {name for name in free_for[shape]
                   if name in reading.targets and reading.targets[name] == zone}
        tried = set(move.tried) if move is not None else set()
        return choice.Server(
            id=server.id, takes=dict(shape.resources),
            targets=frozenset(name for name in targets
                              if reading.service_host(name) not in tried | {server.host}),
            memory_mb=server.flavor.ram, running=server.status != steps.STOPPED)


class _Reading:
    """The facts that a survey reads from the cloud once, before it looks at the servers.

    :ivar project_id: the project of the lease.
    :ivar lent: the service hosts that are lent, in order.
    :ivar nodes: {service host: its Hypervisor}, for service hosts with exactly one.
    :ivar targets: {hypervisor name: zone} of the hosts that may take servers of any project.
    """

    def __init__(self, core, lease):
        self.services = core.cloud.as_service()
        self.project_id = lease.project_id
        self._fence = plans.fence_of(lease.id)
        nova = self.services.nova
        self._aggregates = nova.aggregates()
        self.lent = [host for each in self._aggregates for host in each.hosts
                     if each.name == core.conf.acquire.lent_aggregate]
        self._enrolled = host_pool.enrolled_hosts(core.conf, core.cloud)
        nodes = nova.hypervisors()
        counts = collections.Counter(each.service_host for each in nodes)
        self.nodes = {each.service_host: each for each in nodes
                      if counts[each.service_host] == 1}
        self._computes = {each.host: each for each in self.services.computes.every()}
        self.targets = {node.name: node.availability_zone for host, node in self.nodes.items()
                        if host not in self._enrolled and self._is_open(host)}

    def service_host(self, name):
        """Return the service host of a hypervisor."""
        return next(key for key, node in self.nodes.items() if node.name == name)

    def unusable(self, service_host):
        """Return why a lent host cannot be cleared, regardless of its servers; None if it can."""
        compute = self._computes.get(service_host)
        if service_host not in self.nodes or compute is None:
            return 'Nova does not know one hypervisor of it'
        if service_host in self._enrolled:
            return 'it is enrolled, or lent already'
        zoned = [each for each in self._aggregates if each.zone and service_host in each.hosts]
        if zoned:
            return f'it is in the zone {zoned[0].zone} by the aggregate {zoned[0].name}'
        if not compute.up:
            return 'its service is down'
        if not compute.enabled and compute.reason != self._fence:
            return f'its service is disabled ({compute.reason or "no reason given"})'
        return None

    def _is_open(self, service_host):
        compute = self._computes.get(service_host)
        return compute is not None and compute.enabled and compute.up


def _is_on_its_way(move, server):
    """Return True for a server that is being moved away and needs no plan any more."""
    return move is not None and move.state == plans.MOVING and move.source == server.host


def _is_waited_for(move, server):
    """Return True for a server that is to leave its host and is busy for a moment."""
    return (move is not None and move.state == plans.PLANNED and move.source == server.host
            and move.busy_since is not None)
