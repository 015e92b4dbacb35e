# SPDX-License-Identifier: Apache-2.0
"""Allocations without a lease: they keep leases away from a resource for a span of time.

The allocations of a block have the block's id in place of a reservation's. They cover only the time
in which no lease has the resource, so allocations never overlap. When a lease releases the
resource, the block must be filled again.
"""
import collections

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import health
from climate.domain import interval
from climate.domain import records

ALLOCATIONS = tables.ALLOCATIONS


def incomplete(connection, spans):
    """Return the ids of the blocks that do not cover all free time of their resource.

    :param spans: {(block id, resource id): the Interval that it should cover}.
    """
    return {key for key, (own, gaps) in _read(connection, spans).items()
            if not health.covered(gaps, own)}


def fill(connection, spans):
    """Extend blocks to all free time of their resources. The resources must be locked.

    :param spans: as for `incomplete`.
    """
    blocks = _read(connection, spans)
    of_block = collections.defaultdict(list)
    for block_id, resource_id in blocks:
        of_block[block_id].append(resource_id)
    for block_id, resource_ids in of_block.items():
        allocations.delete(connection, [block_id], resource_ids)
    allocations.add(connection, [
        records.Allocation(block_id, resource_id, gap.start, gap.end)
        for (block_id, resource_id), (_, gaps) in blocks.items() for gap in gaps])


def delete(connection, block_ids, resource_ids=None):
    """Delete blocks; return the number of deleted allocations."""
    statement = sa.delete(ALLOCATIONS).where(ALLOCATIONS.c.reservation_id.in_(list(block_ids)))
    if resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
    return connection.execute(statement).rowcount


def _read(connection, spans):
    """Return {(block id, resource id): (its Intervals, the Intervals that it should have)}."""
    if not spans:
        return {}
    bookings = collections.defaultdict(list)
    rows = connection.execute(
        sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start,
                  ALLOCATIONS.c.end)
        .where(ALLOCATIONS.c.resource_id.in_(sorted({key for _, key in spans})),
               allocations.COUNTS,
               ALLOCATIONS.c.end > min(span.start for span in spans.values()),
               ALLOCATIONS.c.start < max(span.end for span in spans.values())))
    for block_id, resource_id, start, end in rows:
        bookings[resource_id].append((block_id, interval.Interval(start, end)))
    blocks = {}
    for (block_id, resource_id), span in spans.items():
        own = [booked for owner, booked in bookings[resource_id] if owner == block_id]
        others = [booked for owner, booked in bookings[resource_id] if owner != block_id]
        blocks[block_id, resource_id] = own, health.gaps(span, others)
    return blocks
