# SPDX-License-Identifier: Apache-2.0
"""The first try of a new lease, made in its request."""
import dataclasses
import datetime
import random

from climate import errors
from climate.db import events
from climate.db import resources
from climate.domain import acquire
from climate.domain import agenda
from climate.domain import fit
from climate.domain import joint
from climate.domain import lifecycle
from climate.manager import booking
from climate.manager import core as cores
from climate.manager import criteria
from climate.manager.acquire import hunt
from climate.manager.acquire import line
from climate.manager.acquire import words


class FirstTry:
    """Books a new lease, or lets it be acquired later where its type says so."""

    def __init__(self, core):
        self._core = core
        self._conf = core.conf.acquire
        self._booking = booking.Booking(core)
        self._hunt = hunt.Hunt(core)

    def plan(self, lease, wishes, span, now):
        """(lease, the Allocations that it gets now).

        Where it gets none now, and its type goes on trying, the lease is the one that is being
        acquired, and there are no Allocations but None.

        :raises NotEnough: there is no room, and nothing to wait for.
        """
        try:
            return lease, self._booking.plan(wishes, span, now)
        except errors.NotEnough as error:
            return self._sought(lease, wishes, span, now, error), None

    def book(self, lease, wishes, span, now, planned, write):
        """What ``write(connection, lease, chosen)`` returned, of the lease that it is then.

        :param planned: of `plan`.
        :raises NotEnough: others were faster, and its type does not go on trying.
        :raises LostRace: the same, at every attempt.
        """
        if planned is not None:
            def in_turn(connection, chosen):
                if lease.acquisition is not None and lease.acquisition.type in acquire.QUEUED:
                    line.refuse_out_of_turn(connection, lease.acquisition, now)
                return write(connection, lease, chosen)
            try:
                return self._booking.book(wishes, span, now, in_turn, planned=planned)
            except (errors.NotEnough, errors.LostRace) as error:
                lease = self._sought(lease, wishes, span, now, error)
            except line.OutOfTurn:
                lease = self._waiting(lease, now, 'Others who wait come first.')
        return self._write_without(lease, write)

    @cores.again_after_a_race
    def _write_without(self, lease, write):
        with self._core.database.writer() as connection:
            return write(connection, lease, [])

    def _sought(self, lease, wishes, span, now, error):
        """The lease while it is being acquired.

        :param error: the NotEnough or LostRace of its first try.
        :raises NotEnough: trying again would be in vain.
        """
        if lease.acquisition is None:
            raise error
        if lease.acquisition.type == acquire.BEST_EFFORT:
            plan = self._hunt.plan(lease, wishes, now)
            return self._waiting(lease, now, error.message, plan=plan)
        if isinstance(error, errors.NotEnough):
            self._refuse_impossible(wishes, span, error)
        return self._waiting(lease, now, error.message)

    def _waiting(self, lease, now, reason, plan=None):
        acquisition = dataclasses.replace(lease.acquisition, plan=plan)
        next_at = self._next_at(acquisition, now)
        if acquisition.type in acquire.QUEUED:
            # What was given back while this request was answered woke nobody: it is as if it was
            # woken at once.
            acquisition = dataclasses.replace(acquisition, wakes=1)
        text = words.attempt(lease, acquisition.attempts, next_at, reason)
        return dataclasses.replace(
            lease, state=lifecycle.ACQUIRING,
            reason=' '.join(filter(None, (text, lease.reason))),
            events=(events.new(lease.id, agenda.ACQUIRE, now, now),),
            acquisition=dataclasses.replace(acquisition, next_at=next_at))

    def _next_at(self, acquisition, now):
        conf = self._conf
        if acquisition.type == acquire.RETRIES:
            return now + acquire.pause(acquisition.retry_pause_seconds,
                                       conf.retry_pause_longest_seconds, 1, random.random())
        if acquisition.type == acquire.WAIT:
            return now + datetime.timedelta(seconds=conf.wait_look_seconds)
        return None

    def _refuse_impossible(self, wishes, span, error):
        """Nothing, where all that is enrolled would be enough if nobody had any of it.

        :raises NotEnough: the `error`, which says so then.
        """
        with self._core.database.reader() as connection:
            asks = []
            for wish in wishes:
                if wish.need.optional:
                    continue
                known = {each.id: each for each in resources.find(connection, wish.need.pool)
                         if each.lent_to is None}
                asks.append(joint.Ask(wish.need.demand, [
                    fit.Candidate(key, known[key].capacity) for key in criteria.matching(
                        self._core, connection, wish.need, known)]))
        try:
            joint.choose(asks, span)
        except errors.NotEnough:
            raise errors.NotEnough(
                f'{error.message} All that is enrolled would not be enough, so there is nothing '
                'to wait for.', **error.kwargs) from error
