# SPDX-License-Identifier: Apache-2.0
"""Claims of leases in the database: which manager carries out an event of a lease.

The number of the claim rises with each event that is claimed of a lease. So it says of all that is
written for an event whether that is still the one which is carried out.
"""
import dataclasses

import sqlalchemy as sa

from climate import errors
from climate.db import among
from climate.db import tables

LEASES = tables.LEASES
# The statements of each lease's life are built once: building one costs more than asking it. These
# are about leases that have the claim with which they were read.
_CLAIM = LEASES.c.id, LEASES.c.claim_no
_WRITE = among.Among(sa.update(LEASES), *_CLAIM)
_TAKEN = sa.update(LEASES).values(claim_no=LEASES.c.claim_no + 1)
_TAKE = among.Among(_TAKEN, *_CLAIM)
_BEGIN_TASK = among.Among(_TAKEN.values(generation=LEASES.c.generation + 1), *_CLAIM)
_END_TASK = (
    sa.update(LEASES)
    .where(LEASES.c.id == sa.bindparam('lease_id'), LEASES.c.claim_no == sa.bindparam('claim'),
           LEASES.c.task == sa.bindparam('ended_task'))
    .values(task=None, task_until=None, claim_owner=None, generation=LEASES.c.generation + 1))
_LOCK = among.Among(
    sa.select(LEASES.c.id, LEASES.c.claim_no, LEASES.c.generation).order_by(LEASES.c.id)
    .with_for_update(), LEASES.c.id)


def take(connection, found, owner):
    """Count one claim more of each of the locked leases; handed back as they are then.

    To users they look as they did.

    :raises LostRace: one of them was claimed since it was read; nothing may be kept.
    """
    _write(connection, _TAKE, found, claim_owner=owner)
    return [dataclasses.replace(lease, claim_no=lease.claim_no + 1) for lease in found]


def take_for(connection, found, owner, task, until, now):
    """As `take`; besides it is shown that `task` is being done to them, until the moment `until`.

    :raises LostRace: one of them was claimed since it was read; nothing may be kept.
    """
    values = {'task': task, 'task_until': until}
    _write(connection, _BEGIN_TASK, found, claim_owner=owner, updated_at=now, **values)
    return [dataclasses.replace(lease, claim_no=lease.claim_no + 1,
                                generation=lease.generation + 1, **values) for lease in found]


def hold_task(connection, claimed, until):
    """Let the tasks of claimed leases be shown until `until`.

    :raises LostRace: a claim was lost; nothing may be kept.
    """
    _write(connection, _WRITE, claimed, task_until=until)


def end_task(connection, lease, now, state, reason, **values):
    """Record how the task of a lease went: its state then, with the reason in words.

    The generation may have risen meanwhile (a rename); the claim may not.

    :returns: the lease as it is then, where its generation had not risen.
    :raises LostRace: the claim was lost; nothing is written.
    """
    done = connection.execute(_END_TASK, {
        'lease_id': lease.id, 'claim': lease.claim_no, 'ended_task': lease.task, 'state': state,
        'reason': reason, 'updated_at': now, **values})
    if done.rowcount != 1:
        raise errors.LostRace()
    return dataclasses.replace(
        lease, state=state, reason=reason, task=None, task_until=None, updated_at=now,
        generation=lease.generation + 1, **values)


def lock(connection, claimed):
    """Lock claimed leases; {lease id: its generation} of those of which the claim was not lost."""
    rows = _LOCK.execute(connection, [lease.id for lease in claimed])
    numbers = {lease.id: lease.claim_no for lease in claimed}
    return {lease_id: generation for lease_id, claim_no, generation in rows
            if numbers[lease_id] == claim_no}


def _write(connection, statement, claimed, **values):
    if not claimed:
        return
    done = statement.execute(connection, [(lease.id, lease.claim_no) for lease in claimed], values)
    if done.rowcount != len(claimed):
        raise errors.LostRace()
