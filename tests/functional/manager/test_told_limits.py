# SPDX-License-Identifier: Apache-2.0
"""A project is told that it has reached a limit: once, not for each try."""
import acts
import pytest
from support import builders
from support import delivery_rounds

from climate import errors
from climate.cloud.simulated import neutron
from climate.domain import records
from climate.manager.notifications import limits

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


def test_a_refused_request_is_told_once_and_again_after_a_day(manager, full, hooks):
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


def test_all_who_subscribed_in_the_project_are_told_and_nobody_else(manager, full, hooks):
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


def test_each_limit_of_each_kind_is_told(manager, hooks):
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',))
    manager.enrol(1)
    manager.active(builders.hosts(1), end=NOON + hours(99))
    manager.core.conf.set_override('waiting_per_project', 1, group='acquire')
    acts.sought(manager, 'wait', builders.hosts(1))
    with pytest.raises(errors.TooManyWaiting):
        acts.sought(manager, 'wait', builders.hosts(1))
    manager.cloud.network.set_quota('demo', 'floatingip', 0)
    with pytest.raises(errors.LimitReached):
        manager.create(builders.a_lease(records.ReservationRequest(
            'virtual:floatingip', {'network_id': neutron.PUBLIC, 'amount': 1})))
    manager.hold(builders.a_lease(acts.dummy()), most=1)
    with pytest.raises(errors.TooManyOffers) as many:
        manager.hold(builders.a_lease(acts.dummy()), most=1)
    limits.tell(manager.core, 'demo', many.value)
    delivery_rounds.deliver(manager)
    assert [each['details']['limit'] for each in hooks.bodies] == [
        'waiting_per_project', 'neutron.floatingip', 'offers_per_project']


def test_two_managers_that_refuse_at_the_same_time_tell_once(manager, full, hooks):
    meddling = acts.Meddling(manager.database.engine.url)
    other = builders.Manager(manager.core.conf, meddling, manager.clock, manager.cloud)
    error = refused(manager)
    manager.clock.advance(hours(25))
    # The other one tells between the look and the transaction of the first.
    meddling.before_writer = lambda: limits.tell(manager.core, 'demo', error)
    assert not limits.tell(other.core, 'demo', error)
    meddling.dispose()
    delivery_rounds.deliver(manager)
    assert len(hooks.bodies) == 2


def test_a_request_that_fits_or_is_refused_for_another_reason_tells_nothing(manager, full, hooks):
    manager.create(builders.a_lease(acts.dummy(), end=NOON + hours(2)))
    with pytest.raises(errors.SubscriptionNotFound):
        manager.client.get_subscription(builders.a_member(), 'unknown')
    delivery_rounds.deliver(manager)
    assert hooks.bodies == []
