# SPDX-License-Identifier: Apache-2.0
"""Random steps of users with series and with shares, and their invariants after each step."""
import collections
import datetime
import random
import uuid

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import series as stored
from climate.db import tables
from climate.domain import shares
from climate.domain.series import series_records
from climate.domain.series import series_times
from climate.manager.series import horizon

NOON, hours = builders.NOON, builders.hours
MEMBER = builders.a_member()
GUESTS = {'guests': builders.a_member('gil', 'guests'),
          'others': builders.a_member('eve', 'others')}
STEPS = 25


class SeriesWalk:
    """Creates, changes and cancels series, and lets time pass, at random."""

    def __init__(self, manager, seed):
        self.draw = random.Random(seed)
        self.manager = manager
        self.horizon = horizon.Horizon(manager.core)
        self.series = []
        self.others = []
        self.done = collections.Counter()

    def step(self):
        """Take a random step; it may be refused."""
        choices = [self.create, self.change, self.change, self.cancel, self.occupy, self.release,
                   self.pass_time, self.pass_time]
        taken = self.draw.choice(choices)
        try:
            taken()
        except (errors.Conflict, errors.OccurrenceNotFound, errors.BadRequest):
            self.done['refused'] += 1
        else:
            self.done[taken.__name__] += 1
        self.check()

    def create(self):
        day = self.draw.randint(0, 2)
        start = self.manager.clock() + hours(24 * day + self.draw.randint(1, 6))
        repeat = self.draw.choice(['every day for 5 times', 'every 2 days for 4 times'])
        self.series.append(self.manager.client.create_series(
            MEMBER, str(uuid.uuid4()), series_records.SeriesRequest(
                'walk', (builders.hosts(),), f'{start:%Y-%m-%dT%H:%M:%S}',
                self.draw.choice([3600, 7200]), repeat, 'UTC',
                self.draw.choice(series_records.MODES))).id)

    def change(self):
        if not self.series:
            return
        scope, number = self._scope()
        changes = self.draw.choice([{'seconds': 5400}, {'time': '15:00:00'}, {'name': 'renamed'}])
        changed = self.manager.client.update_series(
            MEMBER, self.draw.choice(self.series), series_records.SeriesChanges(
                scope, number, **changes))
        if changed.id not in self.series:
            self.series.append(changed.id)

    def cancel(self):
        if self.series:
            self.manager.client.cancel_series(MEMBER, self.draw.choice(self.series), *self._scope())

    def _scope(self):
        scope = self.draw.choice(series_records.SCOPES)
        return scope, None if scope == series_records.ALL else self.draw.randint(1, 5)

    def occupy(self):
        start = self.manager.clock() + hours(self.draw.randint(1, 60))
        self.others.append(self.manager.create(builders.a_lease(
            builders.hosts(2), start=start, end=start + hours(3)), GUESTS['others']))

    def release(self):
        if self.others:
            lease = self.others.pop(self.draw.randrange(len(self.others)))
            self.manager.client.delete_lease(GUESTS['others'], lease.id)

    def pass_time(self):
        self.manager.clock.advance(hours(self.draw.choice([1, 5, 26])))
        self.manager.run()
        self.horizon.step(self.manager.clock())

    def check(self):
        """Check that no occurrence is lost or doubled."""
        with self.manager.database.reader() as connection:
            known = stored.with_ids(connection, self.series)
            rows = connection.execute(sa.select(tables.SERIES_OCCURRENCES)).all()
            leases = {row.id: row for row in connection.execute(sa.select(tables.LEASES))}
        of_lease = collections.Counter(row.lease_id for row in rows if row.lease_id)
        assert all(count == 1 for count in of_lease.values()), of_lease
        for lease in leases.values():
            if lease.series_id is not None:
                assert of_lease[lease.id] == 1, f'{lease.id} is of no occurrence.'
        for row in rows:
            if row.status == series_records.BOOKED:
                assert leases[row.lease_id].series_id == row.series_id, row
            live = row.lease_id in leases and leases[row.lease_id].deleted_at is None
            over = row.start <= self.manager.clock()
            if row.status in (series_records.OFF, series_records.FAILED) and row.due_at is None:
                assert not live or over, row
        numbers = collections.defaultdict(dict)
        for row in rows:
            numbers[row.series_id][row.number] = row.status
        for series in known.values():
            if series.status == series_records.ACTIVE:
                # Occurrences that were cancelled or moved alone may have rows early.
                spans = dict(enumerate(series_times.spans(series.timing), 1))
                due = {number for number, span in spans.items()
                       if span.start < series.booked_until}
                assert due <= numbers[series.id].keys(), series
                beyond = {number: status for number, status in numbers[series.id].items()
                          if number not in spans}
                assert set(beyond.values()) <= {series_records.OFF}, (series, beyond)


