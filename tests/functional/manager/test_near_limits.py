# SPDX-License-Identifier: Apache-2.0
"""A project is told that it has used most of a limit: once for each crossing."""
import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import delivery_rounds

from climate.db import tables
from climate.manager.notifications import near_limits

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def subscribed(manager, hooks):
    return delivery_rounds.subscribe(manager, hooks.url, events=('limits',))


def allow(manager, most):
    manager.core.conf.set_override('subscriptions_per_project', most, group='notifications')


def look(manager):
    """What one look of a manager leads to."""
    found = near_limits.look(manager.core, manager.clock())
    delivery_rounds.deliver(manager)
    return found


def test_most_of_the_subscriptions_is_told_once_until_there_are_clearly_fewer(
        manager, hooks, subscribed):
    allow(manager, 10)
    made = [delivery_rounds.subscribe(manager, hooks.url, events=()) for _ in range(6)]
    assert look(manager) == 0
    made.append(delivery_rounds.subscribe(manager, hooks.url, events=()))
    assert [look(manager), look(manager)] == [1, 0]
    [body] = hooks.bodies
    assert (body['kind'], body['headline'], body['event_type']) == (
        'limits', 'Your project has used most of a limit', 'project.limit_near')
    assert body['details'] == {
        'limit': 'subscriptions_per_project', 'used': 8, 'most': 10, 'message': (
            'Your project has 8 of at most 10 subscriptions. Requests for more than 10 are '
            'refused.')}
    # One fewer and one more again tell nothing; two fewer do.
    for fewer, count in ((1, 0), (2, 1)):
        for _ in range(fewer):
            manager.client.delete_subscription(builders.a_member(), made.pop().id)
        assert look(manager) == 0
        made += [delivery_rounds.subscribe(manager, hooks.url, events=()) for _ in range(fewer)]
        assert look(manager) == count
    assert len(hooks.bodies) == 2


def test_leases_that_wait_are_told_to_their_project_alone(manager, hooks, subscribed):
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',),
                              caller=builders.a_member('eve', 'other'))
    manager.enrol(1)
    manager.active(builders.hosts(1), end=NOON + hours(99))
    manager.core.conf.set_override('waiting_per_project', 5, group='acquire')
    for count in range(4):
        assert look(manager) == 0, count
        acts.sought(manager, 'wait', builders.hosts(1))
    assert look(manager) == 1
    [body] = hooks.bodies
    assert body['subscription_id'] == subscribed.id
    assert body['details']['message'].startswith(
        'Your project has 4 of at most 5 leases in the wait queue.')


@pytest.mark.parametrize(('percent', 'most', 'count'), [
    (0, 2, 0), (50, 2, 1), (51, 2, 0), (80, 0, 0), (100, 1, 1)])
def test_the_operator_says_at_which_share(manager, subscribed, percent, most, count):
    manager.core.conf.set_override('limit_near_percent', percent, group='notifications')
    allow(manager, most)
    assert look(manager) == count


def test_a_limit_that_is_no_more_is_forgotten(manager, subscribed):
    allow(manager, 1)
    assert look(manager) == 1
    allow(manager, 0)
    assert look(manager) == 0
    allow(manager, 1)
    assert look(manager) == 1


def test_two_managers_that_look_at_the_same_time_tell_once(manager, hooks, subscribed):
    allow(manager, 1)
    meddling = acts.Meddling(manager.database.engine.url)
    other = builders.Manager(manager.core.conf, meddling, manager.clock, manager.cloud)
    meddling.before_writer = lambda: near_limits.look(manager.core, manager.clock())
    near_limits.look(other.core, manager.clock())
    meddling.dispose()
    delivery_rounds.deliver(manager)
    assert len(hooks.bodies) == 1


def test_a_manager_that_dies_before_it_has_told_tells_later(
        manager, hooks, subscribed, monkeypatch):
    allow(manager, 1)
    monkeypatch.setattr(near_limits.journal, 'publish', _fails)
    with pytest.raises(_Killed):
        look(manager)
    monkeypatch.undo()
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(tables.NEAR_LIMITS)).all() == []
    assert look(manager) == 1 and len(hooks.bodies) == 1


class _Killed(BaseException):
    """The manager dies here."""


def _fails(*_):
    raise _Killed
