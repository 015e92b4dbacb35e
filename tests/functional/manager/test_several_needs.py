# SPDX-License-Identifier: Apache-2.0
"""A type with needs in two pools, two of them in one: each need keeps its own resources."""
import pytest
from support import builders
from support import several_needs

from climate import errors
from climate.db import resources as stored
from climate.domain import records

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def manager(conf, database, clock):
    """A manager with the type of the tests; five racks and two disks are enrolled."""
    found = builders.Manager(conf, database, clock, classes={
        'test:cluster': several_needs.ClusterPlugin})
    for pool, names in (('rack', ('rack1', 'rack2', 'rack3', 'rack4', 'rack5')),
                        ('disk', ('disk1', 'disk2'))):
        for name in names:
            found.client.create_resource(builders.an_admin(), pool, name, {})
    return found


def cluster(workers=2, gb=40):
    """A ReservationRequest."""
    return records.ReservationRequest('test:cluster', {'workers': workers, 'gb': gb})


def had(manager, lease):
    """{need key: the names of the resources that the lease's first reservation has}."""
    [reservation, *_] = manager.lease(lease).reservations
    with manager.database.reader() as connection:
        return {key: [each.name for each in stored.with_ids(connection, ids)]
                for key, ids in reservation.allocated.items()}


def calls(manager):
    return manager.core.registry.plugin('test:cluster').calls


def withdraw(manager, pool, name):
    """Take a resource out of use."""
    [found] = [each for each in manager.client.list_resources(builders.an_admin(), pool)
               if each.name == name]
    manager.client.update_resource(builders.an_admin(), pool, found.id, {}, reservable=False)


FIRST = {'master': ['rack1'], 'workers': ['rack2', 'rack3'], 'data': ['disk1']}


def test_each_need_gets_resources_of_its_own(manager):
    lease = manager.book(cluster())
    assert had(manager, lease) == FIRST
    assert lease.reservations[0].resource_ids == (1, 2, 3, 6)
    manager.run()
    assert calls(manager)[0] == ('start', FIRST)


def test_a_pending_lease_whose_dates_change_takes_no_more_than_before(manager):
    lease = manager.book(cluster(), start=NOON + hours(2))
    changed = manager.change(lease, end=NOON + hours(5))
    assert changed.end == NOON + hours(5)
    assert had(manager, lease) == FIRST
    assert manager.change(lease, start=NOON + hours(1), dry_run=True).reservations[
        0].allocated == manager.lease(lease).reservations[0].allocated


def test_a_running_lease_is_prolonged_with_what_it_has(manager):
    lease = manager.book(cluster())
    manager.run()
    manager.change(lease, end=NOON + hours(3))
    assert had(manager, lease) == FIRST
    manager.run_until(NOON + hours(3))
    assert manager.lease(lease).state == 'TERMINATED'
    assert calls(manager)[-1] == ('end', FIRST)


def test_a_running_lease_is_not_prolonged_where_one_need_would_lose_what_it_has(manager):
    lease = manager.book(cluster(workers=1))
    manager.run()
    manager.book(cluster(workers=4), start=NOON + hours(1))
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=NOON + hours(3))
    assert manager.lease(lease).end == lease.end


def test_the_need_that_lost_a_resource_gets_a_substitute(manager):
    lease = manager.book(cluster(), start=NOON + hours(1))
    withdraw(manager, 'rack', 'rack2')
    manager.run_until(NOON + hours(1))
    wanted = {**FIRST, 'workers': ['rack3', 'rack4']}
    assert had(manager, lease) == wanted
    assert calls(manager)[0] == ('start', wanted)


def test_the_substitute_of_a_share_goes_beside_what_was_not_lost(manager):
    lease = manager.book(cluster(), start=NOON + hours(1))
    withdraw(manager, 'disk', 'disk1')
    manager.run_until(NOON + hours(1))
    assert had(manager, lease) == {**FIRST, 'data': ['disk2']}


def test_a_running_lease_that_shrinks_gives_back_of_the_need_that_shrank(manager):
    lease = manager.book(cluster())
    manager.run()
    manager.change_reservation(lease, workers=1)
    manager.run()
    smaller = {**FIRST, 'workers': ['rack2']}
    assert had(manager, lease) == smaller
    assert calls(manager)[-1] == ('start', smaller)
    other = manager.book(cluster(workers=2))
    assert had(manager, other) == {'master': ['rack3'], 'workers': ['rack4', 'rack5'],
                                   'data': ['disk1']}


def test_a_running_lease_that_grows_adds_to_the_need_that_grew(manager):
    lease = manager.book(cluster())
    manager.run()
    manager.change_reservation(lease, workers=3)
    manager.run()
    assert calls(manager)[-1] == ('start', {**FIRST, 'workers': ['rack2', 'rack3', 'rack4']})


def test_an_end_gets_the_resources_that_an_unfinished_change_removed(manager):
    lease = manager.book(cluster())
    manager.run()
    manager.change_reservation(lease, workers=1)
    manager.delete(lease)
    manager.run()
    assert calls(manager)[-1] == ('end', FIRST)
    assert manager.lease(lease).deleted_at is not None


def test_all_is_free_after_the_end(manager):
    manager.book(cluster())
    manager.run_until(NOON + hours(2))
    lease = manager.book(cluster(workers=4, gb=100), start=NOON + hours(2), end=NOON + hours(3))
    assert sorted(had(manager, lease)['master'] + had(manager, lease)['workers']) == [
        'rack1', 'rack2', 'rack3', 'rack4', 'rack5']
