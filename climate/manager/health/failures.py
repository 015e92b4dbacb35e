# SPDX-License-Identifier: Apache-2.0
"""What does not work at this moment: the cloud is asked, and the word of operators counts."""
from climate.domain import health
from climate.manager.energy import sleep_states


def failing(core, some):
    """Return {id: why} of the Resources in `some` on which nothing can be started now.

    The cloud is not asked for one that sleeps: the start wakes it.
    """
    found = {each.id: out_of_order(each) for each in some
             if each.health_state == health.OUT_OF_ORDER}
    asleep = sleep_states.Sleepers(core).among([each.id for each in some])
    for pool in core.registry.pools.values():
        mine = [each for each in some if each.pool == pool.name and each.id not in asleep]
        if mine:
            found |= pool.failing(core.cloud, mine)
    return found


def out_of_order(resource):
    """Return in words that an operator took a Resource out of order."""
    return f'it is out of order: {resource.health_reason}'


def doubtful(resource):
    """Return why a Resource that is not well should be replaced if others are free; None if not.

    If no other is free, it may be started nevertheless, because it may work.
    """
    if resource.health_state == health.QUARANTINED:
        return 'its last owner swapped it for another one'
    return sick(resource)


def sick(resource):
    """Return why a source of health finds a Resource sick; None if it does not.

    A quarantine is no reason: it keeps new leases away, and running ones may work well.
    """
    if resource.health_state == health.SICK:
        return f'it is sick: {resource.health_reason}'
    return None
