# SPDX-License-Identifier: Apache-2.0
"""The pool of hosts: hypervisors that an administrator enrolled."""
import collections
import dataclasses
import json

from climate import errors
from climate.plugins import base
from climate.plugins.compute import aggregates
from climate.plugins.compute import foreign
from climate.plugins.compute import host_audit
from climate.plugins.compute import host_clearing
from climate.plugins.compute import host_sleep
from climate.plugins.compute import shared_hosts

#: The key of the need of a reservation that has only one need for hosts.
NEED = 'hosts'


class HostPool(base.Pool, host_clearing.ClearableHosts, host_sleep.SleepingHosts):
    """Hypervisors that an administrator enrolled. Free ones are in Nova's freepool aggregate."""

    name = 'host'
    services = ('nova', 'placement')
    capacity_names = {'vcpus': 'vcpus', 'memory_mb': 'memory_mb', 'local_gb': 'disk_gb'}
    amount_names = {'vcpus': 'VCPU', 'memory_mb': 'MEMORY_MB', 'local_gb': 'DISK_GB'}
    fact_names = ('availability_zone', 'cpu_info', 'hypervisor_type', 'hypervisor_version',
                  'service_name', 'traits', shared_hosts.FACT)
    #: The greatest amount of each resource class of Placement that one server can have.
    fact_prefixes = ('max_unit:',)
    name_fact = 'hypervisor_hostname'
    identifying_names = frozenset({'hypervisor_hostname', 'service_name'})

    @classmethod
    def shown(cls, resource):
        facts = resource.facts
        version = facts.get('hypervisor_version', '')
        return {
            'service_name': facts.get('service_name'),
            'vcpus': resource.capacity.get('vcpus', 0),
            'memory_mb': resource.capacity.get('memory_mb', 0),
            'local_gb': resource.capacity.get('disk_gb', 0),
            'cpu_info': facts.get('cpu_info') or json.dumps(''),
            'hypervisor_type': facts.get('hypervisor_type'),
            'hypervisor_version': int(version) if version.isdigit() else 0,
            'availability_zone': facts.get('availability_zone'),
            'traits': facts.get('traits', '').split(),
        }

    def discover(self, cloud, name):
        services = cloud.as_service()
        return _found(services.nova.hypervisor(name), services.placement.traits(name),
                      services.placement.inventory(name))

    def identify(self, cloud, name, fields):
        if 'id' in fields:
            name = cloud.as_service().nova.hypervisor_name(fields['id'])
        return self.discover(cloud, name)

    def survey(self, cloud, resources):
        services = cloud.as_service()
        by_name = {resource.name: resource for resource in resources}
        hypervisors = services.nova.hypervisors()
        counts = collections.Counter(hypervisor.name for hypervisor in hypervisors)
        sharing = shared_hosts.sharing(hypervisors)
        # If hypervisors in different cells share a name, it is not known which one is enrolled.
        unique = {each.name: each for each in hypervisors
                  if each.name in by_name and counts[each.name] == 1}
        return {name: _found(self._zoned_as_before(unique[name], by_name[name]), traits, inventory,
                             sharing=len(sharing.get(unique[name].service_host, ())))
                for name, (traits, inventory) in services.placement.survey(list(unique)).items()}

    def unfit(self, cloud, resources):
        # `audit` reports unknown hosts.
        return {}

    def _zoned_as_before(self, hypervisor, resource):
        """Return the Hypervisor with the zone that it has outside of leases."""
        prefix = self.conf.nova.availability_zone_prefix
        zone = hypervisor.availability_zone
        leased = resource.held_by is not None or (prefix and zone and zone.startswith(prefix))
        if zone is not None and not leased:
            return hypervisor
        return dataclasses.replace(hypervisor,
                                   availability_zone=resource.facts.get('availability_zone'))

    def failing(self, cloud, resources):
        hosts = {each.id: each.facts['service_name'] for each in resources}
        computes = {compute.host: compute for compute in
                    cloud.as_service().computes.of_hosts(sorted(hosts.values()))}
        reasons = {each.id: shared_hosts.why_failing(each) or _why_failing(
            computes.get(hosts[each.id])) for each in resources}
        return {key: reason for key, reason in reasons.items() if reason is not None}

    def unhealthy(self, cloud, resources):
        reasons, services = self.failing(cloud, resources), cloud.as_service()
        others = [resource for resource in resources if resource.id not in reasons]
        providers = services.placement.survey([each.name for each in others]) if others else {}
        for resource in others:
            if resource.name not in providers:
                reasons[resource.id] = 'Placement has no provider for it'
            elif services.computes.BARRED in providers[resource.name][0]:
                reasons[resource.id] = f'its provider has the trait {services.computes.BARRED}'
        return reasons

    def close(self, cloud, resource, reason):
        cloud.as_service().computes.disable(resource.facts['service_name'], reason)

    def reopen(self, cloud, resource, reason):
        cloud.as_service().computes.enable(resource.facts['service_name'], reason)

    def disturbed(self, cloud, held):
        return foreign.disturbed(cloud.as_service(), held)

    def admit(self, cloud, found):
        services = cloud.as_service()
        service_host = found.facts['service_name']
        shared_hosts.refuse(services.nova, self.name, found.name, service_host)
        self._refuse_in_use(services, found.name, service_host)
        self._refuse_awaited(services, found.name)
        self._refuse_zoned(services, found.name, service_host)
        freepool = services.nova.ensure_aggregate(self.conf.nova.aggregate_freepool)
        services.nova.add_hosts(freepool, [service_host])
        try:
            # Check again, because a server may have been placed before the filter refused it.
            self._refuse_in_use(services, found.name, service_host)
            self._refuse_awaited(services, found.name)
        except errors.ResourceInUse:
            services.nova.remove_hosts(freepool, [service_host])
            raise
        services.placement.ensure_child(found.name, self._child(found.name))

    def check_dismissal(self, cloud, resource):
        self._refuse_in_use(cloud.as_service(), resource.name, resource.facts['service_name'],
                            with_others=False)

    def dismiss(self, cloud, resource):
        self.check_dismissal(cloud, resource)
        services = cloud.as_service()
        service_host = resource.facts['service_name']
        freepool = services.nova.aggregate(self.conf.nova.aggregate_freepool)
        if freepool is not None:
            services.nova.remove_hosts(freepool, [service_host])
        # Keep the child provider, because Nova caches providers. Builds on the host would fail
        # until the cache expires.
        services.placement.empty_child(self._child(resource.name))

    def mend(self, cloud, resource):
        services = cloud.as_service()
        services.placement.ensure_child(resource.name, self._child(resource.name))
        freepool = services.nova.ensure_aggregate(self.conf.nova.aggregate_freepool)
        if resource.held_by is None and resource.facts['service_name'] not in freepool.hosts:
            self.admit(cloud, self.discover(cloud, resource.name))

    def observe(self, cloud):
        return host_audit.observe(self.conf, cloud)

    def audit(self, observed, resources, enrolled):
        freepool = aggregates.named(observed.aggregates, self.conf.nova.aggregate_freepool)
        return host_audit.HostComparison(self.name, observed, freepool, self._child).drifts(
            resources, enrolled)

    def _child(self, name):
        return child_name(self.conf, name)

    def _refuse_zoned(self, services, name, service_host):
        all_aggregates = services.nova.aggregates()
        leased = next((aggregate for aggregate in all_aggregates if service_host in aggregate.hosts
                       and aggregates.reserves(self.conf, aggregate)), None)
        if leased is not None:
            raise errors.ResourceInUse(pool=HostPool.name, resource=name, reason=(
                f'it is in the aggregate {leased.name} of a reservation. "climate-manager audit" '
                'says whether the reservation is over; take the host out of the aggregate then.'))
        zoned = aggregates.foreign_zones(self.conf, all_aggregates).get(service_host)
        if zoned is not None:
            raise errors.ResourceInUse(pool=HostPool.name, resource=name, reason=(
                f'the aggregate {zoned.name} puts it into the zone {zoned.zone}, and a lease would '
                'put it into another zone. Take it out of that aggregate first, or set [nova] '
                'reservation_zone = where_none.'))

    @staticmethod
    def _refuse_in_use(services, name, service_host, with_others=True):
        """Refuse a host with servers.

        :param with_others: True if servers on other hypervisors of the service host count, too.
        """
        servers = [server for server in services.nova.servers_on([service_host])
                   if with_others or server.hypervisor in (None, name)]
        if servers:
            raise errors.ResourceInUse(pool=HostPool.name, resource=name, reason=(
                f'servers run on it ({len(servers)}). Migrate or delete them first.'))

    @staticmethod
    def _refuse_awaited(services, name):
        """Refuse a host to which servers are being built or moved.

        Nova does not list such a server on the host yet. Placement already lists its allocation,
        because Nova scheduled the server before the filter closed the host.
        """
        arriving = [server_id for server_id in services.placement.held([name]).get(name, ())
                    if services.servers.server(server_id) is not None]
        if arriving:
            raise errors.ResourceInUse(pool=HostPool.name, resource=name, reason=(
                f'servers are being built on it or moved to it ({len(arriving)}). Wait '
                'until they have arrived, then migrate or delete them.'))


