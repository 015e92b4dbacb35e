# SPDX-License-Identifier: Apache-2.0
"""A project is notified that it reached a limit, or used most of it: once for each."""
import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import delivery_rounds

from climate import errors
from climate.cloud.simulated import neutron
from climate.db import tables
from climate.domain import records
from climate.manager.notifications import limit_notices

NOON, hours = builders.NOON, builders.hours


def refused(manager, caller=None):
    """Subscribe once more than the project may; return the error."""
    with pytest.raises(errors.LimitReached) as found:
        delivery_rounds.subscribe(manager, 'https://example.org/', caller=caller)
    return found.value


@pytest.fixture
def full(manager, hooks):
    """A project that may have no further subscription."""
    found = delivery_rounds.subscribe(manager, hooks.url, events=('limits',))
    manager.core.conf.set_override('subscriptions_per_project', 1, group='notifications')
    return found


def test_a_refused_request_is_reported_once_and_again_after_a_day(manager, full, hooks):
    for hour, count in ((0, 1), (0, 1), (23.9, 1), (24, 2), (25, 2), (48, 3)):
        manager.clock.now = NOON + hours(hour)
        refused(manager)
        delivery_rounds.deliver(manager)
        assert len(hooks.bodies) == count, hour
    body = hooks.bodies[0]
    assert (body['kind'], body['headline'], body['lease']) == (
        'limits', 'Your project has reached a limit', None)
    assert body['details'] == {
        'limit': 'subscriptions_per_project', 'message': (
            'Your project has 1 subscriptions, the maximum: delete one, or ask your operator.')}
    assert len({each['id'] for each in hooks.bodies}) == 3


def test_all_subscribers_of_the_project_are_notified_and_nobody_else(manager, full, hooks):
    manager.core.conf.set_override('subscriptions_per_project', 9, group='notifications')
    ben = delivery_rounds.subscribe(manager, hooks.url, events=('limits',),
                                    caller=builders.a_member('ben'))
    delivery_rounds.subscribe(manager, hooks.url, events=('start',))
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',),
                              caller=builders.a_member('eve', 'other'))
    manager.core.conf.set_override('subscriptions_per_project', 3, group='notifications')
    refused(manager, caller=builders.a_member('ann'))
    delivery_rounds.deliver(manager)
    assert sorted(each['subscription_id'] for each in hooks.bodies) == sorted([full.id, ben.id])


def test_each_kind_of_limit_is_reported(manager, hooks):
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',))
    manager.enrol(1)
    manager.active(builders.hosts(1), end=NOON + hours(99))
    manager.core.conf.set_override('waiting_per_project', 1, group='acquire')
    acts.sought(manager, 'wait', builders.hosts(1))
    with pytest.raises(errors.TooManyWaiting):
        acts.sought(manager, 'wait', builders.hosts(1))
    manager.cloud.network.set_quota('demo', 'floatingip', 0)
    with pytest.raises(errors.LimitReached):
        manager.book(records.ReservationRequest(
            'virtual:floatingip', {'network_id': neutron.PUBLIC, 'amount': 1}))
    manager.hold(builders.a_lease(acts.dummy()), most=1)
    with pytest.raises(errors.TooManyOffers) as many:
        manager.hold(builders.a_lease(acts.dummy()), most=1)
    limit_notices.report_reached(manager.core, 'demo', many.value)
    delivery_rounds.deliver(manager)
    assert [each['details']['limit'] for each in hooks.bodies] == [
        'waiting_per_project', 'neutron.floatingip', 'offers_per_project']


def test_two_managers_that_refuse_at_the_same_time_report_once(manager, other, full, hooks):
    error = refused(manager)
    manager.clock.advance(hours(25))
    # The other one writes between the read and the transaction of the first.
    other.database.before_writer = lambda: limit_notices.report_reached(manager.core, 'demo', error)
    assert not limit_notices.report_reached(other.core, 'demo', error)
    delivery_rounds.deliver(manager)
    assert len(hooks.bodies) == 2


