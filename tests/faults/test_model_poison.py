# SPDX-License-Identifier: Apache-2.0
"""A task that one bad item stops is seen, and one that goes on is not."""
import model_poison
import model_records
import pytest
from support import billing_cases as cases
from support import builders

from climate.manager.billing import biller


@pytest.fixture
def leases(manager):
    """The sorted ids of two leases that are over and not billed."""
    if manager.database.dialect != 'sqlite':
        pytest.skip('The triggers that poison rows are written for SQLite.')
    manager.enrol(2)
    cases.book(manager)
    found = sorted(manager.book().id for _ in range(2))
    manager.run_until(builders.at(2))
    return found


def _judged(manager, bad, task):
    with model_poison.poisoned(manager.database, 'bills', bad):
        task()
    before = model_poison.dump(manager.database)
    manager.clock.advance(builders.hours(24))
    cases.bill(manager)
    model_poison.nobody_else_waited_for_it(
        model_records.read(manager.database), 'bills', bad,
        model_poison.changed(before, model_poison.dump(manager.database)))


@pytest.mark.parametrize('place', [0, 1])
def test_a_bad_item_that_stops_no_other_one_is_accepted(manager, leases, place):
    _judged(manager, leases[place], lambda: cases.bill(manager))


@pytest.mark.proof
def test_a_bad_item_that_stops_the_task_is_seen(manager, leases):
    def stops():
        with manager.database.reader() as connection:
            books = biller.books.read_all(connection)
        with pytest.raises(Exception, match=model_poison.POISON):
            biller.Biller(manager.core)._write(leases[0], books, manager.clock())
    with pytest.raises(AssertionError, match='so nobody looked after bills'):
        _judged(manager, leases[0], stops)


def test_related_rows_are_those_of_the_lease_and_of_what_it_has(manager, leases):
    recorded = model_records.read(manager.database)
    lease_ids, resource_ids = model_poison.related(recorded, 'leases', leases[0])
    assert lease_ids == {leases[0]} and len(resource_ids) == 1
    assert model_poison.related(recorded, 'resources', *resource_ids) == (lease_ids, resource_ids)
