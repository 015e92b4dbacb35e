# SPDX-License-Identifier: Apache-2.0
"""Lists of allocations in the database, whole and in parts."""
import pytest
from support import db_rows

from climate.db import allocation_lists
from climate.domain import records

NOON, hours = db_rows.NOON, db_rows.hours


@pytest.fixture
def listed(database):
    """Returns the Allocations that a query selects at noon."""
    def find(part=allocation_lists.WHOLE_LIST, pool='host', **filters):
        with database.reader() as connection:
            return allocation_lists.find(
                connection, records.AllocationQuery(pool, **filters), NOON, part)
    return find


def test_a_list_shows_what_has_not_ended_and_of_a_named_lease_all(database, ids, listed):
    past, running, to_come = (db_rows.a_lease(start=NOON + hours(at)) for at in (-3, 0, 3))
    db_rows.saved(database, past, running, to_come)
    db_rows.allocate(
        database, db_rows.allocation(to_come, ids[0]), db_rows.allocation(past, ids[0]),
        db_rows.allocation(running, ids[0]), db_rows.allocation(running, ids[1]),
        db_rows.allocation(running, ids[2], released_at=NOON))

    def shown(*part, **filters):
        return [(each.resource_id, each.lease_id) for each in listed(*part, **filters)]

    assert shown() == [(ids[0], running.id), (ids[0], to_come.id), (ids[1], running.id)]
    assert shown(allocation_lists.ListPart(ids[1:])) == [(ids[1], running.id)]
    assert shown(lease_id=past.id) == [(ids[0], past.id)]
    assert shown(reservation_id=to_come.reservations[0].id) == [(ids[0], to_come.id)]
    assert shown(lease_id=past.id, reservation_id=to_come.reservations[0].id) == []
    assert shown(pool='other') == []


def test_parts_that_begin_where_the_last_one_ended_are_the_whole_list(database, ids, listed):
    leases = [db_rows.a_lease(start=NOON + hours(at)) for at in (0, 1, 2)]
    db_rows.saved(database, *leases)
    db_rows.allocate(database, *(db_rows.allocation(lease, key) for lease in leases for key in ids))
    found, part = [], listed(allocation_lists.ListPart(limit=2))
    while part:
        found += part
        part = listed(allocation_lists.ListPart(after=allocation_lists.place(found[-1]), limit=2))
    assert found == listed()
    assert len(found) == 9


def test_a_page_after_the_last_date_begins_with_the_next_resource(database, ids, listed):
    lease = db_rows.saved(database, db_rows.a_lease())
    db_rows.allocate(database, *(db_rows.allocation(lease, key) for key in ids))
    found = listed(allocation_lists.ListPart(after=[ids[0], 10 ** 30, 1]))
    assert [each.resource_id for each in found] == ids[1:]