def test_a_request_that_fits_or_is_refused_for_another_reason_is_not_reported(manager, full, hooks):
    manager.book(acts.dummy(), end=NOON + hours(2))
    with pytest.raises(errors.SubscriptionNotFound):
        manager.client.get_subscription(builders.a_member(), 'unknown')
    delivery_rounds.deliver(manager)
    assert hooks.bodies == []


@pytest.fixture
def subscribed(manager, hooks):
    return delivery_rounds.subscribe(manager, hooks.url, events=('limits',))


def allow(manager, most):
    manager.core.conf.set_override('subscriptions_per_project', most, group='notifications')


def check(manager):
    """Check the limits once and deliver; return the number of notifications."""
    count = limit_notices.report_near(manager.core, manager.clock())
    delivery_rounds.deliver(manager)
    return count


def test_use_near_a_limit_is_reported_once_until_it_is_clearly_less(
        manager, hooks, subscribed):
    allow(manager, 10)
    made = [delivery_rounds.subscribe(manager, hooks.url, events=()) for _ in range(6)]
    assert check(manager) == 0
    made.append(delivery_rounds.subscribe(manager, hooks.url, events=()))
    assert [check(manager), check(manager)] == [1, 0]
    [body] = hooks.bodies
    assert (body['kind'], body['headline'], body['event_type']) == (
        'limits', 'Your project has used most of a limit', 'project.limit_near')
    assert body['details'] == {
        'limit': 'subscriptions_per_project', 'used': 8, 'most': 10, 'message': (
            'Your project has 8 of at most 10 subscriptions. Requests for more than 10 are '
            'refused.')}
    # One fewer and one more is not reported again; two fewer and two more are.
    for fewer, count in ((1, 0), (2, 1)):
        for _ in range(fewer):
            manager.client.delete_subscription(builders.a_member(), made.pop().id)
        assert check(manager) == 0
        made += [delivery_rounds.subscribe(manager, hooks.url, events=()) for _ in range(fewer)]
        assert check(manager) == count
    assert len(hooks.bodies) == 2


def test_waiting_leases_near_the_limit_are_reported_to_their_project_alone(
        manager, hooks, subscribed):
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',),
                              caller=builders.a_member('eve', 'other'))
    manager.enrol(1)
    manager.active(builders.hosts(1), end=NOON + hours(99))
    manager.core.conf.set_override('waiting_per_project', 5, group='acquire')
    for count in range(4):
        assert check(manager) == 0, count
        acts.sought(manager, 'wait', builders.hosts(1))
    assert check(manager) == 1
    [body] = hooks.bodies
    assert body['subscription_id'] == subscribed.id
    assert body['details']['message'].startswith(
        'Your project has 4 of at most 5 leases in the wait queue.')


@pytest.mark.parametrize(('percent', 'most', 'count'), [
    (0, 2, 0), (50, 2, 1), (51, 2, 0), (80, 0, 0), (100, 1, 1)])
def test_an_option_sets_the_share_that_is_near(manager, subscribed, percent, most, count):
    manager.core.conf.set_override('limit_near_percent', percent, group='notifications')
    allow(manager, most)
    assert check(manager) == count


def test_a_limit_that_was_removed_is_forgotten(manager, subscribed):
    allow(manager, 1)
    assert check(manager) == 1
    allow(manager, 0)
    assert check(manager) == 0
    allow(manager, 1)
    assert check(manager) == 1


def test_two_managers_that_check_at_the_same_time_report_once(manager, other, hooks, subscribed):
    allow(manager, 1)
    other.database.before_writer = lambda: limit_notices.report_near(manager.core, manager.clock())
    limit_notices.report_near(other.core, manager.clock())
    delivery_rounds.deliver(manager)
    assert len(hooks.bodies) == 1


def test_a_manager_that_dies_while_it_reports_is_followed_by_a_report(
        manager, hooks, subscribed, monkeypatch):
    allow(manager, 1)
    monkeypatch.setattr(limit_notices.journal, 'publish', _fails)
    with pytest.raises(_Killed):
        check(manager)
    monkeypatch.undo()
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(tables.NEAR_LIMITS)).all() == []
    assert check(manager) == 1 and len(hooks.bodies) == 1


class _Killed(BaseException):
    """The manager dies here."""


def _fails(*_):
    raise _Killed
