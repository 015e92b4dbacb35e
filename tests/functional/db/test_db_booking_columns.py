# SPDX-License-Identifier: Apache-2.0
"""Allocations read as columns equal allocations read as records."""
import collections
import datetime
import random

import pytest
from support import builders
from support import db_rows

from climate.db import allocations
from climate.db import booking_columns
from climate.db import resources
from climate.domain import interval
from climate.domain import selection

NOON, hours = builders.NOON, builders.hours
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
AMOUNTS = ({'vcpus': 1}, {'vcpus': 2, 'gb': 7})


def moment(number):
    return EPOCH + int(number) * interval.RESOLUTION


def records_of(found):
    """The columns as (resource id, start, end, amount, copies), sorted."""
    return sorted((key, moment(start), moment(end), *(str(each) for each in found.amounts[kind]))
                  for key, start, end, kind in zip(
                      *(each.tolist() for each in (found.owners, found.starts, found.ends,
                                                   found.kinds)), strict=True))


@pytest.mark.parametrize('seed', range(3))
def test_columns_hold_what_records_hold_to_the_microsecond(database, seed):
    made = random.Random(seed)
    ids = db_rows.hosts(database, *(f'host-{number}' for number in range(5)))
    lease = db_rows.saved(database, db_rows.a_lease(reservations=2))
    given = []
    for number in range(60):
        # Whole ones on two of the hosts, one after the other; parts on the others, at any time.
        whole = number % 2 == 0
        start = NOON + (number + made.random() / 2 if whole else made.random() * 60) * hours(2)
        given.append(db_rows.allocation(
            lease, ids[number // 2 % 2] if whole else made.choice(ids[2:]), start,
            start + made.random() * hours(1 if whole else 9) + hours(0.01),
            whole=whole, amount={} if whole else made.choice(AMOUNTS),
            copies=1 if whole else made.randint(1, 3)))
    db_rows.allocate(database, *given)
    span = interval.Interval(NOON + hours(20), NOON + hours(60))
    with database.reader() as connection:
        found = booking_columns.of_pool(connection, 'host', span)
        known = allocations.bookings(connection, ids, span)
    wanted = collections.Counter(
        (key, each.start, each.end, str(amount)) for key, taken in known.items()
        for each, amount in taken)
    told = collections.Counter()
    for key, start, end, amount, copies in records_of(found):
        told[key, start, end, amount] += int(copies)
    assert told == wanted
    assert 10 < told.total() < 120


@pytest.mark.parametrize('count', [3, 600])
def test_columns_have_the_bookings_of_others_for_few_and_for_many_resources(database, count):
    ids = db_rows.hosts(database, *map(str, range(count)))
    lease, mine = (db_rows.saved(database, db_rows.a_lease()) for _ in range(2))
    far = datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=datetime.UTC)
    db_rows.allocate(database, *[
        db_rows.allocation(whose, key, NOON + hours(key % 3), NOON + hours(key % 3 + 1),
                           whole=not key % 2, amount={} if not key % 2 else {'vcpus': key % 5})
        for key in ids for whose in ((lease, mine) if key % 2 else (lease,))],
        db_rows.allocation(lease, ids[-1], NOON + hours(4), far))
    span = interval.Interval(NOON + hours(1), NOON + hours(5))
    own = {mine.reservations[0].id}
    with database.reader() as connection:
        booked = allocations.bookings(connection, ids, span, ignoring=own)
        found = records_of(booking_columns.of_resources(connection, ids, span, own))
        assert records_of(booking_columns.of_resources(connection, [], span)) == []
    assert found == sorted((key, when.start, when.end, str(amount), '1')
                           for key, given in booked.items() for when, amount in given)
    assert found[-1][2] == far


def test_without_parts_it_only_matters_that_something_was_allocated(database):
    [mine] = db_rows.hosts(database, 'host')
    lease = db_rows.saved(database, db_rows.a_lease())
    db_rows.allocate(database, db_rows.allocation(lease, mine, whole=False, amount={'vcpus': 1}))
    with database.reader() as connection:
        found = booking_columns.of_pool(connection, 'host', lease.interval, parts=False)
        assert records_of(found) == [(mine, lease.start, lease.end, str(selection.WHOLE), '1')]
        assert records_of(booking_columns.of_pool(
            connection, 'host', lease.interval, [lease.reservations[0].id], parts=False)) == []


def test_columns_have_no_void_bookings_and_no_resources_that_cannot_be_leased(database):
    mine, broken, withdrawn = db_rows.hosts(database, 'mine', 'broken', 'withdrawn')
    [disk] = db_rows.hosts(database, 'disk', pool='volume')
    lease = db_rows.saved(database, db_rows.a_lease(reservations=1))
    later = {'start': NOON + hours(5), 'end': NOON + hours(6)}
    db_rows.allocate(
        database, *(db_rows.allocation(lease, key) for key in (mine, broken, withdrawn, disk)),
        db_rows.allocation(lease, mine, NOON - hours(2), NOON),
        db_rows.allocation(lease, mine, NOON + hours(9), NOON + hours(10)))
    with database.writer() as connection:
        allocations.add(connection, [db_rows.allocation(lease, mine, **later)])
        resources.change(connection, broken, NOON, reservable=False)
        resources.change(connection, withdrawn, NOON, withdrawn_at=NOON)
        allocations.change(connection, [lease.reservations[0].id], [disk],
                           released_at=NOON - hours(1))
    span = interval.Interval(NOON, NOON + hours(9))
    with database.reader() as connection:
        found = booking_columns.of_pool(connection, 'host', span, parts=False)
    assert [each[:3] for each in records_of(found)] == [
        (mine, lease.start, lease.end), (mine, *later.values())]


def test_a_pool_without_allocations_has_none(database):
    span = interval.Interval(NOON, NOON + hours(9))
    with database.reader() as connection:
        for parts in (True, False):
            assert records_of(booking_columns.of_pool(connection, 'host', span, parts=parts)) == []
