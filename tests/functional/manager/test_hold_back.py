# SPDX-License-Identifier: Apache-2.0
"""Hold-back has a limit: the share of what is free or held, unless others use all of the rest."""
import contextlib

import acts
import pytest
from support import builders
from support import thinning

from climate.db import engine
from climate.domain import event_kinds
from climate.domain import lifecycle

NOON, hours = builders.NOON, builders.hours
DAYS = hours(24)


@pytest.fixture
def large(manager):
    """A lease that waits for eight hosts while seven are free."""
    manager.enrol(8)
    manager.active(end=NOON + 200 * DAYS)
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
    lease = manager.book(builders.hosts(count), start=start, end=start + hours(1))
    manager.run()
    manager.clock.advance(builders.seconds(1))
    manager.delete(lease)


def test_leases_far_away_that_come_and_go_do_not_raise_what_is_held_back(manager, large):
    assert held(manager, large) == 4
    for _ in range(4):
        create_and_delete(manager, start=manager.clock() + 100 * DAYS)
        assert held(manager, large) == 4


@pytest.mark.proof
@pytest.mark.parametrize('count', [1, 2])
def test_leases_of_now_that_come_and_go_do_not_raise_it_while_a_host_is_left_over(
        manager, large, count):
    assert held(manager, large) == 4
    for _ in range(6):
        create_and_delete(manager, count=count)
        assert held(manager, large) == 4
    manager.active(builders.hosts(3), end=manager.clock() + hours(1))


def test_many_reservations_have_one_share(manager):
    manager.enrol(8)
    manager.active(end=NOON + hours(9))
    manager.clock.advance(builders.seconds(1))
    large = acts.sought(manager, 'wait', *(builders.hosts() for _ in range(8)))
    assert held(manager, large) == 4
    create_and_delete(manager)
    assert held(manager, large) == 4


def test_if_others_use_all_of_the_rest_a_part_of_each_release_is_added(manager, large):
    assert held(manager, large) == 4
    others = [manager.book(end=manager.clock() + hours(9)) for _ in range(3)]
    for count, lease in enumerate(others, 5):
        manager.run()
        manager.clock.advance(builders.seconds(1))
        manager.change(lease, end_now=True)
        assert held(manager, large) == count


@pytest.fixture
def first(manager):
    """A lease that waits for three hosts while all are in use."""
    manager.enrol(3)
    manager.active(builders.hosts(3), end=NOON + 200 * DAYS)
    manager.clock.advance(builders.seconds(1))
    return acts.sought(manager, 'wait', builders.hosts(3))


def enrol(manager):
    number = len(manager.client.list_resources(builders.an_admin(), 'host'))
    manager.cloud.add_host(f'new-{number}')
    manager.client.create_resource(builders.an_admin(), 'host', f'new-{number}', {})


@pytest.mark.parametrize('pause', [0, 5])
def test_if_others_use_all_of_the_rest_enrolled_hosts_are_not_all_theirs(manager, first, pause):
    manager.run()
    for _ in range(4):
        manager.clock.advance(builders.seconds(1))
        acts.sought(manager, 'wait', builders.hosts())
    for count in (1, 2):
        manager.clock.advance(builders.seconds(pause))
        enrol(manager)
        assert held(manager, first) == count
    manager.clock.advance(builders.seconds(pause))
    enrol(manager)
    manager.expect(first, lifecycle.ACTIVE)


def test_if_others_use_all_of_the_rest_hosts_that_come_back_are_not_all_theirs(manager):
    hosts = manager.enrol(5)
    for each in hosts:
        acts.disable(manager, each)
    manager.clock.advance(builders.seconds(1))
    first = acts.sought(manager, 'wait', builders.hosts(3))
    manager.run()
    for _ in range(4):
        manager.clock.advance(builders.seconds(1))
        acts.sought(manager, 'wait', builders.hosts())
    manager.run()
    for host, count in zip(hosts, (1, 2, 3), strict=False):
        manager.clock.advance(builders.seconds(5))
        acts.enable(manager, host)
        manager.run()
        assert len(manager.lease(first).reservations[0].resource_ids) == count
    assert manager.lease(first).state == lifecycle.ACTIVE


@pytest.mark.proof
def test_a_host_that_was_never_out_of_use_does_not_come_back(manager):
    """Each change of it says that it is in use, and nothing was released."""
    manager.enrol(8)
    manager.active(builders.hosts(5), end=NOON + 200 * DAYS)
    manager.clock.advance(builders.seconds(1))
    lease = acts.sought(manager, 'wait', builders.hosts(8))
    assert held(manager, lease) == 2
    for each in manager.client.list_resources(builders.an_admin(), 'host'):
        manager.clock.advance(builders.seconds(5))
        acts.enable(manager, each)
        assert held(manager, lease) == 2


def test_a_host_counts_as_enrolled_when_the_cloud_has_admitted_it(manager, first):
    called = manager.clock()
    manager.cloud.faults.on_point = lambda *_: manager.clock.advance(builders.seconds(1))
    enrol(manager)
    newest = manager.client.list_resources(builders.an_admin(), 'host')[-1]
    assert newest.created_at == manager.clock() > called


def test_an_enrolled_host_does_not_raise_it_above_the_share_while_a_host_is_left_over(manager):
    manager.enrol(8)
    manager.active(builders.hosts(5), end=NOON + 200 * DAYS)
    manager.clock.advance(builders.seconds(1))
    lease = acts.sought(manager, 'wait', builders.hosts(8))
    assert held(manager, lease) == 2
    for count in (2, 3, 3):
        manager.clock.advance(builders.seconds(5))
        enrol(manager)
        assert held(manager, lease) == count


class Interrupted(engine.Database):
    """A database in which something else happens before one of the next reads.

    :ivar reads: how many reads from now on; 0: none.
    :ivar act: what happens then.
    """

    reads = 0

    @contextlib.contextmanager
    def reader(self):
        self.reads -= 1
        if not self.reads:
            self.act()
        with super().reader() as connection:
            yield connection


@pytest.mark.parametrize('reads', thinning.few(range(1, 16), 3))
def test_a_host_that_is_taken_meanwhile_does_not_make_the_try_fail(
        conf, database, clock, reads):
    watched = Interrupted(database.engine.url)
    manager = builders.Manager(conf, watched, clock)
    manager.enrol(8)
    manager.active(builders.hosts(4), end=NOON + 200 * DAYS)
    clock.advance(builders.seconds(1))
    lease = acts.sought(manager, 'wait', builders.hosts(8))
    other = builders.Manager(conf, database, clock, manager.cloud)
    watched.act = lambda: other.book(end=clock() + hours(9))
    watched.reads = reads
    assert held(manager, lease) == 2
    # A try that fails for an unknown reason counts as an attempt of its event.
    assert manager.lease(lease).event(event_kinds.ACQUIRE).attempts == 0
    watched.dispose()
