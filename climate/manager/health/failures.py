# SPDX-License-Identifier: Apache-2.0
"""The failures of resources at this moment, according to the cloud and to operators."""
from climate.domain import health
from climate.manager.energy import sleep_states


def failing(core, resources):
    """Return {id: why} of the Resources on which nothing can be started now.

    The cloud is not asked about sleeping resources, because the start wakes them.
    """
    reasons = {resource.id: f'it is out of service: {resource.health_reason}'
               for resource in resources if resource.health_state == health.OUT_OF_ORDER}
    asleep = sleep_states.SleepStates(core).asleep([resource.id for resource in resources])
    for pool in core.registry.pools.values():
        awake = [resource for resource in resources
                 if resource.pool == pool.name and resource.id not in asleep]
        if awake:
            reasons |= pool.failing(core.cloud, awake)
    return reasons


def doubtful(resource):
    """Return why a start should replace a Resource if others are free; None if it should not.

    If no other is free, the start may use it nevertheless, because it may work.
    """
    if resource.health_state == health.QUARANTINED:
        return 'its last owner swapped it for another one'
    return sick(resource)


def sick(resource):
    """Return why a source of health finds a Resource sick; None if it does not.

    A quarantine does not count: it only keeps new leases away, and running ones may work well.
    """
    if resource.health_state == health.SICK:
        return f'it is sick: {resource.health_reason}'
    return None
