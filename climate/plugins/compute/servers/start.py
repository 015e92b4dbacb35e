# SPDX-License-Identifier: Apache-2.0
"""The start of a leased server: it is shelved before the start and unshelved at the start.

Each call looks once at the server and begins one change at most; StillBusy asks for the next call.
All progress is kept in Nova and in the metadata of the server. So a call after a crash goes on
where the last one stopped.
"""
from climate.plugins.compute import enrolled
from climate.plugins.compute.servers import leased


def prepare(cloud, lease, reservation):
    """Shelve and offload the server; returns the binding.

    :raises StillBusy: the server is not offloaded yet.
    :raises TargetGone: the server is gone.
    :raises CloudError: the server cannot be shelved from its status.
    """
    found = leased.Leased(cloud, lease, reservation)
    found.wait_for_calm()
    found.mark(leased.RESERVED)
    found.put_to_sleep()
    return {'resource_id': found.id, 'resource_name': found.name, 'asleep': True}


def start(conf, cloud, lease, reservation, resources):
    """Hand the server over, unshelved on its host if it was shelved; returns the binding.

    Changes that the owner made after the server was handed over, such as stopping or shelving it,
    stay. A server that was not shelved in time stays where it is.

    :raises StillBusy: the server is not unshelved yet.
    :raises TargetGone: the server is gone.
    :raises CloudError: the server cannot be unshelved or moved, is in the status ERROR, or is
        larger than the capacity reserved for it.
    """
    found = leased.Leased(cloud, lease, reservation)
    held = [resource.facts['service_name'] for resource in resources]
    if not found.was_handed_over:
        found.wait_for_calm()
        if reservation.request['sleeps'] and found.status in (leased.OFFLOADED, leased.SHELVED):
            if found.status == leased.SHELVED and held:
                # Nova unshelves a server on another host only if it was offloaded.
                found.put_to_sleep()
            if held:
                found.refuse_larger()
                found.wake(held[0], resources[0].facts.get('availability_zone'))
            else:
                found.wake(None)
        if found.status not in (*leased.AWAKE, leased.OFFLOADED, leased.SHELVED, leased.MOVED):
            found.give_up('handed over')
    # Hosts that its project has leased are left out: Nova would move a server that was booted there
    # to another one of them, again and again.
    if (held and found.status in leased.MOVABLE and found.host in enrolled.service_hosts(
            conf, cloud, but_of=lease.project_id) - set(held)):
        # Its capacity is reserved on another host now, and others may have reserved this one.
        found.move()
    found.mark(leased.ACTIVE)
    return {'resource_id': found.id, 'resource_name': found.name, 'handed_over': True}
