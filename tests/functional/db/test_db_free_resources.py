# SPDX-License-Identifier: Apache-2.0
"""The rows that are read to choose among many resources."""
import json

import pytest
from support import db_rows

from climate.db import allocations
from climate.db import free_resources
from climate.db import resource_properties
from climate.db import resources

NOON, hours = db_rows.NOON, db_rows.hours
span = db_rows.span


def search(*hours_of_span, **how):
    return free_resources.ResourceSearch(**{
        'pool': 'host', 'span': span(*hours_of_span), 'own': frozenset(), 'soon': False, **how})


def free(database, *hours_of_span, **how):
    with database.reader() as connection:
        return [row.id for row in free_resources.free(
            connection, search(*hours_of_span, **how), 0, free_resources.ALL)]


@pytest.mark.parametrize('first, last, is_free', [
    (-1, 0, True), (1, 2, True), (-1, 0.1, False), (0.9, 2, False), (0.4, 0.6, False),
    (-1, 2, False)])
def test_a_resource_is_free_when_nothing_overlaps(database, ids, lease, first, last, is_free):
    db_rows.allocate(database, db_rows.allocation(lease, ids[0]))
    assert free(database, first, last) == (ids if is_free else ids[1:])


def test_an_allocated_part_leaves_the_whole_not_free(database, ids, lease):
    db_rows.allocate(database, db_rows.allocation(lease, ids[0], whole=False, amount={'vcpus': 1}))
    assert free(database, 0, 1) == ids[1:]


def test_released_and_own_allocations_do_not_count(database, ids, lease):
    db_rows.allocate(database, db_rows.allocation(lease, ids[0], released_at=NOON),
                     db_rows.allocation(lease, ids[1]))
    assert free(database, 0, 1) == [ids[0], ids[2]]
    assert free(database, 0, 1, ignoring={lease.reservations[0].id}) == ids


def test_withdrawn_broken_and_foreign_resources_are_never_free(database, ids):
    db_rows.hosts(database, 'a', pool='other')
    with database.writer() as connection:
        resources.withdraw(connection, ids[0], NOON)
        resources.change(connection, ids[1], NOON, reservable=False)
        assert list(allocations.reservable_resources(connection, 'host')) == ids[2:]
        assert [row.id for row in free_resources.in_order(
            connection, search(0, 1), 0, free_resources.ALL)] == ids[2:]
    assert free(database, 0, 1) == ids[2:]


def test_a_resource_that_is_not_well_is_left_out_where_it_matters_unless_it_is_kept(database, ids):
    with database.writer() as connection:
        for resource_id in ids[:2]:
            resources.change(connection, resource_id, NOON, health_state='sick')
    assert free(database, 0, 1) == ids
    assert free(database, 0, 1, well=True) == ids[2:]
    assert free(database, 0, 1, well=True, kept=frozenset(ids[1:2])) == ids[1:]


def test_resources_that_others_hold_are_left_out_of_a_search_for_now(database, ids):
    with database.writer() as connection:
        resources.hold(connection, ids[:1], 'one')
        resources.hold(connection, ids[1:2], 'two')
    assert free(database, 0, 1) == ids
    assert free(database, 0, 1, soon=True, own={'one'}) == [ids[0], ids[2]]
    assert free(database, 0, 1, soon=True) == ids[2:]


def test_a_lent_resource_is_free_for_its_borrower(database, ids):
    with database.writer() as connection:
        resources.add(connection, 'host', 'lent', {'vcpus': 4}, NOON, lent_to='one')
    assert free(database, 0, 1) == free(database, 0, 1, own={'two'}) == ids
    assert len(free(database, 0, 1, own={'one'})) == 4


def test_resources_come_page_by_page_in_order(database, ids):
    with database.reader() as connection:
        pages = [[row.id for row in free_resources.in_order(connection, search(0, 1), after, 2)]
                 for after in (0, ids[1], ids[2])]
    assert pages == [ids[:2], ids[2:], []]


def test_a_row_tells_name_capacity_and_the_values_asked_for(database, ids):
    with database.writer() as connection:
        resource_properties.set_values(
            connection, 'host', ids[1], {'rack': '7', 'gpu': 'A100'}, NOON)
        resource_properties.set_values(connection, 'other', ids[2], {'rack': '8'}, NOON)
    with database.reader() as connection:
        rows = free_resources.free(connection, search(0, 1, names=('rack', 'nothing', 'gpu')), 0, 2)
    assert [(row[0], row[1], json.loads(row[2]), *row[3:]) for row in rows] == [
        (ids[0], 'a', {'vcpus': 4}, None, None, None),
        (ids[1], 'b', {'vcpus': 4}, '7', None, 'A100')]
