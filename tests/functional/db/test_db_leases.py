# SPDX-License-Identifier: Apache-2.0
"""Leases, their tasks and their keys in the database."""
import concurrent.futures
import dataclasses

import pytest
from support import db_rows

from climate import errors
from climate.db import engine
from climate.db import lease_lists
from climate.db import leases
from climate.db import reservations
from climate.domain import lifecycle
from climate.domain import records

NOON, hours = db_rows.NOON, db_rows.hours
get = db_rows.lease_of


def found(database, now=NOON, **query):
    """The names of the leases that a query finds, in order."""
    with database.reader() as connection:
        return [each.name for each in
                lease_lists.find(connection, records.LeaseQuery(**query), now)]


def test_a_lease_comes_back_whole(database):
    [first, second] = db_rows.hosts(database, 'a', 'b')
    lease = db_rows.a_lease(reservations=2, before_end=NOON, trust_id='trust', reason='why',
                            degraded=True)
    db_rows.saved(database, lease)
    db_rows.allocate(database, db_rows.allocation(lease, second), db_rows.allocation(lease, first))
    back = get(database, lease)
    assert [each.resource_ids for each in back.reservations] == [(first, second), ()]
    bare = tuple(dataclasses.replace(each, allocated={}) for each in back.reservations)
    assert dataclasses.replace(back, reservations=bare) == lease


def test_reservations_keep_their_order(database):
    lease = db_rows.saved(database, db_rows.a_lease(reservations=20))
    assert [each.id for each in get(database, lease).reservations] == [
        each.id for each in lease.reservations]


def test_a_lease_that_is_not_there_is_not_found(database):
    with database.writer() as connection:
        for look in (leases.get, leases.lock):
            with pytest.raises(errors.LeaseNotFound):
                look(connection, 'nothing')


def test_a_lease_without_reservations_is_still_a_lease(database):
    lease = db_rows.saved(database, db_rows.a_lease(reservations=0))
    assert get(database, lease).reservations == ()


@pytest.mark.parametrize('query, names', [
    ({}, ['one', 'two', 'three']),
    ({'project_id': 'other'}, ['two']),
    ({'name': 'three'}, ['three']),
    ({'starts_before': NOON + hours(2)}, ['one']),
    ({'starts_before': NOON + hours(2.1)}, ['one', 'two']),
    ({'ends_after': NOON + hours(1)}, ['two', 'three']),
    ({'starts_before': NOON + hours(3), 'ends_after': NOON + hours(1)}, ['two']),
    ({'deleted': True}, ['one', 'two', 'three', 'gone']),
    ({'project_id': 'nobody'}, []),
])
def test_a_query_finds_what_it_names_and_no_more(database, query, names):
    db_rows.saved(
        database, db_rows.a_lease('one'),
        db_rows.a_lease('two', NOON + hours(2), created_at=NOON + hours(1), project_id='other'),
        db_rows.a_lease('three', NOON + hours(4), created_at=NOON + hours(2)),
        db_rows.a_lease('gone', created_at=NOON + hours(3), deleted_at=NOON))
    assert found(database, **query) == names


@pytest.mark.parametrize('word, names', [
    ('inactive', ['later']), ('to_be_started', ['late']), ('active', ['active']),
    ('ACTIVE', ['active']), ('error', ['error']), ('terminating', ['ending']),
    ('TERMINATING', ['ending']), ('timedout', []), ('PENDING', ['late', 'later']),
])
def test_a_query_for_a_status_finds_what_is_shown_with_that_word(database, word, names):
    db_rows.saved(
        database, db_rows.a_lease('late', NOON - hours(1)),
        db_rows.a_lease('later', NOON + hours(1)),
        db_rows.a_lease('active', state=lifecycle.ACTIVE),
        db_rows.a_lease('error', state=lifecycle.ERROR),
        db_rows.a_lease('ending', state=lifecycle.ACTIVE, task='end'))
    assert found(database, status=word, sort=(('name', True),)) == names


def test_a_query_for_a_resource_finds_each_lease_once_past_ones_too(database):
    one, two = db_rows.hosts(database, 'a', 'b')
    first, second, third = (db_rows.a_lease(name, reservations=2) for name in 'abc')
    db_rows.saved(database, first, second, third)
    db_rows.allocate(
        database, db_rows.allocation(first, one), db_rows.allocation(second, two),
        db_rows.allocation(third, one, NOON + hours(1), NOON + hours(2), released_at=NOON))
    db_rows.allocate(database, dataclasses.replace(
        db_rows.allocation(first, one, NOON + hours(3), NOON + hours(4)),
        reservation_id=first.reservations[1].id))
    assert found(database, resource_id=one, sort=(('name', True),)) == ['a', 'c']


