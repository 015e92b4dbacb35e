# SPDX-License-Identifier: Apache-2.0
"""Postpone, in one batch, the timed tries of waiting leases that cannot succeed yet.

A release wakes the leases that it may help. The clock also tries each waiting lease again and
again, so there are many timed tries, and nearly all of them fail.
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
    """Postpones the timed tries that cannot succeed and have no new reason for their leases."""

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
            waiting = [each for each in wait_queue.of_leases(connection, ids)
                       if each.lease_id != first and self._is_only_timed(each, now)]
            free = wakeups.CapacityBound(connection, self._core.conf, now)
            hopeless = []
            for each in waiting:
                # A lease that cannot be judged has its try, which is isolated.
                with cores.isolated('Lease %s, in the queue', each.lease_id):
                    if _is_explained(each, free.shortage(each.least, each.until(now))):
                        hopeless.append(each.lease_id)
        if not hopeless:
            return due
        postponed = self._postpone(hopeless, now)
        return [event for event in due if event.lease_id not in postponed]

    def _is_only_timed(self, waiting, now):
        """Return whether only the clock is the cause of the try of a Waiting lease."""
        given_up_at = waiting.given_up_at()
        return (waiting.type == acquire.WAIT and not waiting.woken and not waiting.holds
                and (given_up_at is None or given_up_at > now + self._pause))

    @cores.again_after_a_race
    def _postpone(self, lease_ids, now):
        with self._core.database.writer() as connection:
            wait_queue.lock(connection)
            return wait_queue.postpone(connection, lease_ids, now, now + self._pause)


def _is_explained(waiting, short):
    """Return whether a lease does not fit, and its reason already says why."""
    return (short is not None and waiting.reason is not None
            and waiting.reason.startswith(
                acquisition_reasons.in_queue(texts.same(short.message)).operator))
