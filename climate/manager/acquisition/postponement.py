# SPDX-License-Identifier: Apache-2.0
"""Postpone, in one batch, the timed tries of waiting leases that cannot succeed yet.

A release wakes the leases that it may help. Each waiting lease is also tried at regular intervals.
Nearly all of these timed tries fail.
"""
import datetime

from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import acquisition_reasons
from climate.domain import event_kinds
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.queue import wakeups


class Postponement:
    """Postpones timed tries that cannot succeed and would not change the reason of their leases."""

    def __init__(self, core):
        self._core = core
        self._pause = datetime.timedelta(seconds=core.conf.acquire.wait_look_seconds)

    def postpone_hopeless(self, due, now):
        """Postpone the tries that cannot succeed among Events that are due; return the others.

        The number of statements does not grow with the number of leases.
        """
        ids = [event.lease_id for event in due if event.kind == event_kinds.ACQUIRE]
        if not ids:
            return due
        with self._core.database.reader() as connection:
            first = wait_queue.first(connection)
            queued = [lease for lease in wait_queue.of_leases(connection, ids)
                      if lease.lease_id != first and self._is_only_timed(lease, now)]
            bound = wakeups.CapacityBound(connection, self._core.conf, now)
            hopeless = []
            for lease in queued:
                with cores.isolated('Lease %s, in the queue', lease.lease_id,
                                    then='it is not postponed'):
                    if _is_explained(lease, bound.shortage(lease.least, lease.until(now))):
                        hopeless.append(lease.lease_id)
        if not hopeless:
            return due
        postponed = self._postpone(hopeless, now)
        return [event for event in due if event.lease_id not in postponed]

    def _is_only_timed(self, lease, now):
        """Return whether the try of a QueuedLease has no other cause than its time."""
        given_up_at = lease.given_up_at()
        return (lease.type == acquire.WAIT and not lease.woken and not lease.holds
                and (given_up_at is None or given_up_at > now + self._pause))

    @cores.again_after_a_race
    def _postpone(self, lease_ids, now):
        with self._core.database.writer() as connection:
            wait_queue.lock(connection)
            return wait_queue.postpone(connection, lease_ids, now, now + self._pause)


def _is_explained(lease, shortage):
    """Return whether a QueuedLease has a Shortage that its reason already explains."""
    return (shortage is not None and lease.reason is not None
            and lease.reason.startswith(
                acquisition_reasons.in_queue(texts.same(shortage.message)).operator))
