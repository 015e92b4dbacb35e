# SPDX-License-Identifier: Apache-2.0
"""A stack that is created from a template at the start of its lease.

Each call looks at the stack and begins one change at most; StillBusy asks for the next call. All
progress is kept in Heat: the stack is found by its name, which has the id of the reservation.
"""
from climate import errors
from climate.domain import lifecycle
from climate.plugins.stack import handover
from climate.plugins.stack import parsing
from climate.plugins.stack import previews
from climate.plugins.stack import quotas
from climate.plugins.stack import room
from climate.plugins.stack import watched


def start(conf, cloud, lease, reservation):
    """Create the stack, unless it exists; return (its id, its name).

    :raises StillBusy: it is not created yet.
    :raises CloudError: Heat could not create it. What there is of it is being deleted.
    """
    found = watched.Watched(cloud, lease, reservation, name_of(reservation))
    if found.stack is not None and found.stack.action in ('CREATE', 'DELETE', 'ROLLBACK'):
        _go_on(found)
    if found.stack is None and 'stack_id' in reservation.binding:
        # Its owner has deleted it since. The lease may only have changed.
        return reservation.binding['stack_id'], reservation.binding['stack_name']
    if found.stack is None:
        _create(conf, cloud, lease, reservation)
        found.look()
        if found.stack is None:
            found.wait('being created')
        _go_on(found)
    return found.stack.id, found.stack.name


def end(cloud, lease, reservation):
    """Delete the stack, suspend it or leave it, as the request says.

    :raises StillBusy: it is not done yet.
    :raises CloudError: Heat could not do it; it is tried again.
    """
    found = watched.Watched(cloud, lease, reservation, name_of(reservation))
    # What was never handed over is of no use to anybody.
    on_end = (reservation.request['on_end']
              if reservation.state == lifecycle.RESERVATION_ACTIVE or reservation.binding.get(
                  'stack_id') else 'delete')
    found.bring(on_end)


def name_of(reservation):
    """Return the name of the stack of a reservation."""
    return f'climate-{reservation.id}'


def _go_on(found):
    """Return if the stack is created; delete it if it could not be created.

    :raises StillBusy: it is being created, or being deleted.
    :raises CloudError: it could not be created.
    """
    stack = found.stack
    if stack.progress == 'IN_PROGRESS':
        # Heat limits the time of each action itself.
        found.wait(stack.status)
    if stack.status == 'CREATE_COMPLETE':
        return
    found.delete()
    raise errors.CloudError.plain('Heat', (
        f'stack {stack.name} could not be created ({stack.status}): {stack.reason}'))


def _create(conf, cloud, lease, reservation):
    request = cloud.whole_request(reservation)
    quotas.refuse_at_start(cloud, lease, request['uses'])
    owner = cloud.as_user().stacks
    spec = parsing.spec(
        request, name_of(reservation), handover.values(conf, cloud, lease, reservation),
        tags=[f'reservation:{reservation.id}'],
        timeout_minutes=conf['virtual:stack'].create_minutes or None)
    preview = previews.at_start(owner, request, spec)
    room.refuse_elsewhere(reservation, preview)
    if request['time_only'] is not None and 'time only' not in reservation.binding.get(
            'warnings', ()):
        cloud.warn(reservation, 'time only', request['time_only'])
    try:
        cloud.as_user_redelegated().stacks.create(spec)
    except errors.Conflict as error:
        # It was created just now, by a call whose answer was lost.
        raise errors.StillBusy.plain('Heat', error.message[:500]) from error
