# SPDX-License-Identifier: Apache-2.0
"""Resources of pools in the database, and who occupies them."""
import pytest
from support import db_rows

from climate import errors
from climate.db import engine
from climate.db import events
from climate.db import resources
from climate.domain import event_kinds

NOON, hours = db_rows.NOON, db_rows.hours
set_properties = db_rows.set_properties


def names(database, **how):
    with database.reader() as connection:
        return [each.name for each in resources.find(connection, 'host', **how)]


def test_resources_are_found_by_id_in_their_pool(database, ids):
    db_rows.hosts(database, 'a', pool='other')
    assert names(database) == ['a', 'b', 'c']
    assert names(database, ids=ids[1:]) == ['b', 'c']
    assert names(database, ids=[]) == []


def test_a_page_has_resources_after_an_id(database, ids):
    with database.reader() as connection:
        found, end = resources.page(connection, 'host', after_id=ids[0], limit=1)
        assert ([each.name for each in found], end) == (['b'], [])
        assert resources.page(connection, 'host', after_id=ids[2], limit=1) == ([], [])


def test_a_resource_comes_back_whole(database, ids):
    set_properties(database, ids[0], {'rack': '7'})
    set_properties(database, ids[0], {'traits': 'A B'}, fact=True)
    with database.reader() as connection:
        found = resources.get(connection, 'host', ids[0])
        assert resources.named(connection, 'host', 'a') == found
    assert (found.name, found.capacity, found.reservable) == ('a', {'vcpus': 4}, True)
    assert (found.properties, found.facts) == ({'rack': '7'}, {'traits': 'A B'})


def test_a_name_is_enrolled_once_and_again_after_it_was_withdrawn(database, ids):
    with pytest.raises(engine.Duplicate):
        db_rows.hosts(database, 'a')
    with database.writer() as connection:
        resources.withdraw(connection, ids[0], NOON)
    [again] = db_rows.hosts(database, 'a')
    assert again > max(ids)
    assert names(database) == ['b', 'c', 'a']
    with database.reader() as connection:
        with pytest.raises(errors.ResourceNotFound):
            resources.get(connection, 'host', ids[0])
        assert [each.name for each in resources.with_ids(connection, [again, ids[0]])] == [
            'a', 'a']
        assert resources.named(connection, 'host', 'a').id == again


def test_a_lock_leaves_out_what_is_withdrawn_or_out_of_order(database, ids):
    with database.writer() as connection:
        resources.change(connection, ids[0], NOON, reservable=False, capacity={'vcpus': 8})
        resources.withdraw(connection, ids[1], NOON)
        assert [each.id for each in resources.lock(connection, reversed(ids))] == [ids[2]]
        assert resources.get(connection, 'host', ids[0]).capacity == {'vcpus': 8}


def test_a_touch_raises_the_generation(database, ids):
    with database.writer() as connection:
        resources.touch(connection, ids[:2], NOON + hours(1))
        found = resources.find(connection, 'host')
    assert [each.generation for each in found] == [1, 1, 0]
    assert found[0].updated_at == NOON + hours(1)


def held(connection, reservation_id):
    return [each.id for each in resources.held(connection, [reservation_id])]


def test_a_reservation_holds_what_is_free_and_is_told_who_holds_the_rest(database, ids):
    with database.writer() as connection:
        assert resources.hold(connection, ids[:2], 'one') == {}
        assert resources.hold(connection, ids[:2], 'one') == {}
        assert resources.hold(connection, ids[1:], 'two') == {ids[1]: 'one'}
        assert held(connection, 'one') == ids[:2]
        assert held(connection, 'two') == ids[2:]


def test_a_released_resource_can_be_held_by_others(database, ids):
    with database.writer() as connection:
        resources.hold(connection, ids, 'one')
        resources.release(connection, 'one', ids[:1])
        resources.release(connection, 'two')
        assert held(connection, 'one') == ids[1:]
        assert resources.hold(connection, ids[:1], 'two') == {}
        resources.release(connection, 'one')
        assert held(connection, 'one') == []
        assert held(connection, 'two') == ids[:1]


def test_release_others_keeps_what_is_still_allocated(database, ids):
    lease = db_rows.saved(database, db_rows.a_lease())
    mine = lease.reservations[0].id
    db_rows.allocate(database, db_rows.allocation(lease, ids[0]),
                     db_rows.allocation(lease, ids[1], released_at=NOON))
    with database.writer() as connection:
        resources.hold(connection, ids[:2], mine)
        resources.hold(connection, ids[2:], 'other')
        resources.release_others(connection, mine)
        assert held(connection, mine) == ids[:1]
        assert held(connection, 'other') == ids[2:]


def test_release_others_leaves_a_lease_that_is_being_deleted_what_it_has(database, ids):
    lease = db_rows.saved(database, db_rows.a_lease())
    with database.writer() as connection:
        resources.hold(connection, ids, lease.reservations[0].id)
        events.add(connection, [events.new(lease.id, event_kinds.DELETE, NOON, NOON)])
        resources.release_others(connection, lease.reservations[0].id)
        assert held(connection, lease.reservations[0].id) == ids