def _why_failing(compute):
    """Return why no server can start on the host of a Compute, or None.

    :param compute: the Compute; None if Nova does not know it.
    """
    if compute is None:
        return 'Nova does not know its service'
    if not compute.enabled:
        return f'its service is disabled in Nova: {compute.reason or "no reason given"}'
    return None if compute.up else 'its service is down'


def _found(hypervisor, traits, inventory, sharing=0):
    """Return a hypervisor as a Found.

    :param sharing: the number of hypervisors of its service host; 0 if it has only this one.
    """
    facts = {
        shared_hosts.FACT: str(sharing) if sharing else None,
        'availability_zone': hypervisor.availability_zone,
        'cpu_info': hypervisor.cpu_info,
        'hypervisor_type': hypervisor.hypervisor_type,
        'hypervisor_version': str(hypervisor.hypervisor_version),
        'service_name': hypervisor.service_host,
        'traits': ' '.join(sorted(traits)),
        **{f'max_unit:{name}': str(units['max_unit']) for name, units in inventory.items()},
    }
    capacity = {'vcpus': hypervisor.vcpus, 'memory_mb': hypervisor.memory_mb,
                'disk_gb': hypervisor.disk_gb,
                **{name: int((units['total'] - units['reserved']) * units['allocation_ratio'])
                   for name, units in inventory.items()}}
    return base.Found(name=hypervisor.name, capacity=capacity,
                      facts={key: text for key, text in facts.items() if text is not None})


def child_name(conf, name):
    """Return the name of the child provider that has the slots on a hypervisor."""
    return conf.placement.provider_prefix + name
