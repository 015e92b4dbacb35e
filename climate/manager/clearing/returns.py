# SPDX-License-Identifier: Apache-2.0
"""Orders to return hosts that were cleared or lent for a lease and that it does not need."""
from climate.db import events
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain.clearing import plans


def order(connection, lease, now, over=False):
    """Add the event that returns the hosts that a lease does not need.

    :param lease: the Lease as it is in this transaction.
    :param over: True if the lease does not need any of its hosts any more.
    """
    if lease.acquisition is None or lease.acquisition.plan is None:
        return
    if plans.from_json(lease.acquisition.plan).is_settled and not (
            lent_in_vain(connection, lease, over)):
        return
    events.change(connection, lease.id,
                  lease_events.ordered(lease, event_kinds.GIVE_BACK, now), now)


def lent_in_vain(connection, lease, over=False):
    """Return the Resources, without properties, that are lent to a lease and not allocated to it.

    :param over: True if the lease does not need any of its hosts any more.
    """
    needed = set() if over else {
        key for each in lease.open_reservations for key in each.resource_ids}
    found = resources.lent(connection, [each.id for each in lease.reservations])
    return [each for each in found if each.id not in needed]
