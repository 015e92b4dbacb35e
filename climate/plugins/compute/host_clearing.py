# SPDX-License-Identifier: Apache-2.0
"""Clearing of hypervisors for a lease: Nova disables them and moves their servers."""
import collections
import dataclasses

from climate.domain import audit
from climate.domain.clearing import choice
from climate.domain.clearing import plans
from climate.domain.clearing import steps
from climate.plugins import clearable
from climate.plugins.compute import aggregates
from climate.plugins.compute import movable


class ClearableHosts(clearable.Clearable):
    """The methods of the host pool for host clearing."""

    cleared_by = 'Nova'

    def lent(self, cloud, reason):
        services = cloud.as_service()
        known_aggregates = services.nova.aggregates()
        hypervisors = services.nova.hypervisors()
        counts = collections.Counter(each.service_host for each in hypervisors)
        single = {each.service_host: each for each in hypervisors
                  if counts[each.service_host] == 1}
        snapshot = _HostSnapshot(reason, aggregates.foreign_zones(self.conf, known_aggregates),
                                 aggregates.enrolled_hosts(self.conf, known_aggregates), single,
                                 self.states(cloud))
        return clearable.Lent(
            hosts={host: snapshot.unusable(host) for aggregate in known_aggregates
                   for host in aggregate.hosts
                   if aggregate.name == self.conf.acquire.lent_aggregate},
            nodes={host: clearable.Node(hypervisor.name, hypervisor.availability_zone,
                                        snapshot.is_target(host))
                   for host, hypervisor in single.items()})

    def servers_on(self, cloud, service_hosts):
        return cloud.as_service().nova.servers_on(service_hosts)

    def server(self, cloud, server_id):
        return cloud.as_service().servers.server(server_id)

    def refusals(self, cloud, servers, project_id, leased, waited_for):
        rules = movable.MoveRules(project_id, self.conf.acquire.move_stopped, leased,
                                  cloud.as_service().flavors.groups())
        reasons = {each.id: rules.refusal(each, each.id in waited_for) for each in servers}
        return {key: reason for key, reason in reasons.items() if reason is not None}

    def destinations(self, cloud, lent, servers, tried):
        placement = cloud.as_service().placement
        shapes, unknown = _shapes(servers, placement.held(
            [name for name, host_servers in servers.items() if host_servers]))
        free_for = placement.candidates(set(shapes.values()))
        targets = _Targets(lent)
        return clearable.Destinations(
            servers={server.id: _to_be_moved(server, shapes[server.id], targets.of(
                server, free_for[shapes[server.id]], tried.get(server.id, ())))
                for name, host_servers in servers.items() if name not in unknown
                for server in host_servers},
            unknown=unknown,
            free={name: units for name, units in collections.ChainMap(*free_for.values()).items()
                  if name in targets.zones})

    def states(self, cloud):
        return {each.host: each for each in cloud.as_service().computes.every()}

    def barred(self, cloud, hosts):
        if not hosts:
            return frozenset()
        services = cloud.as_service()
        providers = services.placement.survey(list(hosts))
        return frozenset(hosts[name] for name, (traits, _) in providers.items()
                         if services.computes.BARRED in traits)

    def last_migration(self, cloud, server_id):
        return cloud.as_service().servers.last_migration(server_id)

    def disable(self, cloud, service_host, reason):
        return cloud.as_service().computes.disable(service_host, reason)

    def enable(self, cloud, service_host, reason):
        cloud.as_service().computes.enable(service_host, reason)

    def migrate(self, cloud, server_id, service_host):
        cloud.as_service().servers.migrate(server_id, service_host)

    def confirm_migration(self, cloud, server_id):
        cloud.as_service().servers.migrate(server_id)

    def as_enabled(self, cloud, found):
        barred = cloud.as_service().computes.BARRED
        traits = [trait for trait in found.facts.get('traits', '').split() if trait != barred]
        return dataclasses.replace(found, facts={**found.facts, 'traits': ' '.join(traits)})

    def disabled(self, observed):
        return [audit.Disabled(self.name, compute.host, f'service of {compute.host}',
                               compute.reason.removeprefix(plans.FENCE_PREFIX))
                for compute in observed.computes
                if not compute.enabled and (compute.reason or '').startswith(plans.FENCE_PREFIX)]


@dataclasses.dataclass(frozen=True)
class _HostSnapshot:
    """The state of all hosts in Nova.

    :ivar reason: the reason with which hosts are disabled for the lease.
    :ivar zones: {service host: the Aggregate whose zone prevents a lease of the host}.
    :ivar enrolled: the enrolled service hosts.
    :ivar hypervisors: {service host: its Hypervisor}, for service hosts with exactly one.
    :ivar computes: {service host: Compute}.
    """

    reason: str
    zones: dict
    enrolled: set
    hypervisors: dict
    computes: dict

    def unusable(self, service_host):
        """Return why a lent host cannot be cleared, regardless of its servers; None if it can."""
        compute = self.computes.get(service_host)
        if service_host not in self.hypervisors or compute is None:
            return 'Nova does not know exactly one hypervisor of it'
        if service_host in self.enrolled:
            return 'it is already enrolled or lent'
        zoned = self.zones.get(service_host)
        if zoned is not None:
            return f'the aggregate {zoned.name} puts it into the zone {zoned.zone}'
        if not compute.up:
            return 'its service is down'
        if not compute.enabled and compute.reason != self.reason:
            return f'its service is disabled ({compute.reason or "no reason given"})'
        return None

    def is_target(self, service_host):
        """Return whether servers of any project may go to the host."""
        compute = self.computes.get(service_host)
        return (service_host not in self.enrolled and compute is not None and compute.enabled
                and compute.up)


class _Targets:
    """The hosts to which servers may go.

    :ivar zones: {hypervisor name: zone} of these hosts.
    """

    def __init__(self, lent):
        self.zones = {node.name: node.zone for node in lent.nodes.values() if node.is_target}
        self._nodes = lent.nodes
        self._service_hosts = {}
        for service_host, node in lent.nodes.items():
            self._service_hosts.setdefault(node.name, service_host)

    def of(self, server, free, tried):
        """Return the names of the hosts to which a Server may go.

        :param free: the names of the hosts with enough free capacity.
        :param tried: the service hosts to which the server cannot go.
        """
        zone = self._nodes[server.host].zone
        return frozenset(name for name in free
                         if name in self.zones and self.zones[name] == zone
                         and self._service_hosts[name] not in {*tried, server.host})


def _shapes(servers, held):
    """Return ({server id: Shape}, {hypervisor name: why the shape of a server is unknown}).

    :param servers: {hypervisor name: the Servers that must leave it}.
    :param held: {hypervisor name: {server id: {resource class: units}}}.
    """
    shapes, unknown = {}, {}
    for name, host_servers in servers.items():
        allocations = held.get(name, {})
        for server in host_servers:
            if server.id not in allocations:
                unknown[name] = f'Placement has no allocation of server {server.id} on it'
                break
            shapes[server.id] = movable.shape_of(server, allocations[server.id])
    return shapes, unknown


def _to_be_moved(server, shape, targets):
    return choice.MovableServer(id=server.id, takes=dict(shape.resources), targets=targets,
                                memory_mb=server.flavor.ram, running=server.status != steps.STOPPED)
