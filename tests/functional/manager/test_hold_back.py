# SPDX-License-Identifier: Apache-2.0
"""Hold-back has a limit: the share of what is free or held, unless others use all of the rest."""
import acts
import builders
import pytest

from climate.domain import lifecycle

NOON, hours = builders.NOON, builders.hours
DAYS = hours(24)


@pytest.fixture
def large(manager):
    """A lease that waits for eight hosts while seven are free."""
    manager.enrol(8)
    acts.active(manager, end=NOON + 200 * DAYS)
    manager.clock.advance(builders.seconds(1))
    return acts.sought(manager, 'wait', builders.hosts(8))


@pytest.fixture
def conf(conf):
    conf.set_override('hosts', 12, group='simulated')
    return conf


def held(manager, lease):
    manager.run()
    return sum(len(each.resource_ids) for each in manager.lease(lease).reservations)


def create_and_delete(manager, start=None, count=1):
    manager.clock.advance(builders.seconds(61))
    start = start or manager.clock()
    lease = manager.create(builders.a_lease(builders.hosts(count), start=start,
                                            end=start + hours(1)))
    manager.run()
    manager.clock.advance(builders.seconds(1))
    acts.delete(manager, lease)


def test_leases_far_away_that_come_and_go_do_not_raise_what_is_held_back(manager, large):
    assert held(manager, large) == 4
    for _ in range(4):
        create_and_delete(manager, start=manager.clock() + 100 * DAYS)
        assert held(manager, large) == 4


@pytest.mark.parametrize('count', [1, 2])
def test_leases_of_now_that_come_and_go_do_not_raise_it_while_a_host_is_left_over(
        manager, large, count):
    assert held(manager, large) == 4
    for _ in range(6):
        create_and_delete(manager, count=count)
        assert held(manager, large) == 4
    lease = manager.create(builders.a_lease(builders.hosts(3), end=manager.clock() + hours(1)))
    manager.run()
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_many_reservations_have_one_share(manager):
    manager.enrol(8)
    acts.active(manager, end=NOON + hours(9))
    manager.clock.advance(builders.seconds(1))
    large = acts.sought(manager, 'wait', *(builders.hosts() for _ in range(8)))
    assert held(manager, large) == 4
    create_and_delete(manager)
    assert held(manager, large) == 4


def test_if_others_use_all_of_the_rest_a_part_of_each_release_is_added(manager, large):
    assert held(manager, large) == 4
    others = [manager.create(builders.a_lease(end=manager.clock() + hours(9)))
              for _ in range(3)]
    for count, lease in enumerate(others, 5):
        manager.run()
        manager.clock.advance(builders.seconds(1))
        acts.change(manager, lease, end_now=True)
        assert held(manager, large) == count
