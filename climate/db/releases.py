# SPDX-License-Identifier: Apache-2.0
"""The capacity that became free since a moment: released allocations, and added resources."""
import collections
import datetime

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import selection

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
# A teardown that takes longer is ignored: its allocations count as released at their end.
_TEARDOWN = datetime.timedelta(days=1)


def since(connection, resource_ids, moment, span, now, cleaning):
    """Return the amounts of resources that were released from `moment` on.

    An allocation that ended is released when the teardown of its lease is done, or when the
    resource has been cleaned. An allocation that became void before its start counts if it touched
    `span`. A resource that was enrolled, or became reservable again, counts as released whole,
    because nobody could use it before.

    :param cleaning: how long cleaning takes from the end of an allocation.
    :returns: {resource id: [amount of all its copies, or selection.WHOLE]}.
    """
    torn_down = sa.exists().where(
        EVENTS.c.lease_id == RESERVATIONS.c.lease_id,
        EVENTS.c.kind.in_((event_kinds.END, event_kinds.DELETE)),
        EVENTS.c.status == lifecycle.EVENT_DONE, EVENTS.c.updated_at >= moment)
    ended = sa.and_(allocations.COUNTS, ALLOCATIONS.c.end <= now, sa.or_(
        ALLOCATIONS.c.end >= moment - cleaning,
        sa.and_(ALLOCATIONS.c.end > moment - _TEARDOWN, torn_down)))
    void = sa.and_(~allocations.COUNTS, ALLOCATIONS.c.released_at >= moment,
                   ALLOCATIONS.c.start < span.end, ALLOCATIONS.c.end > span.start)
    rows = connection.execute(
        sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.whole, ALLOCATIONS.c.amount,
                  ALLOCATIONS.c.copies)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .where(ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)), sa.or_(ended, void)))
    released = collections.defaultdict(list)
    for resource_id, whole, amount, copies in rows.all():
        released[resource_id].append(selection.WHOLE if whole else {
            name: units * copies for name, units in amount.items()})
    for resource_id in connection.execute(
            sa.select(RESOURCES.c.id)
            .where(RESOURCES.c.id.in_(sorted(resource_ids)), RESOURCES.c.available_since >= moment)
            ).scalars():
        released[resource_id].append(selection.WHOLE)
    return released
