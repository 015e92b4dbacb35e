# SPDX-License-Identifier: Apache-2.0
"""physical:host, whole hosts for one project, reached with the hint reservation=<id>."""
import dataclasses

from oslo_config import cfg
from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import extra_specs
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base
from climate.plugins import criteria
from climate.plugins.compute import aggregates
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
        demand = selection.Demand(amount=selection.WHOLE, at_least=request['min'],
                                  at_most=request['max'], spread=selection.Spread.APART)
        return [base.Need(host_pool.NEED, host_pool.HostPool.name, demand, self._criteria(request))]

    def start(self, cloud, lease, reservation, resources):
        return {'aggregate_id': aggregates.occupy(
            self.conf, cloud.as_service().nova, lease, reservation,
            resources[host_pool.NEED]).id}

    def before_end(self, cloud, lease, reservation, resources):
        action = reservation.request.get('before_end', 'default')
        if action == 'default':
            action = self.conf['physical:host'].before_end
        if action != 'snapshot':
            return
        nova = cloud.as_service().nova
        servers = nova.servers_on(aggregates.service_hosts(resources[host_pool.NEED]))
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
        aggregates.release(self.conf, cloud.as_service().nova, reservation,
                           resources[host_pool.NEED])

    def observe(self, cloud):
        return Observed(cloud.as_service().nova.aggregates())

    def traces(self, observed):
        return [audit.Trace(each.name, 'aggregate', each.name, signed_by=(
                    self.resource_type if self._is_signed(each) else None))
                for each in observed.aggregates if audit.is_id(each.name)]

    def lacks(self, observed, lease, reservation, resources):
        aggregate = aggregates.named(observed.aggregates, reservation.id)
        if aggregate is None:
            return [_incomplete(reservation, 'its aggregate is missing')]
        wanted = set(aggregates.service_hosts(resources[host_pool.NEED]))
        problems = []
        if not self._is_signed(aggregate):
            problems.append(f'its zone is {aggregate.zone}, not '
                            f'{aggregates.zone(self.conf, reservation.id)}')
        if aggregate.metadata.get(self.conf.nova.aggregate_owner_key) != lease.project_id:
            problems.append(f'its aggregate does not name project {lease.project_id}')
        problems += [f'{host} is not in its aggregate'
                     for host in sorted(wanted - set(aggregate.hosts))]
        freepool = aggregates.named(observed.aggregates, self.conf.nova.aggregate_freepool)
        problems += [f'{host} is in the freepool too'
                     for host in sorted(wanted & set(freepool.hosts if freepool else ()))]
        return [*(_incomplete(reservation, problem) for problem in problems),
                *(audit.Drift('foreign host', f'host {host} in aggregate {reservation.id}',
                              'the reservation that has the aggregate was not promised it')
                  for host in sorted(set(aggregate.hosts) - wanted))]

    def complete(self, cloud, lease, reservation, resources):
        aggregate, _ = aggregates.hand_over(
            self.conf, cloud.as_service().nova, lease, reservation, resources[host_pool.NEED])
        return {'aggregate_id': aggregate.id}

    def clear(self, cloud, made_for, resources):
        aggregates.delete_empty(self.conf, cloud.as_service().nova, made_for, resources)

    @classmethod
    def shown(cls, reservation):
        fields = {**reservation.request, 'aggregate_id': None, **reservation.binding}
        fields.pop('extra_specs', None)
        return fields

    def _is_signed(self, aggregate):
        """Return whether the zone of an aggregate is the one that Climate gives it."""
        return aggregate.zone == aggregates.zone(self.conf, aggregate.name)

    @staticmethod
    def _criteria(request):
        return requirement.conjunction(
            requirement.parse(request.get('hypervisor_properties')),
            requirement.parse(request.get('resource_properties')),
            extra_specs.from_extra_specs(request.get('extra_specs') or {}))


def _incomplete(reservation, problem):
    return audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                       reservation.id)
