# SPDX-License-Identifier: Apache-2.0
"""virtual:stack, in two forms: a stack created at the start, or an existing one that sleeps."""
from oslo_config import cfg

from climate.plugins import base
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool
from climate.plugins.compute import node_audit
from climate.plugins.compute import node_capacity
from climate.plugins.stack import bound
from climate.plugins.stack import handover
from climate.plugins.stack import made
from climate.plugins.stack import parsing
from climate.plugins.stack import passwords
from climate.plugins.stack import room

# Fields of a request that only the plugin needs.
_NOT_SHOWN = ('uses', 'room')


class StackPlugin(base.ResourcePlugin):
    resource_type = 'virtual:stack'
    pools = (host_pool.HostPool,)
    services = ('heat', 'nova', 'placement', 'neutron', 'cinder')
    leases_targets = True
    secret_fields = parsing.SECRET
    ends_servers = True
    target_kind = 'stack'
    schema = {
        'type': 'object',
        'description': 'A stack that is created at the start (template and more), or an existing '
                       'stack that is suspended until then (resource_id).',
        'properties': parsing.PROPERTIES,
        'additionalProperties': False,
    }
    example = {'template': {'heat_template_version': '2021-04-16', 'resources': {
        'word': {'type': 'OS::Heat::RandomString'}}}, 'on_end': 'delete'}
    options = (
        cfg.StrOpt('on_end', default='delete', choices=list(parsing.ENDINGS),
                   help='What happens at the end of its lease to a stack that was created for it, '
                        'if the lease does not say it. delete: the stack is deleted. suspend: it '
                        'is suspended. leave: it stays as it is.'),
        cfg.StrOpt('on_end_existing', default='suspend', choices=list(parsing.ENDINGS),
                   help='What happens at the end of its lease to a stack that existed before it, '
                        'if the lease does not say it. The values are those of on_end.'),
        cfg.StrOpt('hold_room', default='required', choices=['required', 'preferred'],
                   help='Whether the servers of a stack must be placed on enrolled hosts, if the '
                        'lease does not say it. required: a template by which they cannot be is '
                        'refused. preferred: the lease then holds its time only.'),
        cfg.IntOpt('create_minutes', default=60, min=0,
                   help='How long Heat may take to create a stack, in minutes. After that the '
                        'stack is deleted, and created again as [manager] says. 0: as Heat has '
                        'it.'),
    )

    @classmethod
    def asked(cls, request):
        return parsing.asked(request)

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def secret_texts(self, secrets):
        return passwords.of(secrets)

    def needs(self, request):
        return room.needs(request)

    def needs_owner(self, request):
        if request['resource_id'] is not None:
            return None
        return 'template', 'the stack is created in your project, as you'

    def redelegates(self, request):
        # Heat makes a trust of its own from the token that creates a stack.
        return request['resource_id'] is None

    def schedules_in_start(self, reservation):
        return reservation.request['room'] is not None

    def leased_id(self, reservation):
        return reservation.request['resource_id']

    def prepares(self, request):
        return request['sleeps']

    def prepare(self, cloud, lease, reservation, resources):
        if reservation.request['sleeps']:
            return bound.prepare(cloud, lease, reservation)
        return dict(reservation.binding)

    def start(self, cloud, lease, reservation, resources):
        if reservation.request['resource_id'] is not None:
            return bound.start(cloud, lease, reservation)
        binding = dict(reservation.binding)
        if reservation.request['room'] is not None:
            aggregate, more = self._hold(cloud, lease, reservation, resources)
            self._take_back(cloud, lease, reservation, resources, aggregate)
            binding |= more
        stack_id, name = made.start(self.conf, cloud, lease, reservation)
        return {**binding, 'stack_id': stack_id, 'stack_name': name}

    def end(self, cloud, lease, reservation, resources):
        if reservation.request['resource_id'] is not None:
            bound.end(cloud, lease, reservation)
            return
        made.end(cloud, lease, reservation)
        if reservation.request['room'] is not None:
            capacity_end.end(self.conf, cloud, lease, reservation, {
                key: resources.get(key, ()) for key in sorted(reservation.request['room'])})

    def observe(self, cloud):
        return capacity_audit.observe(self.conf, cloud)

    def traces(self, observed):
        return node_audit.traces(self.conf, observed, self.resource_type)

    def lacks(self, observed, lease, reservation, resources):
        if reservation.request['room'] is None:
            return []
        return node_audit.lacks(self.conf, observed, lease, reservation,
                                self._room(reservation, resources))

    def complete(self, cloud, lease, reservation, resources):
        if reservation.request['room'] is None:
            return dict(reservation.binding)
        return {**reservation.binding, **self._hold(cloud, lease, reservation, resources)[1]}

    def clear(self, cloud, made_for, resources):
        node_audit.clear(self.conf, cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        request = {key: value for key, value in reservation.request.items()
                   if key not in _NOT_SHOWN}
        return {'stack_id': reservation.request['resource_id'],
                'stack_name': reservation.request['resource_name'],
                **request, **reservation.binding}

    @staticmethod
    def _room(reservation, resources):
        """Return the part of {need key: Resources} that the room of a stack is on."""
        return {key: resources[key] for key in reservation.request['room']}

    def _hold(self, cloud, lease, reservation, resources):
        """Hand over or complete the room; return (the aggregate as it was found, the binding)."""
        aggregate = node_capacity.grant(self.conf, cloud, lease, reservation,
                                        self._room(reservation, resources),
                                        room.flavors(reservation.request))
        return aggregate, {'flavor_ids': handover.flavor_ids(reservation),
                           'aggregate_id': aggregate.id}

    def _take_back(self, cloud, lease, reservation, resources, aggregate):
        """Take back the hosts and slots that the reservation does not have any more."""
        own = self._room(reservation, resources)
        hosts = {each.facts['service_name'] for some in own.values() for each in some}
        if 'stack_id' in reservation.binding or set(aggregate.hosts) - hosts:
            node_capacity.take_back(self.conf, cloud, lease, reservation, own)
