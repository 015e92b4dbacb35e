# SPDX-License-Identifier: Apache-2.0
"""Claims of leases by the managers that carry out their events.

The claim number of a lease increases with each claim. Every write for an event is conditional on
this number, so a manager that lost its claim writes nothing.
"""
import dataclasses

import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import tables
from climate.domain import texts

LEASES = tables.LEASES
# Statements of every lease's life are built once, because building one costs more than running it.
# Statements with _CLAIM change only leases that still have the claim number that was read.
_CLAIM = LEASES.c.id, LEASES.c.claim_no
_WRITE = by_keys.ByKeys(sa.update(LEASES), *_CLAIM)
_TAKEN = sa.update(LEASES).values(claim_no=LEASES.c.claim_no + 1)
_TAKE = by_keys.ByKeys(_TAKEN, *_CLAIM)
_BEGIN_TASK = by_keys.ByKeys(_TAKEN.values(generation=LEASES.c.generation + 1), *_CLAIM)
_END = (
    sa.update(LEASES)
    .where(LEASES.c.id == sa.bindparam('lease_id'), LEASES.c.claim_no == sa.bindparam('claim'))
    .values(claim_owner=None, generation=LEASES.c.generation + 1))
_END_TASK = (_END.where(LEASES.c.task == sa.bindparam('ended_task'))
             .values(task=None, task_until=None))
_LOCK = by_keys.ByKeys(
    sa.select(LEASES.c.id, LEASES.c.claim_no, LEASES.c.generation).order_by(LEASES.c.id)
    .with_for_update(), LEASES.c.id)


def take(connection, leases, owner):
    """Claim locked leases for `owner`; return them with their new claim numbers.

    The generation stays the same, because users see no change.

    :raises LostRace: a lease was claimed since it was read; the transaction must be rolled back.
    """
    _write(connection, _TAKE, leases, claim_owner=owner)
    return [dataclasses.replace(lease, claim_no=lease.claim_no + 1) for lease in leases]


def take_for(connection, leases, owner, task, until, now):
    """Claim locked leases for `owner` and show that `task` is running on them; return them.

    The generation of a lease that shows this task already stays the same, because the task is only
    tried again.

    :param until: the moment until which the task is shown.
    :raises LostRace: a lease was claimed since it was read; the transaction must be rolled back.
    """
    values = {'task': task, 'task_until': until}
    retried = [lease for lease in leases if lease.task == task]
    begun = [lease for lease in leases if lease.task != task]
    _write(connection, _TAKE, retried, claim_owner=owner, task_until=until)
    _write(connection, _BEGIN_TASK, begun, claim_owner=owner, updated_at=now, **values)
    return [dataclasses.replace(lease, claim_no=lease.claim_no + 1, **values,
                                generation=lease.generation + (lease.task != task))
            for lease in leases]


def hold_task(connection, claimed, until):
    """Show the tasks of claimed leases until `until`.

    :raises LostRace: a claim was lost; the transaction must be rolled back.
    """
    _write(connection, _WRITE, claimed, task_until=until)


def end_task(connection, lease, now, state, reason, **values):
    """End the task of a lease and record its new state, with the reason, a ``texts.Text`` or None.

    The generation may have increased since the lease was read (a rename); the claim number may not.

    :returns: the lease with its new values, which are exact if its generation had not increased.
    :raises LostRace: the claim was lost; nothing is written.
    """
    reason = texts.columns('reason', reason)
    done = connection.execute(_END_TASK, {
        'lease_id': lease.id, 'claim': lease.claim_no, 'ended_task': lease.task, 'state': state,
        'updated_at': now, **values, **reason})
    if done.rowcount != 1:
        raise errors.LostRace()
    return dataclasses.replace(
        lease, state=state, task=None, task_until=None, updated_at=now,
        generation=lease.generation + 1, **values, **reason)


def end_quietly(connection, lease, now, state, reason, **values):
    """Record the new state of a lease after an event that shows no task.

    A task that the lease shows belongs to another event, and stays. Parameters, result and errors
    are those of `end_task`.
    """
    reason = texts.columns('reason', reason)
    done = connection.execute(_END, {
        'lease_id': lease.id, 'claim': lease.claim_no, 'state': state,
        'updated_at': now, **values, **reason})
    if done.rowcount != 1:
        raise errors.LostRace()
    return dataclasses.replace(lease, state=state, updated_at=now,
                               generation=lease.generation + 1, **values, **reason)


def lock(connection, claimed):
    """Lock leases; return {lease id: generation} of the leases that still have the claim."""
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