@pytest.mark.proof
@pytest.mark.parametrize('seed', range(12))
def test_no_occurrence_of_a_series_is_lost_or_doubled_by_random_steps(manager, conf, seed):
    conf.set_override('horizon_days', 3, group='series')
    manager.enrol(2)
    walk = SeriesWalk(manager, seed)
    for _ in range(STEPS):
        walk.step()
    assert walk.done['create'] and walk.done['pass_time'], walk.done


class ShareWalk:
    """Shares a running lease with projects and users, and ends these shares, at random.

    :ivar open: {share id: Share} of the shares that are open.
    """

    def __init__(self, manager, seed):
        self.draw = random.Random(seed)
        self.manager = manager
        self.lease = manager.active(end=NOON + hours(24))
        self.open = {}

    def step(self):
        self.draw.choice([self.share, self.share, self.withdraw, self.leave, self.pass_time])()
        self._forget_over()
        self.check()

    def share(self):
        kind, receiver = self.draw.choice([
            ('project_id', 'guests'), ('project_id', 'others'), ('user_id', 'gil'),
            ('user_id', 'eve')])
        # A single user cannot have the role "user".
        role = self.draw.choice(['viewer', 'manager'] + ['user'] * (kind == 'project_id'))
        until = self.draw.choice([None, self.manager.clock() + hours(2)])
        try:
            made = self.manager.client.share_lease(MEMBER, self.lease.id, shares.ShareRequest(
                kind, receiver, role, until))
        except errors.Conflict:
            return
        self.open[made.id] = made

    def withdraw(self):
        if self.open:
            key = self.draw.choice(sorted(self.open))
            self.manager.client.withdraw_share(MEMBER, self.lease.id, key)
            del self.open[key]

    def leave(self):
        for key, made in sorted(self.open.items()):
            for caller in GUESTS.values():
                if made.is_for(caller):
                    self.manager.client.withdraw_share(caller, self.lease.id, key, left=True)
                    del self.open[key]
                    return

    def pass_time(self):
        self.manager.clock.advance(datetime.timedelta(minutes=self.draw.choice([10, 70])))
        self.manager.run()

    def _forget_over(self):
        now = self.manager.clock()
        self.open = {key: made for key, made in self.open.items()
                     if made.until is None or made.until > now}

    def check(self):
        """Check that exactly the receivers of open shares see the lease and use its hosts."""
        [reservation] = self.lease.reservations
        current, now = self.manager.lease(self.lease), self.manager.clock()
        for project, caller in GUESTS.items():
            best = shares.best_of(self.open.values(), caller, now)
            assert shares.access_of(current, caller, now) == (
                shares.Access.NONE if best is None else best.access), (project, self.open)
            uses = any(made.lets_in and made.project_id == project
                       for made in self.open.values())
            usable = self.manager.client.reservation_hosts(
                builders.an_admin(), reservation.id, project).usable
            assert bool(usable) == uses, (project, self.open)


@pytest.mark.proof
@pytest.mark.parametrize('seed', range(12))
def test_receivers_of_open_shares_alone_see_and_use_a_lease_after_random_steps(manager, seed):
    manager.enrol(1)
    walk = ShareWalk(manager, seed)
    for _ in range(STEPS):
        walk.step()
