# SPDX-License-Identifier: Apache-2.0
"""Sums of what an owner holds, compared with the allocations that are read one by one."""
import collections
import contextlib
import datetime
import random

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import durations
from climate.db import held_resources
from climate.db import held_sums
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records
from climate.domain.limits import rules

REACH = builders.at(2), builders.at(60)
SPAN = builders.at(10), builders.at(30)
COUNTED = (rules.Measure.OPEN_LEASES, rules.Measure.WAITING_LEASES, rules.Measure.HELD_OFFERS)
MEMBERS = [builders.a_member(user, project) for user, project in (
    ('alice', 'demo'), ('bob', 'demo'), ('alice', 'other'))]


def random_request(draw, first=1):
    """A LeaseRequest of hosts or instances, whose start and end are at no whole second."""
    start = builders.at(draw.randrange(first, 50)) + datetime.timedelta(
        microseconds=draw.randrange(10 ** 6))
    wish = draw.choice([builders.hosts(draw.randint(1, 2)), builders.instances(
        draw.randint(1, 3), vcpus=draw.randint(1, 2))])
    return builders.a_lease(
        wish, start=start, end=start + datetime.timedelta(seconds=draw.randrange(3600, 90_000)))


def hold_much(manager, draw):
    """Random leases and offers, some of which are over or wait."""
    manager.enrol(4)
    leases = []
    for _ in range(25):
        with contextlib.suppress(errors.ClimateError):
            leases.append(manager.create(random_request(draw), draw.choice(MEMBERS)))
    manager.run_until(builders.at(8))
    for lease in draw.sample(leases, 5):
        if manager.lease(lease).state == lifecycle.ACTIVE:
            manager.change(lease, end_now=True)
    manager.run()
    for _ in range(6):
        with contextlib.suppress(errors.ClimateError):
            manager.hold(random_request(draw, first=9), draw.choice(MEMBERS))
        manager.create(builders.a_lease(
            builders.hosts(4), duration_seconds=3600, acquire=records.AcquireRequest(
                'wait', not_after=builders.at(40))), draw.choice(MEMBERS))


def counted_apart(connection, per, since, now):
    """The sums of an owner: ({measure: number}, {resources: [number, seconds]})."""
    of_project = per is rules.Per.PROJECT
    rows = held_resources.read(connection, held_resources.HeldSearch(
        project_id='demo' if of_project else None, user_id=None if of_project else 'alice',
        now=now, since=since, span=REACH))
    open_ids = {row.holding_id for row in rows
                if row.what == held_resources.LEASE and row.over_at is None}
    numbers = {
        rules.Measure.OPEN_LEASES: len(open_ids),
        rules.Measure.WAITING_LEASES: len({row.holding_id for row in rows if row.holding_id in
                                           open_ids and row.state == lifecycle.ACQUIRING}),
        rules.Measure.HELD_OFFERS: len({row.holding_id for row in rows
                                        if row.what == held_resources.OFFER})}
    parts = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row.allocation_id is not None:
            sums = parts[row.pool, row.whole, row.capacity, row.amount]
            sums[0] += row.copies if row.start < SPAN[1] and SPAN[0] < row.end else 0
            sums[1] += row.copies * (row.end - row.start).total_seconds()
            sums.append(row.copies)
    return numbers, parts


@pytest.mark.proof
@pytest.mark.parametrize('per', list(rules.Per))
@pytest.mark.parametrize('seed', range(3))
def test_sums_are_those_of_the_allocations_and_never_less(manager, database, seed, per):
    hold_much(manager, random.Random(seed))
    since, now = builders.at(-5), manager.clock()
    with database.reader() as connection:
        numbers, parts = counted_apart(connection, per, since, now)
        rows = held_sums.read(connection, held_sums.SumsSearch(
            owners=frozenset((per, what) for what in (*COUNTED, held_sums.PART)),
            with_amounts=True, project_id='demo', user_id='alice', now=now, since=since,
            reach=REACH, span=SPAN))
    assert {row.what: row.number for row in rows if row.what != held_sums.PART} == numbers
    found = {(row.pool, bool(row.whole), row.capacity, row.amount): row
             for row in rows if row.what == held_sums.PART}
    assert parts.keys() == found.keys()
    for key, (number, seconds, *copies) in parts.items():
        assert found[key].number == number
        assert seconds <= found[key].seconds <= seconds + 2 * sum(copies)


@pytest.mark.parametrize('seconds', [0, 0.000001, 0.4, 0.999999, 1, 3599.5, 86400 * 4000 + 0.6])
def test_the_seconds_between_two_moments_are_less_than_one_off(database, seconds):
    start = builders.NOON + datetime.timedelta(microseconds=700_000)
    start, end = (sa.bindparam(name, moment, tables.UtcDateTime) for name, moment in (
        ('start', start), ('end', start + datetime.timedelta(seconds=seconds))))
    with database.reader() as connection:
        found = connection.execute(sa.select(durations.SecondsBetween(start, end))).scalar()
    assert found == int(found) and abs(found - seconds) < 1
