# SPDX-License-Identifier: Apache-2.0
"""Pools that several plugins draw from."""
import collections
import dataclasses

from climate import errors
from climate.plugins import base


class HostPool(base.Pool):
    """Hypervisors that an administrator enrolled, kept in the freepool aggregate of Nova."""

    name = 'host'
    capacity_names = {'vcpus': 'vcpus', 'memory_mb': 'memory_mb', 'local_gb': 'disk_gb'}
    fact_names = ('availability_zone', 'cpu_info', 'hypervisor_type', 'hypervisor_version',
                  'service_name', 'traits')
    #: Of each class of Placement: how much of it one server can have.
    fact_prefixes = ('max_unit:',)
    name_fact = 'hypervisor_hostname'

    def discover(self, cloud, name):
        services = cloud.as_service()
        return _found(services.nova.hypervisor(name), services.placement.traits(name),
                      services.placement.inventory(name))

    def survey(self, cloud, resources):
        services = cloud.as_service()
        wanted = {resource.name: resource for resource in resources}
        hypervisors = [each for each in services.nova.hypervisors() if each.name in wanted]
        counts = collections.Counter(each.name for each in hypervisors)
        # Of two of one name, in different cells, nobody can say which one was enrolled.
        single = {each.name: each for each in hypervisors if counts[each.name] == 1}
        return {name: _found(self._zoned_as_before(single[name], wanted[name]), *said)
                for name, said in services.placement.survey(list(single)).items()}

    def _zoned_as_before(self, hypervisor, resource):
        """The Hypervisor with its own zone, also while a lease has given it another."""
        prefix = self.conf.nova.availability_zone_prefix
        zone = hypervisor.availability_zone
        leased = resource.held_by is not None or (prefix and zone and zone.startswith(prefix))
        if zone is not None and not leased:
            return hypervisor
        return dataclasses.replace(hypervisor,
                                   availability_zone=resource.facts.get('availability_zone'))

    def admit(self, cloud, found):
        services = cloud.as_service()
        service_host = found.facts['service_name']
        self._refuse_in_use(services, found.name, service_host)
        self._refuse_zoned(services, found.name, service_host)
        freepool = services.nova.ensure_aggregate(self.conf.nova.aggregate_freepool)
        services.nova.add_hosts(freepool, [service_host])
        try:
            # Once more, now that the filter keeps others off: one may have slipped in before.
            self._refuse_in_use(services, found.name, service_host)
        except errors.HostInUse:
            services.nova.remove_hosts(freepool, [service_host])
            raise
        services.placement.ensure_child(found.name, self._child(found.name))

    def dismiss(self, cloud, resource):
        services = cloud.as_service()
        service_host = resource.facts['service_name']
        self._refuse_in_use(services, resource.name, service_host)
        freepool = services.nova.aggregate(self.conf.nova.aggregate_freepool)
        if freepool is not None:
            services.nova.remove_hosts(freepool, [service_host])
        # Emptied, not deleted: builds on the host would fail until Nova's cache forgets the child.
        services.placement.empty_child(self._child(resource.name))

    def _child(self, name):
        return child_name(self.conf, name)

    @staticmethod
    def _refuse_zoned(services, name, service_host):
        # A lease puts its hosts into a zone of its own, and Nova allows one zone for a host.
        zoned = [aggregate for aggregate in services.nova.aggregates()
                 if aggregate.zone and service_host in aggregate.hosts]
        if zoned:
            raise errors.HostInUse(host=name, reason=(
                f'it is in the zone {zoned[0].zone} by the aggregate {zoned[0].name}, and a lease '
                'gives it another. Take it out of that aggregate first.'))

    @staticmethod
    def _refuse_in_use(services, name, service_host):
        servers = services.nova.servers_on([service_host])
        if servers:
            raise errors.HostInUse(host=name, reason=(
                f'servers run on it ({len(servers)}). Migrate or delete them first.'))


def _found(hypervisor, traits, inventory):
    facts = {
        'availability_zone': hypervisor.availability_zone,
        'cpu_info': hypervisor.cpu_info,
        'hypervisor_type': hypervisor.hypervisor_type,
        'hypervisor_version': str(hypervisor.hypervisor_version),
        'service_name': hypervisor.service_host,
        'traits': ' '.join(sorted(traits)),
        **{f'max_unit:{each}': str(has['max_unit']) for each, has in inventory.items()},
    }
    capacity = {'vcpus': hypervisor.vcpus, 'memory_mb': hypervisor.memory_mb,
                'disk_gb': hypervisor.disk_gb,
                **{each: int((has['total'] - has['reserved']) * has['allocation_ratio'])
                   for each, has in inventory.items()}}
    return base.Found(name=hypervisor.name, capacity=capacity,
                      facts={key: text for key, text in facts.items() if text is not None})


def child_name(conf, name):
    """What the provider that holds the reservations of a hypervisor is called."""
    return conf.placement.provider_prefix + name
