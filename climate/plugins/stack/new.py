# SPDX-License-Identifier: Apache-2.0
"""A stack that is created from a template at the start of its lease.

Each call reads the stack and begins at most one change. As long as a change is in progress, the
call raises StillBusy. After a crash, Climate finds the stack by its name, which has the id of the
reservation.
"""
from climate import errors
from climate.domain import lifecycle
from climate.plugins import base
from climate.plugins.compute import capacity as instance_capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import requirements
from climate.plugins.compute import server_losses
from climate.plugins.stack import capacity
from climate.plugins.stack import heat_stack
from climate.plugins.stack import parsing
from climate.plugins.stack import previews
from climate.plugins.stack import quotas
from climate.plugins.stack import template_parameters


class NewStack(base.ResourcePlugin):
    """The form of virtual:stack that leases a new stack."""

    resource_type = 'virtual:stack'

    def needs(self, request):
        return capacity.needs(request)

    def needs_owner(self, request):
        return 'template', 'the stack is created in your project, with your rights'

    def redelegates(self, request):
        # Heat creates its own trust from the token that creates a stack.
        return True

    def schedules_in_start(self, reservation):
        return reservation.request['room'] is not None

    def start(self, cloud, lease, reservation, resources):
        """Grant the capacity, and create the stack unless it exists; return the binding.

        :raises CloudError: Heat could not create the stack, which is being deleted.
        """
        binding = dict(reservation.binding)
        if reservation.request['room'] is not None:
            own_capacity = self._capacity(cloud, lease, reservation, resources)
            aggregate, capacity_binding = _grant(own_capacity)
            own_capacity.reclaim(aggregate)
            binding |= capacity_binding
        stack_id, name = self._started(cloud, lease, reservation)
        return {**binding, 'stack_id': stack_id, 'stack_name': name}

    def end(self, cloud, lease, reservation, resources):
        """Delete the stack, suspend it or leave it, as the request says.

        :raises CloudError: Heat could not change the stack; Climate retries.
        """
        stack = heat_stack.HeatStack(cloud, lease, reservation, name_of(reservation))
        stack.bring(_on_end(reservation))
        if reservation.request['room'] is not None:
            capacity_end.end(self.conf, cloud, lease, reservation,
                             _remaining(reservation, resources))

    def lost_at_end(self, cloud, lease, reservation, resources):
        stack = heat_stack.HeatStack(cloud, lease, reservation, name_of(reservation))
        servers = [] if reservation.request['room'] is None else capacity_end.servers(
            cloud.as_service(), reservation, _remaining(reservation, resources))
        return [*stack.lost(_on_end(reservation)), *server_losses.of_servers(servers)]

    def lost_by_change(self, cloud, lease, reservation, resources):
        if reservation.request['room'] is None:
            return []
        return server_losses.of_servers(
            self._capacity(cloud, lease, reservation, resources).surplus())

    def lacks(self, observed, lease, reservation, resources):
        if reservation.request['room'] is None:
            return []
        return capacity_audit.lacks(self.conf, observed, lease, reservation,
                                    _of_capacity(reservation, resources))

    def complete(self, cloud, lease, reservation, resources):
        if reservation.request['room'] is None:
            return dict(reservation.binding)
        return {**reservation.binding,
                **_grant(self._capacity(cloud, lease, reservation, resources))[1]}

    def _capacity(self, cloud, lease, reservation, resources):
        return instance_capacity.Capacity(self.conf, cloud, lease, reservation,
                                          _of_capacity(reservation, resources))

    def _started(self, cloud, lease, reservation):
        """Return (the id of the created stack, its name).

        :raises StillBusy: the stack is not created yet.
        """
        stack = heat_stack.HeatStack(cloud, lease, reservation, name_of(reservation))
        if stack.seen is not None and stack.seen.action in ('CREATE', 'DELETE', 'ROLLBACK'):
            _check_created(stack)
        if stack.seen is None and 'stack_id' in reservation.binding:
            # The owner deleted the stack after the start. Do not create it again.
            return reservation.binding['stack_id'], reservation.binding['stack_name']
        if stack.seen is None:
            self._create(cloud, lease, reservation)
            stack.read()
            if stack.seen is None:
                stack.wait('being created')
            _check_created(stack)
        return stack.seen.id, stack.seen.name

    def _create(self, cloud, lease, reservation):
        request = cloud.whole_request(reservation)
        quotas.refuse_at_start(cloud, lease, request['uses'])
        owner = cloud.as_user().stacks
        spec = parsing.spec(
            request, name_of(reservation),
            template_parameters.values(cloud, lease, reservation),
            tags=[f'reservation:{reservation.id}'],
            timeout_minutes=self.conf[self.resource_type].create_minutes or None)
        preview = previews.at_start(owner, request, spec)
        capacity.refuse_elsewhere(reservation, preview)
        if request['time_only'] is not None and 'time only' not in reservation.binding.get(
                'warnings', ()):
            cloud.warn(reservation, 'time only', request['time_only'])
        try:
            cloud.as_user_redelegated().stacks.create(spec)
        except errors.Conflict as error:
            # An earlier call has created the stack, but its response was lost.
            raise errors.StillBusy.plain('Heat', error.message[:500]) from error


def name_of(reservation):
    """Return the name of the stack of a reservation."""
    return f'climate-{reservation.id}'


def _on_end(reservation):
    """Return what the end of a reservation does with its stack, as in the request.

    A stack that was never handed over is deleted, because nobody can use it.
    """
    was_started = (reservation.state == lifecycle.RESERVATION_ACTIVE
                   or reservation.binding.get('stack_id'))
    return reservation.request['on_end'] if was_started else 'delete'


def _remaining(reservation, resources):
    """Return {need key: Resources} with every need for capacity, also those without resources."""
    return {key: resources.get(key, ()) for key in sorted(reservation.request['room'])}


def _of_capacity(reservation, resources):
    """Return {need key: Resources} of the needs for capacity."""
    return {key: resources[key] for key in reservation.request['room']}


def _grant(own_capacity):
    """Grant the capacity; return (the aggregate before this call, the binding of the capacity)."""
    reservation = own_capacity.reservation
    aggregate = own_capacity.grant({key: requirements.sizes_and_specs(each['flavor'])
                                    for key, each in sorted(reservation.request['room'].items())})
    own_capacity.allow(own_capacity.resources)
    return aggregate, {'flavor_ids': template_parameters.flavor_ids(reservation),
                       'aggregate_id': aggregate.id}


def _check_created(stack):
    """Return if the stack was created completely; begin to delete it if its creation failed.

    :raises StillBusy: the stack is being created or deleted.
    :raises CloudError: the creation failed.
    """
    if stack.seen.progress == 'IN_PROGRESS':
        # No limit is needed here, because Heat limits the time of each action.
        stack.wait(stack.seen.status)
    if stack.seen.status == 'CREATE_COMPLETE':
        return
    stack.delete()
    raise errors.CloudError.plain('Heat', (
        f'stack {stack.seen.name} could not be created ({stack.seen.status}): '
        f'{stack.seen.reason}'))
