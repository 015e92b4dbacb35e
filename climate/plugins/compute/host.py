# SPDX-License-Identifier: Apache-2.0
"""The plugin physical:host: whole hosts for one project, used with the hint reservation=<id>."""
import dataclasses

from climate import errors
from climate.domain import audit
from climate.domain import extra_specs
from climate.domain import records
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import audited
from climate.plugins import base
from climate.plugins import request_fields
from climate.plugins.compute import aggregates
from climate.plugins.compute import drain
from climate.plugins.compute import foreign
from climate.plugins.compute import guest_servers
from climate.plugins.compute import host_handover
from climate.plugins.compute import host_options
from climate.plugins.compute import host_pool
from climate.plugins.compute import parent_marks
from climate.plugins.compute import reclaim
from climate.plugins.compute import server_images
from climate.plugins.compute import server_losses
from climate.plugins.compute import sub_leased_hosts
from climate.plugins.compute import use


@dataclasses.dataclass(frozen=True)
class ObservedHosts:
    """The observed state of Nova: all Aggregates and all Servers."""

    aggregates: list
    servers: list


class HostPlugin(base.ResourcePlugin):
    resource_type = 'physical:host'
    pools = (host_pool.HostPool,)
    services = ('nova', 'glance')
    measures_use = True
    reclaims = True
    has_guests = True
    transferable = True
    transfers_running = True
    has_sub_leases = True
    schema = {
        'type': 'object',
        'properties': {
            'min': {'description': 'The minimum number of hosts.', 'type': 'integer', 'minimum': 1,
                    'maximum': 1000000},
            'max': {'description': 'The maximum number of hosts.', 'type': 'integer', 'minimum': 1,
                    'maximum': 1000000},
            'hypervisor_properties': request_fields.CRITERIA,
            'resource_properties': request_fields.CRITERIA,
            'extra_specs': {
                'description': 'Criteria in the form of flavor extra specs, with or without a '
                               'scope.',
                'type': 'object', 'maxProperties': 100,
                'additionalProperties': {'type': 'string', 'maxLength': 1000},
            },
            'before_end': {
                'description': 'What happens to the servers shortly before the end of the lease.',
                'enum': ['', 'default', 'snapshot'],
            },
            'on_image_failure': {
                'description': 'What happens to a server whose image is not active in time, if '
                               '"before_end" asks for images.',
                'enum': ['default', 'keep', 'delete'],
            },
        },
        'required': ['min', 'max'],
        'additionalProperties': False,
    }
    example = {'min': 1, 'max': 2, 'resource_properties': '[">=", "$vcpus", "16"]'}
    options = host_options.OPTIONS

    def resolve(self, cloud, request, occasion):
        if request['max'] < request['min']:
            raise errors.BadField(field='max', reason=(
                f'{request["max"]} is less than min, {request["min"]}.'))
        self._criteria(request)
        texts = {name: request_fields.criteria_text(request.get(name))
                 for name in ('hypervisor_properties', 'resource_properties')}
        return {'before_end': 'default', **request, **texts}

    def needs(self, request):
        demand = selection.Demand(amount=selection.WHOLE, at_least=request['min'],
                                  at_most=request['max'], spread=selection.Spread.APART)
        return [base.Need(host_pool.NEED, host_pool.HostPool.name, demand, self._criteria(request))]

    def joins(self, cloud, reservation):
        return host_handover.joins(self.conf, cloud.as_service().nova, reservation)

    def was_started(self, reservation):
        return reservation.binding.get('aggregate_id') is not None

    def acts_as_owner(self, request):
        return server_images.are_requested(self.conf, request)

    def stages(self, request):
        return True

    def stage(self, cloud, lease, reservation, resources):
        aggregate = host_handover.stage(self.conf, cloud.as_service().nova, lease, reservation,
                                        resources[host_pool.NEED])
        return {**reservation.binding, records.STAGED: {'aggregate_id': aggregate.id}}

    def start(self, cloud, lease, reservation, resources):
        hosts, binding = resources[host_pool.NEED], dict(reservation.binding)
        staged = binding.pop(records.STAGED, None)
        if staged is not None and cloud.attempt.is_first:
            return {**binding, 'aggregate_id': host_handover.hand_over_staged(
                self.conf, cloud.as_service().nova, lease, reservation, staged['aggregate_id'],
                hosts)}
        aggregate, freepool = host_handover.hand_over(
            self.conf, cloud.as_service().nova, lease, reservation, hosts)
        if sub_leased_hosts.is_sub_lease(reservation):
            return {**binding, 'aggregate_id': aggregate.id}
        images = server_images.of_change(self.conf, cloud, lease, reservation)
        former = cloud.attempt.former.get(reservation.id, ())
        drain.Drain(self.conf, cloud, lease, reservation, (*hosts, *former), images).lost_hosts(
            aggregate, freepool, hosts)
        return {**binding, 'aggregate_id': aggregate.id}

    def before_end(self, cloud, lease, reservation, resources):
        if server_images.are_requested(self.conf, reservation.request):
            ending = self._end(cloud, lease, reservation, resources)
            ending.images.ensure(ending.servers())

    def secures(self, reservation):
        return server_images.are_requested(self.conf, reservation.request)

    def secure(self, cloud, lease, reservation, resources):
        self._end(cloud, lease, reservation, resources).secure()

    def end(self, cloud, lease, reservation, resources):
        if sub_leased_hosts.is_sub_lease(reservation):
            sub_leased_hosts.end(self.conf, cloud, reservation,
                                 self._end(cloud, lease, reservation, resources))
            return
        self._end(cloud, lease, reservation, resources).all_hosts()

    def lost_at_end(self, cloud, lease, reservation, resources):
        return self._losses(reservation, self._end(
            cloud, lease, reservation, resources).lost_servers())

    def lost_by_change(self, cloud, lease, reservation, resources):
        hosts = resources[host_pool.NEED]
        former = cloud.attempt.former.get(reservation.id, ())
        return self._losses(reservation, drain.Drain(
            self.conf, cloud, lease, reservation, (*hosts, *former), None).lost_servers(hosts))

    def _losses(self, reservation, servers):
        return server_losses.of_servers(
            servers, saved=server_images.are_requested(self.conf, reservation.request))

    def _end(self, cloud, lease, reservation, resources):
        """Return the Drain for the end of a reservation."""
        images = server_images.of_end(self.conf, cloud, lease, reservation)
        return drain.Drain(self.conf, cloud, lease, reservation, resources[host_pool.NEED], images)

    def sub_lease_request(self, count):
        return self.resolve(None, {'min': count, 'max': count, 'before_end': ''}, None)

    def in_use(self, cloud, resources):
        return sub_leased_hosts.in_use(cloud.as_service().nova, resources[host_pool.NEED])

    def share(self, cloud, lease, reservation, resources):
        nova = cloud.as_service().nova
        for aggregate in aggregates.all_of(self.conf, nova.aggregates(), reservation.id):
            aggregates.mark_guests(nova, aggregate, lease)

    def guest_servers(self, cloud, lease, reservation, resources, project_id):
        return server_losses.of_servers(self._of_guest(
            cloud, lease, reservation, resources, project_id))

    def clear_guest(self, cloud, lease, reservation, resources, project_id, deletes):
        guest_servers.clear(cloud, lease, reservation, self._of_guest(
            cloud, lease, reservation, resources, project_id), deletes)

    def _of_guest(self, cloud, lease, reservation, resources, project_id):
        """Return the Servers of another project that were booted with a reservation."""
        return guest_servers.of_project(drain.Drain(
            self.conf, cloud, lease, reservation, resources[host_pool.NEED], None).servers(),
            project_id)

    def use(self, cloud, parts):
        return use.of_hosts(cloud, parts)

    def close(self, cloud, lease, reservation):
        reclaim.close(self.conf, cloud, reservation)

    def occupied(self, cloud, lease, reservation, resources):
        return reclaim.occupied(cloud, lease, reservation, resources[host_pool.NEED])

    def reopen(self, cloud, lease, reservation, resources):
        self.complete(cloud, lease, reservation, resources)

    @classmethod
    def split(cls, request, given, kept):
        stays = {**request, 'min': min(request['min'], kept),
                 'max': max(kept, request['max'] - given)}
        return {**request, 'min': given, 'max': given}, stays

    def least(self, request):
        return request['min']

    def lessened(self, request, count):
        return {**request, 'max': count}

    def give_up(self, cloud, lease, reservation, resources):
        reclaim.give_up(self.conf, cloud, reservation, resources)

    def observe(self, cloud):
        services = cloud.as_service()
        return ObservedHosts(services.nova.aggregates(), services.servers.every())

    def traces(self, observed):
        pairs = [(each, aggregates.made_for(self.conf, each)) for each in observed.aggregates]
        return [audit.Trace(key, 'aggregate', aggregate.name, signed_by=(
                    self.resource_type if aggregates.is_signed(self.conf, aggregate, key)
                    else None))
                for aggregate, key in pairs if key is not None]

    def lacks(self, observed, lease, reservation, resources):
        own_aggregates = aggregates.all_of(self.conf, observed.aggregates, reservation.id)
        if not own_aggregates:
            return [audited.incomplete(reservation, 'its aggregate is missing')]
        renamed = aggregates.renamed(self.conf, observed.aggregates, reservation)
        if renamed:
            return renamed
        [aggregate] = own_aggregates
        hosts = set(aggregates.service_hosts(resources[host_pool.NEED]))
        sub_leased = parent_marks.sub_leased_hosts(observed.aggregates, {reservation.id, lease.id})
        problems = self._problems(observed, lease, reservation, aggregate, hosts)
        names = {None, *(each.name for each in resources[host_pool.NEED])}
        servers = [server for server in observed.servers if server.hypervisor in names
                   and server.host in hosts & set(aggregate.hosts) - sub_leased]
        return [*(audited.incomplete(reservation, problem) for problem in problems),
                *foreign.drifts(foreign.on_leased(
                    foreign.without_parents(servers, aggregate), lease.project_id, aggregate,
                    {reservation.id, lease.id}),
                                f'reservation {reservation.id}'),
                *(audit.Drift('foreign host', f'host {host} in aggregate {reservation.id}',
                              'the host is not allocated to the reservation of the aggregate')
                  for host in sorted(set(aggregate.hosts) - hosts))]

    def _problems(self, observed, lease, reservation, aggregate, hosts):
        """Yield the faults of a reservation's aggregate, as sentences."""
        own_zone = aggregates.zone(self.conf, reservation.id)
        is_zoned = (self.conf.nova.reservation_zone == 'always'
                    and not sub_leased_hosts.is_sub_lease(reservation))
        if aggregate.zone != own_zone and (aggregate.zone is not None or is_zoned):
            yield f'its zone is {aggregate.zone}, not {own_zone}'
        marks = aggregates.marks(self.conf, lease, reservation)
        # Aggregates of earlier releases have only the zone, which the scheduler filter accepts.
        if aggregate.zone == own_zone and aggregates.MARK not in aggregate.metadata:
            del marks[aggregates.MARK]
        yield from aggregates.unmarked(aggregate, marks)
        for host in sorted(hosts - set(aggregate.hosts)):
            yield f'{host} is not in its aggregate'
        freepool = aggregates.named(observed.aggregates, self.conf.nova.aggregate_freepool)
        for host in sorted(hosts & set(freepool.hosts if freepool else ())):
            yield f'{host} is in the freepool too'

    def complete(self, cloud, lease, reservation, resources):
        aggregate, _ = host_handover.hand_over(
            self.conf, cloud.as_service().nova, lease, reservation, resources[host_pool.NEED])
        return {**reservation.binding, 'aggregate_id': aggregate.id}

    def clear(self, cloud, made_for, resources):
        aggregates.delete_empty(self.conf, cloud.as_service(), made_for, resources)

    @classmethod
    def fields(cls, reservation):
        # Leave out the aggregate's number in Nova, because clients cannot use it.
        return dict(reservation.request)

    @classmethod
    def shown(cls, reservation):
        fields = {**reservation.request, 'aggregate_id': reservation.binding.get('aggregate_id')}
        fields.pop('extra_specs', None)
        fields.pop('on_image_failure', None)
        return fields

    @staticmethod
    def _criteria(request):
        return requirement.conjunction(
            requirement.parse(request.get('hypervisor_properties')),
            requirement.parse(request.get('resource_properties')),
            extra_specs.from_extra_specs(request.get('extra_specs') or {}))
