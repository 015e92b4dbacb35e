# SPDX-License-Identifier: Apache-2.0
"""Wake-ups in the wait queue: which lease is tried when a resource is released.

The order of the queue is in :mod:`climate.db.wait_queue`. A release wakes the first lease. After
the try of a woken lease, successful or not, the next lease that may succeed is woken. So each
release reaches the whole queue. `CapacityBound` excludes leases that cannot succeed, so a release
costs little even if many leases wait. A lease may not take a resource before all earlier leases
have been tried, so the order also holds with several managers.

A transaction that wakes the queue or writes a waiting lease locks the queue first. See
:mod:`climate.db` for the order of all locks.
"""
import datetime

from climate import errors
from climate.db import allocations
from climate.db import free_resources
from climate.db import given_back
from climate.db import series_occurrences
from climate.db import wait_queue
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import minimum_need
from climate.manager import core as cores

# The number of waiting leases that are read at once to find one that may succeed.
_READ_AT_ONCE = 200


class CapacityBound:
    """An upper bound of the resources that leases can get from `now` on.

    Most waiting leases exceed the bound and need no plan. Each pool is read at most once.

    :param own: ids of the reservations whose allocations do not count.
    """

    def __init__(self, connection, conf, now, own=()):
        self._connection = connection
        self._cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
        self._now = now
        # Waiting leases may get what was returned.
        self._own = (*own, *given_back.ids(connection))
        self._groups = {}

    def shortage(self, needed, until):
        """Return a ``minimum_need.Shortage`` if a lease cannot get its resources now, or None.

        :param needed: the result of ``minimum_need.of`` for the lease; None: not known.
        :param until: the end of the lease if it starts now.
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
    """Lock the queue if a locked lease may wait in it, or retries its start.

    A transaction that may wake leases calls this function before it writes events of the lease.
    """
    if lease.state == lifecycle.ACQUIRING or due_events.has_retry(lease):
        wait_queue.lock(connection)


def wake(connection, now, leaving=None):
    """Wake the first lease in the queue, and series, because this transaction releases resources.

    Call it before events of the releasing lease are written.

    :param leaving: the id of a lease that leaves the queue in this transaction.
    """
    waiting = wait_queue.who_waits(connection)
    if waiting.occurrences:
        series_occurrences.wake(connection, now)
    if waiting.leases:
        # The lock keeps the first lease first until this transaction is committed.
        wait_queue.lock(connection)
        _wake(connection, wait_queue.first(connection, leaving), now)
        wait_queue.wake_healing(connection, now)


def pass_on(connection, conf, acquisition, now):
    """Wake the next lease in the queue that may succeed, after a woken lease was tried.

    The first lease, and leases for which resources are held back, are never skipped. Skipped leases
    miss nothing, because the next release wakes the first lease again.

    :param acquisition: the Acquisition of the lease that was tried.
    """
    last, bound = acquisition, CapacityBound(connection, conf, now)
    first = wait_queue.first(connection)
    while True:
        queued = wait_queue.behind(connection, last, _READ_AT_ONCE)
        for lease in queued:
            is_sure = lease.lease_id == first or lease.holds
            if is_sure or bound.shortage(lease.least, lease.until(now)) is None:
                _wake(connection, lease.lease_id, now)
                return
        if len(queued) < _READ_AT_ONCE:
            given_back.close(connection, now)
            return
        last = queued[-1]


def next_cleaned(connection, conf, now):
    """Return when the cleaning of the next resource ends, or None.

    This moment wakes no lease, so the caller must schedule a try.
    """
    cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
    return allocations.next_cleaned(connection, now, cleaning) if cleaning else None


def wake_first(connection, now):
    """Wake the first lease in the queue, because a later lease found resources by a timed try."""
    _wake(connection, wait_queue.first(connection), now)


def refuse_out_of_turn(connection, acquisition, now, alone=False):
    """Raise OutOfTurn if another lease must be served before this Acquisition.

    Call it after resources are locked and proved free, because every earlier release has then woken
    the first lease.

    :param alone: True: refuse every lease but the first, even if no earlier lease is due for a try.
    :raises OutOfTurn: another lease must be served first.
    """
    # Leases whose failed start is retried go first, because their resources were allocated before.
    if (wait_queue.is_healing_due(connection, now)
            or wait_queue.is_due_before(connection, acquisition, now)
            or (alone and not wait_queue.is_first(connection, acquisition.lease_id))):
        raise OutOfTurn()


def refuse_too_many(connection, conf, project_id):
    """Refuse another waiting lease of a project that has reached its limit in the queue.

    The count is reliable only if the caller has locked the queue in the same transaction.

    :raises TooManyWaiting: the project has as many as [acquire] waiting_per_project allows.
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
