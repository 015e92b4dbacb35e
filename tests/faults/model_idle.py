# SPDX-License-Identifier: Apache-2.0
"""The steps about idle leases, and the truths: nothing in use and nothing exempt is reclaimed."""
import collections
import contextlib

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_networks
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import events
from climate.db import leases
from climate.db import tables
from climate.db import use_samples
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import use_sampling
from climate.manager.idle import rules

_DONE = 'Nothing ran on%'
_ENDED = '%so it ends now.'
# What takes servers off a running lease, too.
_OTHERS = {event_kinds.UPDATE, event_kinds.HEAL, event_kinds.DELETE}


def taken_back(database, like=_DONE):
    """Return a Counter of how often each lease was reclaimed, or a part of it."""
    history = tables.HISTORY.c
    with database.reader() as connection:
        return collections.Counter(dict(connection.execute(
            sa.select(history.lease_id, sa.func.count()).where(
                history.what == event_kinds.RECLAIM, history.why.like(like))
            .group_by(history.lease_id)).all()))


def nothing_in_use_is_taken_back(ended, recorded, booted_for, there):
    """A lease with a server on it was not ended for idleness.

    :param ended: ids of the leases that were ended since the last look.
    :param booted_for: {server id: the id of the reservation it was booted for}.
    :param there: ids of the servers that were there until then, and no user has deleted.
    """
    for server_id, reservation_id in booted_for.items():
        lease_id = recorded.reservations[reservation_id].lease_id
        assert lease_id not in ended or server_id not in there, (
            f'{lease_id} was reclaimed with server {server_id} on it.')


def nothing_exempt_is_taken_back(counts, exempt):
    """An exempt lease was not reclaimed since it was exempted.

    :param counts: as `taken_back`.
    :param exempt: {lease id: its count when it was exempted}.
    """
    for lease_id, count in exempt.items():
        assert counts[lease_id] == count, f'{lease_id} is exempt, and was reclaimed.'


class Idle(model_networks.Networks):
    """The steps about idle leases.

    :ivar exempt: {lease id: how often it was taken back before it was exempted}.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.exempt = {}
        self._ended = collections.Counter()
        self._taken = collections.Counter()
        self._there = set()
        self._booted = set()

    def _running(self):
        """The rows of the leases that run, so that they may be called idle."""
        return [each for each in self.live() if each.state == lifecycle.ACTIVE
                and each.task is None and each.start < self.now < each.end]

    @stateful.precondition(lambda self: self._running())
    @base.rule(side=base.SIDE, which=base.WHICH, action=st.sampled_from(['end', 'shrink']),
               later=st.sampled_from([0, 0, 1]), works=st.booleans())
    def a_lease_is_called_idle(self, side, which, action, later, works):
        """Its samples say that nothing ran, whatever runs now."""
        self.world.conf.set_override('action', action, group='idle')
        lease_id = self.pick(self._running(), which).id

        def call(manager):
            with contextlib.suppress(errors.LostRace), manager.database.writer() as connection:
                lease = leases.lock(connection, lease_id)
                if (lease.state == lifecycle.ACTIVE and lease.task is None
                        and lease.start < self.now < lease.end and not lease.idle_exempt
                        and rules.is_measured(manager.core, lease)):
                    self._mark(connection, lease, self.now + builders.minutes(later))
                    self.tally['called idle'] += 1
        self.act(side, call)
        if works:
            self.act(side, lambda manager: manager.run())

    def _mark(self, connection, lease, at):
        hour = use_sampling.hour_of(self.now)
        for ahead in range(-2, 3):
            use_samples.add(connection, hour + builders.hours(ahead), dict.fromkeys(
                rules.sample_keys(lease), use_sampling.Sample(3600, 3600, 0)))
        leases.change(connection, lease, self.now, idle_since=self.now, reclaim_at=at)
        events.change(connection, lease.id, lease_events.reclaimed(lease, at), self.now)

    @stateful.precondition(lambda self: self.live())
    @base.rule(side=base.SIDE, which=base.WHICH, exempt=st.sampled_from([True, True, False]))
    def an_administrator_exempts_a_lease(self, side, which, exempt):
        self.exempt_one(side, self.pick(self.live(), which).id, exempt)

    def exempt_one(self, side, lease_id, exempt):
        # A manager that dies of it leaves the administrator without an answer.
        self.exempt.pop(lease_id, None)
        changed = self.ask(side, lambda client: client.update_lease(
            builders.an_admin(), lease_id, records.LeaseChanges(idle_exempt=exempt)))
        if changed is not None and exempt:
            self.exempt[lease_id] = taken_back(self.world.database)[lease_id]

    @stateful.invariant()
    def nothing_is_taken_back_that_may_not_be(self):
        before, self._ended = self._ended, taken_back(self.world.database, _ENDED)
        booted = set(self.booted_for)
        there = (self._there | (booted - self._booted)) - self.deleted_by_users
        ended = {key for key, count in (self._ended - before).items() if not (
            {each.kind for each in self.recorded.events[key]} & _OTHERS)}
        taken = taken_back(self.world.database)
        self.tally['idle leases reclaimed'] += (taken - self._taken).total()
        self._taken = taken
        if not self.world.frozen:
            nothing_in_use_is_taken_back(ended, self.recorded, self.booted_for, there)
        nothing_exempt_is_taken_back(taken, self.exempt)
        self._there, self._booted = self.world.witness.there(), booted
