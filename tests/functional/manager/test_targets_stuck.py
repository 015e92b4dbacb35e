# SPDX-License-Identifier: Apache-2.0
"""Leased servers that are still on their host when their lease should be over."""
import acts
import pytest
from support import builders
import test_targets as story

from climate import errors
from climate.domain import lifecycle
from climate.manager.leases import target_watch

END = story.LATER + builders.hours(1)
AFTER = END + builders.minutes(10)


def coming(manager):
    """A lease that starts later, and its server."""
    lease = story.leased(manager, story.to_come(), start=story.LATER, end=END)
    return lease, story.boot(manager, lease)


def stuck(manager):
    """A lease whose server Nova cannot stop, so that its end was given up; and the server."""
    lease, server = coming(manager)
    manager.run_until(story.LATER + builders.minutes(1))
    manager.cloud.break_server(server.id)
    manager.run_until(AFTER)
    return manager.lease(lease), server


def rest_of(host, more=0):
    """A ReservationRequest for all that the server leaves of the memory of a host, and more."""
    return builders.instances(memory_mb=host.capacity['MEMORY_MB'] - 2048 + more)


def refused(manager, reservation):
    with pytest.raises(errors.NotEnough):
        now(manager, reservation)
    return True


def now(manager, reservation):
    """A lease that starts at once and lasts."""
    return manager.book(reservation, end=manager.clock() + builders.hours(9))


def test_its_room_is_nobody_elses_and_the_lease_says_why(manager):
    [host] = manager.enrol(1)
    lease, server = stuck(manager)
    assert lease.state == lifecycle.ERROR
    for text in (server.id, 'ERROR on host', 'could not be stopped', 'nobody else gets', host.name):
        assert text in lease.reason
    assert refused(manager, builders.hosts(1))
    assert refused(manager, rest_of(host, 1))
    now(manager, rest_of(host))


def test_its_room_is_free_again_when_it_was_mended_and_the_lease_deleted(manager):
    manager.enrol(1)
    lease, server = stuck(manager)
    manager.cloud.mark_server(server.id, 'SHUTOFF')
    manager.delete(lease)
    manager.run_until(AFTER + builders.minutes(1))
    assert manager.lease(lease).deleted_at is not None
    assert story.now_on(server)(manager) is None
    now(manager, builders.hosts(1))


def test_its_room_is_free_again_when_it_is_seen_that_it_was_deleted(manager):
    manager.enrol(1)
    _, server = stuck(manager)
    manager.cloud.delete_server(server.id)
    target_watch.TargetWatch(manager.core).check_all(manager.clock())
    manager.run_until(AFTER + builders.minutes(1))
    now(manager, builders.hosts(1))


def test_its_room_is_nobody_elses_while_its_image_takes_its_time(conf, database, clock):
    conf.set_override('busy_seconds', 30, group='manager')
    manager = builders.Manager(conf, database, clock)
    [host] = manager.enrol(1)
    conf.set_override('image_seconds', 300, group='simulated')
    coming(manager)
    following = story.leased(manager, rest_of(host, 1), start=END, end=END + builders.hours(1))
    manager.run_until(END + builders.minutes(4))
    assert refused(manager, rest_of(host, 1))
    assert manager.lease(following).task == 'start'
    following = manager.expect(following, lifecycle.ACTIVE, AFTER)


@pytest.mark.proof
def test_a_host_on_which_two_are_stuck_waits_for_both(manager):
    manager.enrol(1)
    both = [coming(manager) for _ in range(2)]
    manager.run_until(story.LATER + builders.minutes(1))
    for _, server in both:
        manager.cloud.break_server(server.id)
    manager.run_until(AFTER)
    for lease, server in both:
        assert refused(manager, builders.hosts(1))
        manager.cloud.delete_server(server.id)
        manager.delete(lease)
        manager.run_until(manager.clock() + builders.minutes(1))
    now(manager, builders.hosts(1))


@pytest.mark.proof
def test_a_lease_to_come_gets_another_host_where_its_own_has_no_room(manager):
    hosts = {each.id: each for each in manager.enrol(2)}
    lease, server = coming(manager)
    [held] = story.only(lease).resource_ids
    large, beside = (
        story.leased(manager, reservation, start=AFTER + start, end=AFTER + builders.hours(2))
        for reservation, start in ((rest_of(hosts[held], 1), builders.minutes(1)),
                                   (builders.instances(), builders.minutes(2))))
    whole = story.leased(manager, builders.hosts(1), start=AFTER + builders.hours(3),
                         end=AFTER + builders.hours(4))
    assert {story.only(each).resource_ids for each in (beside, large, whole)} == {(held,)}
    manager.run_until(story.LATER + builders.minutes(1))
    manager.cloud.break_server(server.id)
    manager.run_until(AFTER + builders.minutes(5))
    beside, large = manager.lease(beside), manager.lease(large)
    assert beside.state == large.state == lifecycle.ACTIVE, (beside.reason, large.reason)
    assert story.only(beside).resource_ids == (held,)
    assert set(story.only(large).resource_ids) == set(hosts) - {held}
    whole = manager.expect(whole, lifecycle.ACTIVE, AFTER + builders.hours(3) + builders.minutes(5))
    assert set(story.only(whole).resource_ids) == set(hosts) - {held}


def test_other_reservations_go_on_and_may_change(manager):
    [host] = manager.enrol(1)
    beside = manager.book(builders.instances(2), start=story.LATER, end=END + builders.hours(5))
    stuck(manager)
    changed = manager.change(
        manager.lease(beside), reservations=acts.asked(story.only(beside), amount=1))
    changed = manager.expect(changed, lifecycle.ACTIVE, AFTER + builders.minutes(1))
    assert story.only(changed).resource_ids == (host.id,)
    assert refused(manager, builders.hosts(1))
