# SPDX-License-Identifier: Apache-2.0
"""An existing stack, which is suspended until the start of its lease.

A suspended stack keeps the room of its servers where they are, so its lease needs none.
"""
from climate import errors
from climate.domain import lifecycle
from climate.plugins.stack import watched


def prepare(cloud, lease, reservation):
    """Suspend the stack; return the binding.

    :raises StillBusy: it is not suspended yet.
    :raises TargetGone: the stack is gone.
    :raises CloudError: Heat could not suspend it; it is tried again.
    """
    found = _read(cloud, lease, reservation)
    found.bring('suspend')
    return {**reservation.binding, **_names(found), 'asleep': True}


def start(cloud, lease, reservation):
    """Resume the stack if it sleeps; return the binding.

    If the owner suspends it after the start, it stays so.

    :raises StillBusy: it is not awake yet.
    :raises TargetGone: the stack is gone.
    :raises CloudError: Heat could not resume it; it is tried again.
    """
    found = _read(cloud, lease, reservation)
    if not _was_handed_over(reservation):
        if found.stack.progress == 'IN_PROGRESS':
            found.wait(found.stack.status)
        if found.stack.action in ('SUSPEND', 'RESUME'):
            found.resume()
    return {**reservation.binding, **_names(found), 'handed_over': True}


def end(cloud, lease, reservation):
    """Suspend the stack, delete it or leave it, as the request says.

    A stack that was never handed over stays as it is, or goes back to sleep.

    :raises StillBusy: it is not done yet.
    :raises CloudError: Heat could not do it; it is tried again.
    """
    found = watched.Watched(cloud, lease, reservation, reservation.request['resource_id'])
    if found.stack is None:
        return
    if _was_handed_over(reservation):
        found.bring(reservation.request['on_end'])
    elif reservation.request['sleeps'] and found.stack.action == 'RESUME':
        found.bring('suspend')


def _read(cloud, lease, reservation):
    """Return the Watched stack.

    :raises TargetGone: it does not exist any more, or is being deleted.
    """
    stack_id = reservation.request['resource_id']
    found = watched.Watched(cloud, lease, reservation, stack_id)
    if found.stack is None or found.stack.action == 'DELETE':
        raise errors.TargetGone(kind='stack', target_id=stack_id)
    return found


def _names(found):
    return {'stack_id': found.stack.id, 'stack_name': found.stack.name}


def _was_handed_over(reservation):
    return (reservation.state == lifecycle.RESERVATION_ACTIVE
            or reservation.binding.get('handed_over', False))
