# SPDX-License-Identifier: Apache-2.0
"""An existing stack, which is suspended until the start of its lease.

The lease reserves no capacity, because the servers of a suspended stack keep theirs.
"""
from climate import errors
from climate.domain import lifecycle
from climate.plugins import base
from climate.plugins.stack import heat_stack


class ExistingStack(base.ResourcePlugin):
    """The form of virtual:stack that leases an existing stack."""

    resource_type = 'virtual:stack'

    def needs(self, request):
        return []

    def leased_id(self, reservation):
        return reservation.request['resource_id']

    def prepares(self, request):
        return request['sleeps']

    def prepare(self, cloud, lease, reservation, resources):
        """Suspend the stack; return the binding.

        :raises CloudError: Heat could not suspend it; Climate retries.
        """
        if not reservation.request['sleeps']:
            return dict(reservation.binding)
        stack = _read(cloud, lease, reservation)
        stack.bring('suspend')
        return {**reservation.binding, **_names(stack), 'asleep': True}

    def start(self, cloud, lease, reservation, resources):
        """Resume the stack if it is suspended; return the binding.

        A stack that the owner suspends after the start is not resumed.

        :raises CloudError: Heat could not resume it; Climate retries.
        """
        stack = _read(cloud, lease, reservation)
        if not _was_handed_over(reservation):
            if stack.seen.progress == 'IN_PROGRESS':
                stack.wait(stack.seen.status)
            if stack.seen.action in ('SUSPEND', 'RESUME'):
                stack.resume()
        return {**reservation.binding, **_names(stack), 'handed_over': True}

    def end(self, cloud, lease, reservation, resources):
        """Suspend the stack, delete it or leave it, as the request says.

        A stack that was never handed over is only suspended again if it was being resumed.

        :raises CloudError: Heat could not change the stack; Climate retries.
        """
        stack = heat_stack.HeatStack(cloud, lease, reservation, reservation.request['resource_id'])
        if stack.seen is not None:
            stack.bring(_on_end(reservation, stack))

    def lost_at_end(self, cloud, lease, reservation, resources):
        stack = heat_stack.HeatStack(cloud, lease, reservation, reservation.request['resource_id'])
        return [] if stack.seen is None else stack.lost(_on_end(reservation, stack))


def _on_end(reservation, stack):
    """Return what the end of a reservation does with its HeatStack, as in the request."""
    if _was_handed_over(reservation):
        return reservation.request['on_end']
    return ('suspend' if reservation.request['sleeps'] and stack.seen.action == 'RESUME'
            else 'leave')


def _read(cloud, lease, reservation):
    """Return the HeatStack.

    :raises TargetGone: the stack does not exist any more, or is being deleted.
    """
    stack_id = reservation.request['resource_id']
    stack = heat_stack.HeatStack(cloud, lease, reservation, stack_id)
    if stack.seen is None or stack.seen.action == 'DELETE':
        raise errors.TargetGone(kind='stack', target_id=stack_id)
    return stack


def _names(stack):
    return {'stack_id': stack.seen.id, 'stack_name': stack.seen.name}


def _was_handed_over(reservation):
    return (reservation.state == lifecycle.RESERVATION_ACTIVE
            or reservation.binding.get('handed_over', False))
