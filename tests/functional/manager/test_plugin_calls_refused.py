# SPDX-License-Identifier: Apache-2.0
"""A host that Nova refuses for a lease, because of a stray server or of its zone."""
import acts
import pytest
from support import builders

from climate.domain import event_kinds
from climate.domain import lifecycle

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
LATER = {'start': NOON + hours(1), 'end': NOON + hours(9)}


def stray(manager, host):
    """A server that an administrator forced onto a host of the pool."""
    return manager.cloud.boot('others', 'stray', host=host.name, forced=True)


def zoned(manager, host):
    """A host in a zone of the cloud, while each lease gives its hosts a zone of its own."""
    manager.core.conf.set_override('reservation_zone', 'always', group='nova')
    nova = acts.nova(manager)
    nova.add_hosts(nova.ensure_aggregate('east', zone='east'), [host.name])


WAYS = [(stray, 'already has 1 instance'), (zoned, 'already in availability zone')]


@pytest.mark.parametrize(('spoil', 'words'), WAYS)
def test_the_start_takes_a_substitute_at_once(manager, spoil, words):
    first, second, *_ = manager.enrol(4)
    lease = manager.book(**LATER)
    spoil(manager, first)
    lease = manager.expect(lease, lifecycle.ACTIVE, LATER['start'])
    assert lease.reservations[0].resource_ids == (second.id,)
    assert lease.reservations[0].resources_changed
    assert acts.aggregate(manager, lease).hosts == (second.name,)
    assert set(acts.holders(manager)) == {second.id}
    [line] = [each for each in acts.told(manager, lease) if each.what == 'substitute']
    assert str(first.id) in line.why


@pytest.mark.parametrize(('spoil', 'words'), WAYS)
def test_a_substitute_that_is_refused_too_is_replaced_again(manager, spoil, words):
    first, second, third, fourth = manager.enrol(4)
    lease = manager.book(builders.hosts(2), **LATER)
    for host in (first, third):
        spoil(manager, host)
    manager.expect(lease, lifecycle.ACTIVE, LATER['start'])
    assert manager.lease(lease).reservations[0].resource_ids == (second.id, fourth.id)


@pytest.mark.parametrize(('spoil', 'words'), WAYS)
def test_without_a_substitute_the_lease_is_in_error_and_names_the_host(manager, spoil, words):
    [host] = manager.enrol(1)
    lease = manager.book(**LATER)
    spoil(manager, host)
    manager.run_until(LATER['start'] + minutes(5))
    lease = manager.lease(lease)
    assert (lease.state, lease.task) == (lifecycle.ERROR, None)
    assert f'Out of use: {host.name}' in lease.reason
    assert words in lease.reason
    assert acts.history(manager, lease).count('heal_lease failed') == 1


@pytest.mark.parametrize(('spoil', 'words'), WAYS)
@pytest.mark.parametrize('others', [0, 1])
def test_a_start_succeeds_with_fewer_hosts_if_they_are_enough(manager, spoil, words, others):
    """The least number that was asked for is enough; what is free beyond that is taken."""
    first, *rest = manager.enrol(4)
    lease = manager.book(builders.hosts(2, 4 - others), **LATER)
    for host in (first, rest[0])[:1 + others]:
        spoil(manager, host)
    lease = manager.expect(lease, lifecycle.ACTIVE, LATER['start'])
    good = rest[others:]
    assert lease.reservations[0].resource_ids == tuple(each.id for each in good)
    assert acts.aggregate(manager, lease).hosts == tuple(each.name for each in good)
    assert set(acts.holders(manager)) == {each.id for each in good}
    assert not lease.degraded
    manager.expect(lease, lifecycle.TERMINATED, LATER['end'])


def test_too_few_are_not_enough(manager):
    first, second, *_ = manager.enrol(4)
    lease = manager.book(builders.hosts(3, 4), **LATER)
    for host in (first, second):
        stray(manager, host)
    manager.run_until(LATER['start'])
    assert manager.lease(lease).state != lifecycle.ACTIVE


def test_a_start_succeeds_when_the_stray_server_is_gone(manager):
    [host] = manager.enrol(1)
    lease = manager.book(**LATER)
    server = stray(manager, host)
    manager.run_until(LATER['start'] + minutes(5))
    manager.cloud.delete_server(server.id)
    manager.expect(lease, lifecycle.ACTIVE, LATER['start'] + minutes(7))
    manager.run_until(LATER['end'])
    assert acts.is_clean(manager, 1)


def test_a_change_of_a_running_lease_takes_a_substitute_too(manager):
    _, second, third = manager.enrol(3)
    lease = manager.active(end=NOON + hours(9))
    stray(manager, second)
    manager.change_reservation(lease, min=2, max=2)
    lease = manager.expect(lease, lifecycle.ACTIVE)
    assert third.id in lease.reservations[0].resource_ids
    assert acts.aggregate(manager, lease).hosts == ('compute-1', 'compute-3')


@pytest.fixture
def healing(manager):
    """Return a lease whose start is being retried while Nova does not answer."""
    [host] = manager.enrol(1)
    lease = manager.book(**LATER)
    zoned(manager, host)
    manager.run_until(LATER['start'] + minutes(5))
    return manager.lease(lease)


def test_a_lease_can_be_ended_while_its_start_is_retried(manager, healing, monkeypatch):
    asked = []

    def end_now(*_):
        """The owner ends the lease in the middle of a try."""
        if not asked:
            asked.append(manager.lease(healing))
            manager.change(healing, end=manager.clock())
        return {}
    monkeypatch.setattr(manager.core.registry.pools['host'], 'failing', end_now)
    manager.run_until(LATER['start'] + minutes(7))
    assert [(each.state, each.task) for each in asked] == [(lifecycle.ERROR, None)]
    lease = manager.lease(healing)
    assert lease.state == lifecycle.TERMINATED
    assert lease.end < LATER['start'] + minutes(7)
    assert lease.event(event_kinds.HEAL).status == lifecycle.EVENT_DONE
    assert not acts.holders(manager)


def test_a_lease_can_be_deleted_while_its_start_is_retried(manager, healing, monkeypatch):
    asked = []

    def delete(*_):
        if not asked:
            asked.append(manager.delete(healing))
        return {}
    monkeypatch.setattr(manager.core.registry.pools['host'], 'failing', delete)
    manager.run_until(LATER['start'] + minutes(7))
    assert asked == [False]
    assert manager.lease(healing).deleted_at is not None
    assert not acts.holders(manager)