@pytest.mark.parametrize('sort, names', [
    ((('name', True),), ['a', 'b', 'c', 'd']),
    ((('name', False),), ['d', 'c', 'b', 'a']),
    ((('end', True), ('name', False)), ['c', 'a', 'd', 'b']),
    ((('end', False), ('name', True)), ['b', 'd', 'a', 'c']),
    ((('start', True), ('end', False), ('name', True)), ['b', 'd', 'a', 'c']),
])
def test_pages_in_any_order_miss_nothing_and_repeat_nothing(database, sort, names):
    ends = {'a': 1, 'b': 2, 'c': 1, 'd': 2}
    db_rows.saved(database, *[db_rows.a_lease(name, end=NOON + hours(ends[name]))
                              for name in 'cadb'])
    assert found(database, sort=sort) == names
    assert _by_pages(database, sort, 1) == names
    assert _by_pages(database, sort, 3) == names


def test_pages_of_leases_that_are_all_alike_miss_nothing_and_repeat_nothing(database):
    db_rows.saved(database, *[db_rows.a_lease(str(number)) for number in range(7)])
    for sort in ((('created_at', True),), (('start', False), ('end', True)), ()):
        assert sorted(_by_pages(database, sort, 2)) == list('0123456')


def test_a_marker_that_is_no_lease_is_not_found(database):
    with pytest.raises(errors.LeaseNotFound):
        found(database, marker='nothing')


def _by_pages(database, sort, size):
    names, marker = [], None
    while True:
        query = records.LeaseQuery(sort=sort, limit=size, marker=marker)
        with database.reader() as connection:
            page = lease_lists.find(connection, query, NOON)
        if not page:
            return names
        assert len(page) <= size
        names += [lease.name for lease in page]
        marker = page[-1].id


def test_a_change_raises_the_generation_and_is_refused_to_whoever_read_before_it(database, lease):
    with database.writer() as connection:
        leases.change(connection, lease, NOON + hours(1), name='new')
    after = get(database, lease)
    assert (after.name, after.generation, after.updated_at) == ('new', 1, NOON + hours(1))
    with pytest.raises(errors.LostRace), database.writer() as connection:
        leases.change(connection, lease, NOON, name='newer')
    assert get(database, lease).name == 'new'


def test_a_change_to_the_same_values_is_a_change_too(database, lease):
    with database.writer() as connection:
        leases.change(connection, lease, NOON, name=lease.name)
    assert get(database, lease).generation == 1


def test_a_key_stands_for_its_lease_in_its_project_until_it_expires(database):
    with database.writer() as connection:
        leases.keep_key(connection, 'demo', 'key', 'hash', 'a lease', NOON, NOON + hours(1))
    with database.reader() as connection:
        assert leases.of_key(connection, 'demo', 'key', NOON) == ('hash', 'a lease')
        assert leases.of_key(connection, 'demo', 'KEY', NOON) is None
        assert leases.of_key(connection, 'other', 'key', NOON) is None
        assert leases.of_key(connection, 'demo', 'key', NOON + hours(1)) is None


def test_a_key_that_is_kept_twice_is_a_duplicate_unless_the_first_one_expired(database):
    def keep(lease_id, now):
        with database.writer() as connection:
            leases.keep_key(connection, 'demo', 'key', 'hash', lease_id, now, now + hours(1))
    keep('first', NOON)
    with pytest.raises(engine.Duplicate):
        keep('second', NOON + hours(0.5))
    keep('third', NOON + hours(1))
    with database.reader() as connection:
        assert leases.of_key(connection, 'demo', 'key', NOON + hours(1)) == ('hash', 'third')


def test_the_second_of_two_requests_that_keep_a_key_at_once_gets_a_duplicate(database):
    def second():
        with db_rows.another(database) as other, other.writer() as connection:
            leases.keep_key(connection, 'demo', 'key', 'hash', 'two', NOON, NOON + hours(1))

    with database.writer() as connection:
        leases.keep_key(connection, 'demo', 'key', 'hash', 'one', NOON, NOON + hours(1))
        waiting = db_rows.on_a_thread(second)
        concurrent.futures.wait([waiting], timeout=0.3)
    with pytest.raises(engine.Duplicate):
        waiting.result(60)


def test_leases_are_counted_by_state_without_the_deleted(database):
    db_rows.saved(database, db_rows.a_lease(), db_rows.a_lease(),
                  db_rows.a_lease(state=lifecycle.ACTIVE), db_rows.a_lease(deleted_at=NOON))
    with database.reader() as connection:
        assert leases.counts(connection) == {lifecycle.PENDING: 2, lifecycle.ACTIVE: 1}


def test_a_reservation_is_changed_alone(database):
    lease = db_rows.saved(database, db_rows.a_lease(reservations=2))
    first, second = lease.reservations
    with database.writer() as connection:
        reservations.change(connection, [], NOON, state='error')
        reservations.change(connection, [first.id], NOON, state='active',
                            binding={'aggregate_id': 7}, request={'min': 2, 'max': 3})
    one, two = get(database, lease).reservations
    assert (one.state, one.binding, one.request) == ('active', {'aggregate_id': 7},
                                                     {'min': 2, 'max': 3})
    assert two == second
