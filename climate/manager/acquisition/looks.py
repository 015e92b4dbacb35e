# SPDX-License-Identifier: Apache-2.0
"""The looks of the clock at leases that wait: those in vain are put off together, without a try.

A release wakes the leases that it may help. The clock looks at each lease besides, again and
again, so there are many looks, and nearly all are in vain.
"""
import datetime

from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import acquisition_reasons
from climate.domain import event_kinds
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.queue import bound


class Looks:
    """Puts off the timed tries that cannot succeed and would tell their leases nothing new."""

    def __init__(self, core):
        self._core = core
        self._pause = datetime.timedelta(seconds=core.conf.acquire.wait_look_seconds)

    def sift(self, due, now):
        """Put off the tries in vain among Events that are due; return the other events.

        It costs as many statements for a hundred leases as for one.
        """
        ids = [event.lease_id for event in due if event.kind == event_kinds.ACQUIRE]
        if not ids:
            return due
        with self._core.database.reader() as connection:
            first = wait_queue.first(connection)
            waiting = [each for each in wait_queue.of_leases(connection, ids)
                       if each.lease_id != first and self._may_be_put_off(each, now)]
            free = bound.Bound(connection, self._core.conf, now)
            in_vain = []
            for each in waiting:
                # A lease that cannot be judged has its try, which is isolated.
                with cores.isolated('Lease %s, in the queue', each.lease_id):
                    if _says_so(each, free.shortage(each.least, each.until(now))):
                        in_vain.append(each.lease_id)
        if not in_vain:
            return due
        done = self._put_off(in_vain, now)
        return [event for event in due if event.lease_id not in done]

    def _may_be_put_off(self, each, now):
        """Return whether a Waiting lease has no other cause to be tried than the clock."""
        given_up_at = each.given_up_at()
        return (each.type == acquire.WAIT and not each.woken and not each.holds
                and (given_up_at is None or given_up_at > now + self._pause))

    @cores.again_after_a_race
    def _put_off(self, lease_ids, now):
        with self._core.database.writer() as connection:
            wait_queue.lock(connection)
            return wait_queue.postpone(connection, lease_ids, now, now + self._pause)


def _says_so(each, short):
    """Return whether a lease does not fit, and its reason says why already."""
    return (short is not None and each.reason is not None
            and each.reason.startswith(
                acquisition_reasons.in_queue(texts.same(short.message)).operator))
