# SPDX-License-Identifier: Apache-2.0
"""The audit of the host pool: the enrolled hypervisors compared with the cloud."""
import dataclasses

from climate.domain import audit
from climate.plugins.compute import foreign
from climate.plugins.compute import scheduler_filter
from climate.plugins.compute import shared_hosts


@dataclasses.dataclass(frozen=True)
class ObservedPool:
    """The observed state of the cloud, in records of ``climate.cloud.models``.

    :ivar children: {name of a child provider of Climate: its inventory}.
    :ivar filter_problems: the result of ``scheduler_filter.check``.
    """

    aggregates: list
    hypervisors: list
    servers: list
    computes: list
    children: dict
    filter_problems: list | None = None

    def servers_on(self, service_host):
        """Return the Servers on a service host."""
        return [server for server in self.servers if server.host == service_host]


def observe(conf, cloud):
    """Observe the cloud, as ``AuditedPool.observe``."""
    services = cloud.as_service()
    return ObservedPool(
        aggregates=services.nova.aggregates(), hypervisors=services.nova.hypervisors(),
        servers=services.servers.every(), computes=services.computes.every(),
        children=services.placement.children(conf.placement.provider_prefix),
        filter_problems=scheduler_filter.check(conf))


class HostComparison:
    """Compares the enrolled hosts with the observed state.

    :param pool: the name of the pool.
    :param freepool: the Aggregate of free hosts, or None.
    :param child_of: callable(hypervisor name) → the name of its child provider.
    """

    def __init__(self, pool, observed, freepool, child_of):
        self._pool = pool
        self._observed = observed
        self._pooled = set(freepool.hosts if freepool else ())
        self._child_of = child_of

    def drifts(self, resources, enrolled):
        """Return the Drifts of the pool, as ``AuditedPool.audit``."""
        hypervisors = self._observed.hypervisors
        names = {each.name for each in hypervisors}
        sharing = shared_hosts.sharing(hypervisors)
        drifts = []
        for resource in resources:
            if resource.name in names:
                drifts += self._of_resource(resource, sharing)
            else:
                drifts.append(_drift('unknown host', resource, 'Nova does not know it any more'))
        enrolled_hosts = {each.service_host for each in hypervisors if each.name in enrolled}
        enrolled_hosts |= {each.facts['service_name'] for each in resources}
        drifts += self._of_filter(drifts)
        return drifts + [self._not_enrolled(host)
                         for host in sorted(self._pooled - enrolled_hosts)]

    def _of_filter(self, drifts):
        """Yield a Drift if nova-scheduler lacks Climate's filter, or seems to lack it.

        :param drifts: the Drifts of the hosts, including those of foreign servers in the freepool.
        """
        problems = self._observed.filter_problems
        count = sum(drift.kind == 'foreign server' for drift in drifts)
        if problems is None and count > 1:
            problems = [f'{count} servers without a reservation are on hosts of the freepool, so '
                        'the scheduler seems to lack the filter of Climate; run "climate-status '
                        'upgrade check" on its machine']
        if problems:
            yield audit.Drift('filter', 'nova-scheduler', ' '.join(problems))

    def _of_resource(self, resource, sharing):
        service_host, child = resource.facts['service_name'], self._child_of(resource.name)
        if service_host in sharing:
            others = [name for name in sharing[service_host] if name != resource.name]
            yield _drift('shared host', resource, (
                f'{shared_hosts.described(service_host, others)}; withdraw it, or give each '
                'hypervisor its own nova-compute'))
        if child not in self._observed.children:
            yield _drift('freepool', resource, f'Placement has no provider {child}', audit.MEND)
        if resource.held_by is None and service_host not in self._pooled:
            yield self._outside_freepool(resource)
        elif resource.held_by is None:
            servers = [server for server in self._observed.servers_on(service_host)
                       if server.hypervisor in (None, resource.name)]
            yield from foreign.drifts(foreign.on_pooled(servers), 'the freepool')

    def _outside_freepool(self, resource):
        if not resource.reservable:
            return _drift('freepool', resource, (
                'enrolled and out of use, but not in the freepool; withdraw it, or use it again'))
        servers = self._observed.servers_on(resource.facts['service_name'])
        if servers:
            return _drift('freepool', resource, (
                f'enrolled, not in the freepool, and servers run on it ({len(servers)})'))
        return _drift('freepool', resource, 'enrolled, but not in the freepool', audit.MEND)

    def _not_enrolled(self, service_host):
        """Return the Drift of a host that is in the freepool but not enrolled."""
        subject = f'host {service_host}'
        names = [hypervisor.name for hypervisor in self._observed.hypervisors
                 if hypervisor.service_host == service_host]
        if len(names) != 1:
            return audit.Drift('not enrolled', subject, (
                f'in the freepool, and Nova knows {len(names)} hypervisors of it'))
        servers = self._observed.servers_on(service_host)
        if servers:
            return audit.Drift('not enrolled', subject, (
                f'in the freepool, not enrolled, and servers run on it ({len(servers)})'))
        # Another service may use the same freepool and may have enrolled the host.
        return audit.Drift('not enrolled', subject, 'in the freepool, but not enrolled',
                           audit.ENROL, (self._pool, names[0]), unknown=True)


def _drift(kind, resource, problem, repair=None):
    return audit.Drift(kind, f'host {resource.name}', problem, repair,
                       None if repair is None else (resource.pool, resource.name))
