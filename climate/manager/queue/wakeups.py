# SPDX-License-Identifier: Apache-2.0
"""Wake-ups in the wait queue: which lease is tried when a resource is released.

The order of the queue is in :mod:`climate.db.wait_queue`. A release wakes the first lease. A
lease that was woken and tried wakes the next one that may succeed, whether it got its resources
or not, so each release reaches the whole queue. Leases that plainly cannot succeed are left out
(`CapacityBound`), so a release costs little, however many leases wait. A lease may take no resource
while a lease before it has not been tried yet, so the order also holds with several managers.

A transaction that wakes the queue, or writes anything of a lease that waits itself, locks the
queue first: see :mod:`climate.db` for the order of all locks.
"""
import datetime

from climate import errors
from climate.db import allocations
from climate.db import free_resources
from climate.db import wait_queue
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import minimum_need
from climate.manager import core as cores

# The number of waiting leases that are read at once to find one that may succeed.
_READ_AT_ONCE = 200


class CapacityBound:
    """A bound of the resources that leases can get from now on; each pool is read once, if needed.

    It shows of any number of waiting leases that they cannot get their resources now. That costs
    far less than a plan for each.
    """

    def __init__(self, connection, conf, now, own=()):
        """Make a bound for the moment `now`; nothing is read yet.

        :param own: ids of the reservations whose allocations do not count.
        """
        self._connection = connection
        self._cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
        self._now = now
        self._own = own
        self._groups = {}

    def shortage(self, needed, until):
        """Return a ``minimum_need.Shortage`` if a lease cannot get its resources now, or None.

        :param needed: the result of ``minimum_need.of`` for its needs; None: not known.
        :param until: the end of the lease if it begins now.
        """
        if not needed:
            return None
        for pool in needed:
            if pool not in self._groups:
                self._groups[pool] = free_resources.groups(
                    self._connection, pool, self._now, self._cleaning, self._own)
        return minimum_need.shortage(needed, self._groups, until + self._cleaning)


class OutOfTurn(Exception):
    """Another lease must be tried before this one; nothing was written."""


def lock(connection, lease):
    """Lock the queue if a lease, which is locked, may wait in it or for its own start.

    Call it before events of that lease are written, in a transaction that may wake others.
    """
    if lease.state == lifecycle.ACQUIRING or due_events.is_healing(lease):
        wait_queue.lock(connection)


def wake(connection, now, leaving=None):
    """Wake the first lease in the queue because this transaction releases resources.

    Call it before events of the releasing lease are written.

    :param leaving: the id of a lease that leaves the queue in this transaction.
    """
    if wait_queue.somebody_waits(connection):
        # The lock keeps the first lease first until this transaction is committed.
        wait_queue.lock(connection)
        _wake(connection, wait_queue.first(connection, leaving), now)
        wait_queue.wake_healing(connection, now)


def pass_on(connection, conf, acquisition, now):
    """Wake the next lease in the queue that may succeed, after a woken lease was tried.

    One statement reads many leases, and one for each pool finds those that cannot succeed. No
    release is missed: the next one wakes the first lease and is passed on from there. A lease that
    has become the first is woken in any case, because resources are held back for it.
    """
    place, free = acquisition, CapacityBound(connection, conf, now)
    first = wait_queue.first(connection)
    while True:
        waiting = wait_queue.behind(connection, place, _READ_AT_ONCE)
        for each in waiting:
            is_sure = each.lease_id == first or each.holds
            if is_sure or free.shortage(each.least, each.until(now)) is None:
                _wake(connection, each.lease_id, now)
                return
        if len(waiting) < _READ_AT_ONCE:
            return
        place = waiting[-1]


def next_cleaned(connection, conf, now):
    """Return the moment at which the next resource will have been cleaned, or None.

    No release wakes the queue then.
    """
    cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
    return allocations.next_cleaned(connection, now, cleaning) if cleaning else None


def wake_first(connection, now):
    """Wake the first lease in the queue, because a later one can be served without being woken."""
    _wake(connection, wait_queue.first(connection), now)


def refuse_out_of_turn(connection, acquisition, now, alone=False):
    """Raise OutOfTurn if another lease must be served before this Acquisition.

    Call it after resources are locked and proved free: each release until then has already woken
    the first lease.

    :param alone: refuse also if the leases before it are not due for a try.
    :raises OutOfTurn: another lease must be served first.
    """
    if wait_queue.is_healing_due(connection, now):
        # A lease whose failed start is retried goes first: its resources were allocated before.
        raise OutOfTurn()
    if wait_queue.is_due_before(connection, acquisition, now):
        raise OutOfTurn()
    if alone and not wait_queue.is_first(connection, acquisition.lease_id):
        raise OutOfTurn()


def refuse_too_many(connection, conf, project_id):
    """Refuse one more lease of a project in the queue if it has as many as it may.

    To count for sure, the caller locks the queue in the same transaction.

    :raises TooManyWaiting: it has as many as [acquire] waiting_per_project says.
    """
    most = conf.acquire.waiting_per_project
    count = wait_queue.count_of(connection, project_id) if most else 0
    if most and count >= most:
        raise errors.TooManyWaiting(count=count, most=most)


@cores.again_after_a_race
def release_held_back(core, lease):
    """Release the resources that other queued leases hold back; return True if there were any."""
    with core.database.reader() as connection:
        others = wait_queue.holders(connection, lease.id)
    if others:
        with core.database.writer() as connection:
            wait_queue.release_held(connection, others)
    return bool(others)


def _wake(connection, lease_id, now):
    if lease_id is not None:
        wait_queue.wake(connection, lease_id, now)
