# SPDX-License-Identifier: Apache-2.0
"""What was cleared for a lease, or is lent to it, and it has no need of, is ordered back."""
from climate.db import events
from climate.db import resources
from climate.domain import agenda
from climate.domain import hunt
from climate.domain import lifecycle


def order(connection, lease, now, over=False):
    """Have what a lease has no need of (any more) given back, by an event of its own.

    :param lease: as it is in this transaction.
    :param over: it has no need of anything any more.
    """
    if lease.acquisition is None or lease.acquisition.plan is None:
        return
    if hunt.from_json(lease.acquisition.plan).is_settled and not (
            lent_in_vain(connection, lease, over)):
        return
    known = lease.event(agenda.GIVE_BACK)
    if known is None:
        events.add(connection, [events.new(lease.id, agenda.GIVE_BACK, now, now)])
    elif known.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR):
        events.move(connection, known, now, now)


def lent_in_vain(connection, lease, over=False):
    """The Resources that are lent to a lease and not promised to it, without properties."""
    needed = set() if over else {
        key for each in lease.open_reservations for key in each.resource_ids}
    found = resources.lent(connection, [each.id for each in lease.reservations])
    return [each for each in found if each.id not in needed]
