# SPDX-License-Identifier: Apache-2.0
"""A leased server on its way into its lease: asleep before the start, awake from then on.

Each call looks once at the server and begins one change at most; StillBusy asks for the next call.
What Nova and the metadata of the server say is all there is to know, so that a call after a crash
goes on where the last one stopped.
"""
from climate.plugins import pools
from climate.plugins.servers import leased


def prepare(cloud, lease, reservation):
    """Put the server to sleep; returns the binding.

    :raises StillBusy: it does not sleep yet.
    :raises ServerNotFound: it is gone.
    :raises CloudError: it is in a status from which it cannot be put to sleep.
    """
    found = leased.Leased(cloud, lease, reservation)
    found.wait_for_calm()
    found.mark(leased.RESERVED)
    found.put_to_sleep()
    return {'resource_id': found.id, 'asleep': True}


def start(conf, cloud, lease, reservation, resources):
    """Hand the server over, awake on its host where it slept; returns the binding.

    What the owner did to it since it was handed over (stopped it, shelved it) stays. A server that
    was not put to sleep in time stays where it is.

    :raises StillBusy: it is not awake yet.
    :raises ServerNotFound: it is gone.
    :raises CloudError: it cannot be woken or moved, is in the status ERROR, or too large.
    """
    found = leased.Leased(cloud, lease, reservation)
    held = [resource.facts['service_name'] for resource in resources]
    if not found.was_handed_over:
        found.wait_for_calm()
        if reservation.request['sleeps'] and found.status in (leased.OFFLOADED, leased.SHELVED):
            if found.status == leased.SHELVED and held:
                # Nova wakes it on another host only when it is on none.
                found.put_to_sleep()
            if held:
                found.refuse_larger()
            found.wake(held[0] if held else None)
        if found.status not in (*leased.AWAKE, leased.OFFLOADED, leased.SHELVED, leased.MOVED):
            found.give_up('handed over')
    if (held and found.status in leased.MOVABLE
            and found.host in pools.enrolled_hosts(conf, cloud) - set(held)):
        # Its room is elsewhere now, and the room there is another's.
        found.move()
    found.mark(leased.ACTIVE)
    return {'resource_id': found.id, 'handed_over': True}
