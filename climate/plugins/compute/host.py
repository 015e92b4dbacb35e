# SPDX-License-Identifier: Apache-2.0
"""physical:host, whole hosts for one project, reached with the hint reservation=<id>."""
import dataclasses

from oslo_config import cfg
from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import extra_specs
from climate.domain import fit
from climate.domain import requirement
from climate.plugins import base
from climate.plugins import criteria
from climate.plugins.compute import host_pool
from climate.plugins.compute import images
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared: all Aggregates."""

    aggregates: list


class HostPlugin(base.ResourcePlugin):
    resource_type = 'physical:host'
    pools = (host_pool.HostPool,)
    services = ('nova', 'glance')
    schema = {
        'type': 'object',
        'properties': {
            'min': {'description': 'Fewest hosts.', 'type': 'integer', 'minimum': 1,
                    'maximum': 1000000},
            'max': {'description': 'Most hosts.', 'type': 'integer', 'minimum': 1,
                    'maximum': 1000000},
            'hypervisor_properties': criteria.SCHEMA,
            'resource_properties': criteria.SCHEMA,
            'extra_specs': {
                'description': 'Criteria as flavor extra specs, scoped or not.',
                'type': 'object', 'maxProperties': 100,
                'additionalProperties': {'type': 'string', 'maxLength': 1000},
            },
            'before_end': {
                'description': 'What happens to the servers shortly before the end.',
                'enum': ['', 'default', 'snapshot'],
            },
        },
        'required': ['min', 'max'],
        'additionalProperties': False,
    }
    example = {'min': 1, 'max': 2, 'resource_properties': '[">=", "$vcpus", "16"]'}
    options = (
        cfg.StrOpt('before_end', default='', choices=['', 'snapshot'],
                   help='What happens to the servers on leased hosts shortly before the end of '
                        'a lease that asks for "default". snapshot: an image of each is made. '
                        'Empty: nothing.'),
    )

    def resolve(self, cloud, request, occasion):
        if request['max'] < request['min']:
            raise errors.BadField(field='max', reason=(
                f'{request["max"]} is less than min, {request["min"]}.'))
        self._criteria(request)
        texts = {name: criteria.as_text(request.get(name))
                 for name in ('hypervisor_properties', 'resource_properties')}
        return {'before_end': 'default', **request, **texts}

    def needs(self, request):
        demand = fit.Demand(amount=fit.WHOLE, at_least=request['min'], at_most=request['max'],
                            spread=fit.Spread.APART)
        return [base.Need(host_pool.NEED, host_pool.HostPool.name, demand, self._criteria(request))]

    def start(self, cloud, lease, reservation, resources):
        nova = cloud.as_service().nova
        wanted = _service_hosts(resources[host_pool.NEED])
        aggregate, freepool = self._hand_over(nova, lease, reservation, wanted)
        self._take_back(nova, aggregate, sorted(set(aggregate.hosts) - set(wanted)), freepool,
                        resources[host_pool.NEED])
        return {'aggregate_id': aggregate.id}

    def before_end(self, cloud, lease, reservation, resources):
        action = reservation.request.get('before_end', 'default')
        if action == 'default':
            action = self.conf['physical:host'].before_end
        if action != 'snapshot':
            return
        nova = cloud.as_service().nova
        servers = nova.servers_on(_service_hosts(resources[host_pool.NEED]))
        others = shared_hosts.of_others(nova, servers, resources[host_pool.NEED])
        busy = []
        for server in (each for each in servers if each not in others):
            try:
                images.ensure(cloud, lease, f'{reservation.id}:{server.id}', server.id,
                              self.conf.nova.image_prefix + server.name)
            except errors.TargetGone as error:
                LOG.info('Reservation %s: no image of a server that was deleted meanwhile: %s',
                         reservation.id, error.message)
            except errors.StillBusy as error:
                busy.append(error)
        # Only now: one that cannot be imaged must not keep the others from it.
        for error in busy:
            raise error

    def end(self, cloud, lease, reservation, resources):
        nova = cloud.as_service().nova
        known = nova.aggregates()
        freepool = nova.ensure_aggregate(self.conf.nova.aggregate_freepool, known=known)
        aggregate = next((each for each in known if each.name == reservation.id), None)
        left = _service_hosts(resources[host_pool.NEED])
        if aggregate is not None:
            # Nobody's from here on: the filter lets no new server in.
            nova.set_aggregate_metadata(aggregate, {self.conf.nova.aggregate_owner_key: None})
            self._take_back(nova, aggregate, list(aggregate.hosts), freepool,
                            resources[host_pool.NEED])
            nova.delete_aggregate(aggregate)
            left = [host for host in left if host not in aggregate.hosts]
        nova.add_hosts(freepool, left)

    def observe(self, cloud):
        return Observed(cloud.as_service().nova.aggregates())

    def traces(self, observed):
        return [audit.Trace(each.name, 'aggregate', each.name, signed_by=(
                    self.resource_type if each.zone == self._zone(each.name) else None))
                for each in observed.aggregates if audit.is_id(each.name)]

    def lacks(self, observed, lease, reservation, resources):
        aggregate = host_pool.named(observed.aggregates, reservation.id)
        if aggregate is None:
            return [_incomplete(reservation, 'its aggregate is missing')]
        wanted = set(_service_hosts(resources[host_pool.NEED]))
        problems = []
        if aggregate.zone != self._zone(reservation.id):
            problems.append(f'its zone is {aggregate.zone}, not {self._zone(reservation.id)}')
        if aggregate.metadata.get(self.conf.nova.aggregate_owner_key) != lease.project_id:
            problems.append(f'its aggregate does not name project {lease.project_id}')
        problems += [f'{host} is not in its aggregate'
                     for host in sorted(wanted - set(aggregate.hosts))]
        freepool = host_pool.named(observed.aggregates, self.conf.nova.aggregate_freepool)
        problems += [f'{host} is in the freepool too'
                     for host in sorted(wanted & set(freepool.hosts if freepool else ()))]
        return [*(_incomplete(reservation, problem) for problem in problems),
                *(audit.Drift('foreign host', f'host {host} in aggregate {reservation.id}',
                              'the reservation that has the aggregate was not promised it')
                  for host in sorted(set(aggregate.hosts) - wanted))]

    def complete(self, cloud, lease, reservation, resources):
        aggregate, _ = self._hand_over(cloud.as_service().nova, lease, reservation,
                                       _service_hosts(resources[host_pool.NEED]))
        return {'aggregate_id': aggregate.id}

    def clear(self, cloud, made_for, resources):
        nova = cloud.as_service().nova
        aggregate = nova.aggregate(made_for)
        if aggregate is None:
            return
        _refuse_servers(nova, aggregate)
        nova.set_aggregate_metadata(aggregate, {self.conf.nova.aggregate_owner_key: None})
        # Once more, now that the filter lets no new one in.
        _refuse_servers(nova, aggregate)
        pooled = sorted(set(aggregate.hosts) & set(_service_hosts(resources)))
        nova.add_hosts(nova.ensure_aggregate(self.conf.nova.aggregate_freepool), pooled)
        nova.remove_hosts(aggregate, list(aggregate.hosts))
        nova.delete_aggregate(aggregate)

    @classmethod
    def shown(cls, reservation):
        fields = {**reservation.request, 'aggregate_id': None, **reservation.binding}
        fields.pop('extra_specs', None)
        return fields

    def _zone(self, reservation_id):
        return self.conf.nova.availability_zone_prefix + reservation_id

    def _hand_over(self, nova, lease, reservation, wanted):
        """Let the project have these service hosts; returns (its aggregate, the freepool)."""
        known = nova.aggregates()
        aggregate = nova.ensure_aggregate(
            reservation.id, zone=self._zone(reservation.id),
            metadata={self.conf.nova.aggregate_owner_key: lease.project_id}, known=known)
        freepool = nova.ensure_aggregate(self.conf.nova.aggregate_freepool, known=known)
        # In both for a moment: a host that is in no pool is open to everybody.
        nova.add_hosts(aggregate, wanted)
        nova.remove_hosts(freepool, wanted)
        return aggregate, freepool

    @staticmethod
    def _take_back(nova, aggregate, hosts, freepool, resources):
        """Take these service hosts back, once they are empty.

        :param resources: those that the reservation has; servers of other hypervisors stay.
        """
        if not hosts:
            return
        servers = nova.servers_on(hosts)
        others = shared_hosts.of_others(nova, servers, resources)
        mine = [each for each in servers if each not in others]
        for server in mine:
            nova.delete_server(server.id)
        if mine:
            raise errors.StillBusy(service='Nova', reason=(
                f'{len(mine)} servers of {aggregate.name} are being deleted.'))
        if others:
            raise errors.StillBusy(service='Nova', reason=(
                f'{len(others)} servers on {others[0].host} are on a hypervisor that is not of '
                f'reservation {aggregate.name}; Climate does not delete them. Move them away.'))
        nova.add_hosts(freepool, hosts)
        nova.remove_hosts(aggregate, hosts)
        LOG.info('Reservation %s: hosts %s are back in the freepool', aggregate.name,
                 ', '.join(hosts))

    @staticmethod
    def _criteria(request):
        return requirement.conjunction(
            requirement.parse(request.get('hypervisor_properties')),
            requirement.parse(request.get('resource_properties')),
            extra_specs.from_extra_specs(request.get('extra_specs') or {}))


def _service_hosts(resources):
    return [resource.facts['service_name'] for resource in resources]


def _incomplete(reservation, problem):
    return audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                       reservation.id)


def _refuse_servers(nova, aggregate):
    servers = nova.servers_on(aggregate.hosts)
    if servers:
        raise errors.StillBusy(service='Nova', reason=(
            f'servers run on hosts of {aggregate.name} ({len(servers)}).'))
