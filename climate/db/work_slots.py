# SPDX-License-Identifier: Apache-2.0
"""Slots of time in which periodic work is done by one manager only."""
import sqlalchemy as sa

from climate.db import tables

WORK_SLOTS = tables.WORK_SLOTS


def last(connection, work):
    """Return the beginning of the last slot for which that work was done; None: never."""
    return connection.execute(
        sa.select(WORK_SLOTS.c.slot).where(WORK_SLOTS.c.work == work)).scalar_one_or_none()


def take(connection, work, slot):
    """Claim a slot of some work, whose results are written in the same transaction.

    Until that ends, no other manager can claim a slot of this work. So what belongs to a slot is
    written once, or not at all.

    :param work: the name of the work.
    :param slot: the beginning of the slot.
    :returns: False if this slot, or a later one, was claimed before.
    :raises Duplicate: another manager did this work for the first time ever just now.
    """
    mine = WORK_SLOTS.c.work == work
    done = connection.execute(sa.update(WORK_SLOTS).where(mine, WORK_SLOTS.c.slot < slot)
                              .values(slot=slot))
    if done.rowcount:
        return True
    if connection.execute(sa.select(WORK_SLOTS.c.work).where(mine)).first() is not None:
        return False
    connection.execute(sa.insert(WORK_SLOTS).values(work=work, slot=slot))
    return True
