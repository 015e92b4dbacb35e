# SPDX-License-Identifier: Apache-2.0
"""The state of a resource in one word, for operators."""
import datetime

from climate.domain import health
from climate.domain import records
from climate.domain import sleep

MAINTENANCE, OUT_OF_SERVICE, OUT_OF_USE, LEASED, HELD_BACK, ASLEEP, FREE = STATES = (
    'maintenance', 'out_of_service', 'out_of_use', 'leased', 'held_back', 'asleep', 'free')


def of(resource: records.Resource, now: datetime.datetime) -> str:
    """Return the state of a Resource with its verdict, windows, power state and leases.

    If several states apply, the first of STATES counts, because it decides what an operator may do.
    """
    if any(window.start <= now < window.end for window in resource.maintenances):
        return MAINTENANCE
    if resource.verdict is not None and resource.verdict.state != health.WELL:
        return OUT_OF_SERVICE
    # A resource that is lent to a lease is not reservable for others, but in use.
    if not resource.reservable and resource.lent_to is None:
        return OUT_OF_USE
    leases = resource.leases or ()
    if resource.held_by is not None or any(not lease.waits for lease in leases):
        return LEASED
    if leases:
        return HELD_BACK
    if resource.power_state in sleep.SLEEPING:
        return ASLEEP
    return FREE
