# SPDX-License-Identifier: Apache-2.0
"""Pools that several plugins draw from."""
import collections
import dataclasses

from climate import errors
from climate.domain import audit
from climate.plugins import base


def enrolled_hosts(conf, cloud, but_of=None):
    """The service hosts that are enrolled, leased ones too, as a set.

    :param but_of: the id of a project: without those that it has leased as a whole.
    """
    prefix, owner = conf.nova.availability_zone_prefix, conf.nova.aggregate_owner_key
    return {host for each in cloud.as_service().nova.aggregates() for host in each.hosts
            if each.name == conf.nova.aggregate_freepool
            or (prefix and (each.zone or '').startswith(prefix)
                and (but_of is None or each.metadata.get(owner) != but_of))}


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

    def failing(self, cloud, resources):
        hosts = {each.id: each.facts['service_name'] for each in resources}
        known = {each.host: each
                 for each in cloud.as_service().computes.of_hosts(sorted(hosts.values()))}
        reasons = {key: _why_failing(known.get(host)) for key, host in hosts.items()}
        return {key: reason for key, reason in reasons.items() if reason is not None}

    def admit(self, cloud, found):
        services = cloud.as_service()
        service_host = found.facts['service_name']
        self._refuse_in_use(services, found.name, service_host)
        self._refuse_awaited(services, found.name)
        self._refuse_zoned(services, found.name, service_host)
        freepool = services.nova.ensure_aggregate(self.conf.nova.aggregate_freepool)
        services.nova.add_hosts(freepool, [service_host])
        try:
            # Once more, now that the filter keeps others off: one may have slipped in before.
            self._refuse_in_use(services, found.name, service_host)
            self._refuse_awaited(services, found.name)
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

    def mend(self, cloud, resource):
        services = cloud.as_service()
        services.placement.ensure_child(resource.name, self._child(resource.name))
        freepool = services.nova.ensure_aggregate(self.conf.nova.aggregate_freepool)
        if resource.held_by is None and resource.facts['service_name'] not in freepool.hosts:
            self.admit(cloud, self.discover(cloud, resource.name))

    def audit(self, picture, resources, enrolled):
        freepool = picture.aggregate(self.conf.nova.aggregate_freepool)
        pooled = set(freepool.hosts if freepool else ())
        known = {each.name: each for each in picture.hypervisors}
        drifts = []
        for resource in resources:
            if resource.name not in known:
                drifts.append(_drift('unknown host', resource, 'Nova does not know it any more'))
                continue
            if self._child(resource.name) not in picture.children:
                drifts.append(_drift('freepool', resource, (
                    f'Placement has no provider {self._child(resource.name)}'), audit.MEND))
            if resource.held_by is None and resource.facts['service_name'] not in pooled:
                drifts.append(self._out_of_the_pool(picture, resource))
        mine = {each.service_host for each in picture.hypervisors if each.name in enrolled}
        mine |= {each.facts['service_name'] for each in resources}
        return drifts + [_put_in_by_hand(picture, host) for host in sorted(pooled - mine)]

    @staticmethod
    def _out_of_the_pool(picture, resource):
        if not resource.reservable:
            return _drift('freepool', resource, (
                'enrolled, out of use and not in the freepool; withdraw it, or use it again'))
        servers = picture.servers_on([resource.facts['service_name']])
        if servers:
            return _drift('freepool', resource, (
                f'enrolled, not in the freepool, and servers run on it ({len(servers)})'))
        return _drift('freepool', resource, 'enrolled, but not in the freepool', audit.MEND)

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

    @staticmethod
    def _refuse_awaited(services, name):
        """Refuse a host to which servers are on their way, whom Nova counts when they have come.

        Whatever was sent there before the filter kept it off holds its room in Placement by then.
        """
        coming = [each for each in services.placement.held([name]).get(name, ())
                  if services.servers.server(each) is not None]
        if coming:
            raise errors.HostInUse(host=name, reason=(
                f'servers are being built on it or moved to it ({len(coming)}). Wait for them, and '
                'migrate or delete them.'))


def _why_failing(compute):
    """Why no server can be started on the host of a Compute, or of None; None where it can."""
    if compute is None:
        return 'Nova does not know its service'
    if not compute.enabled:
        return f'its service is disabled in Nova: {compute.reason or "no reason given"}'
    return None if compute.up else 'its service is down'


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


def _drift(kind, resource, problem, repair=None):
    return audit.Drift(kind, f'host {resource.name}', problem, repair,
                       None if repair is None else (resource.pool, resource.name))


def _put_in_by_hand(picture, service_host):
    """The Drift of a host that is in the freepool and not enrolled."""
    what = f'host {service_host}'
    found = [each.name for each in picture.hypervisors if each.service_host == service_host]
    if len(found) != 1:
        return audit.Drift('not enrolled', what, (
            f'in the freepool, and Nova knows {len(found)} hypervisors of it'))
    servers = picture.servers_on([service_host])
    if servers:
        return audit.Drift('not enrolled', what, (
            f'in the freepool, not enrolled, and servers run on it ({len(servers)})'))
    return audit.Drift('not enrolled', what, 'in the freepool, but not enrolled', audit.ENROL,
                       (HostPool.name, found[0]))
