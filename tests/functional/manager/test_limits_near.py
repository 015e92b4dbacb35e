# SPDX-License-Identifier: Apache-2.0
"""Projects hear that they have used most of a limit of the limit book: once for each."""
import pytest
from support import builders
from support import delivery_rounds

from climate.db import limit_notices as stored
from climate.manager.limits import near

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def limited(manager, hooks):
    """A manager with eight hosts, and a subscription of the project demo for limits."""
    manager.enrol(8, rack='r1')
    delivery_rounds.subscribe(manager, hooks.url, events=('limits',))
    return manager


def allow(manager, *limits):
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': list(limits)})


def check(manager):
    """Check the limits once and deliver; return the number of notifications."""
    count = near.report_near(manager.core, manager.clock())
    delivery_rounds.deliver(manager)
    return count


def notified(manager):
    with manager.database.reader() as connection:
        return stored.names_near(connection)


def test_a_project_near_a_limit_hears_of_it_once_with_the_figures(limited, hooks):
    allow(limited, {'name': 'hosts', 'measure': 'resources', 'most': 5,
                    'resource_type': 'physical:host'})
    limited.book(builders.hosts(3), end=NOON + hours(2))
    assert check(limited) == 0
    limited.book(builders.hosts(1), end=NOON + hours(2))
    assert [check(limited), check(limited)] == [1, 0]
    [body] = hooks.bodies
    assert (body['kind'], body['event_type'], body['details']) == (
        'limits', 'project.limit_near', {
            'limit': 'hosts', 'used': 4, 'most': 5, 'message': (
                'Your project has used 4 of 5 of the limit "hosts": at most 5 resources at one '
                'moment, of the type physical:host. Requests for more than that are refused.')})
    # The leases end, and the project is notified again if it books again.
    limited.clock.now = NOON + hours(3)
    limited.run_until(NOON + hours(3))
    assert check(limited) == 0
    limited.book(builders.hosts(4), end=NOON + hours(5))
    assert check(limited) == 1


@pytest.mark.parametrize('limit', [
    {'measure': 'open_leases', 'most': 1},
    {'measure': 'resource_hours', 'most': '4.5', 'window': '7d'},
    {'measure': 'resource_hours', 'most': 5, 'period': 'month'},
    {'measure': 'pool_share', 'most': 25, 'pool': 'host'},
    {'measure': 'resources', 'most': 2, 'criteria': '["==", "$rack", "r1"]'}])
def test_each_measure_that_adds_up_the_leases_of_a_project_is_checked(limited, limit):
    allow(limited, {'name': 'rule', **limit})
    limited.book(builders.hosts(2), end=NOON + hours(2))
    assert check(limited) == 1


@pytest.mark.parametrize('limit', [
    {'measure': 'open_leases', 'most': 1, 'per': 'user'},
    {'measure': 'lease_length', 'most': '2h'},
    {'measure': 'open_leases', 'most': 9},
    {'measure': 'resources', 'most': 2, 'projects': ['other']}])
def test_other_limits_and_those_of_other_projects_are_not_reported(limited, limit):
    allow(limited, {'name': 'rule', **limit})
    limited.book(builders.hosts(2), end=NOON + hours(2))
    assert check(limited) == 0


def test_the_most_specific_limit_of_each_project_counts(limited):
    allow(limited, {'name': 'all', 'measure': 'open_leases', 'most': 10},
          {'name': 'small', 'measure': 'open_leases', 'most': 1, 'projects': ['other']})
    limited.book(builders.hosts(1), end=NOON + hours(2))
    limited.create(builders.a_lease(end=NOON + hours(2)), builders.a_member(project='other'))
    assert (check(limited), notified(limited)) == (1, {'small'})


def test_a_limit_that_was_removed_is_forgotten_but_not_those_of_options(limited):
    allow(limited, {'name': 'rule', 'measure': 'open_leases', 'most': 1})
    limited.book(builders.hosts(1), end=NOON + hours(2))
    assert (check(limited), notified(limited)) == (1, {'rule'})
    with limited.database.writer() as connection:
        stored.add_near(connection, 'demo', 'waiting_per_project', NOON)
    limited.clock.advance(hours(0.1))
    allow(limited)
    assert (check(limited), notified(limited)) == (0, {'waiting_per_project'})


def test_members_do_not_read_criteria_with_a_private_property(limited, hooks):
    limited.client.update_property(builders.an_admin(), 'host', 'rack', True)
    allow(limited, {'name': 'rule', 'measure': 'resources', 'most': 1,
                    'criteria': '["==", "$rack", "r1"]'})
    limited.book(builders.hosts(1), end=NOON + hours(2))
    assert check(limited) == 1
    assert 'rack' not in str(hooks.bodies) and 'for some resources' in str(hooks.bodies)


def test_many_projects_are_read_by_two_statements(limited):
    allow(limited, {'name': 'rule', 'measure': 'open_leases', 'most': 9})
    for number in range(5):
        limited.create(builders.a_lease(end=NOON + hours(2)),
                       builders.a_member(project=f'p{number}'))
    near.report_near(limited.core, NOON)
    with builders.statements() as executed:
        assert near.report_near(limited.core, NOON) == 0
    assert len([each for each in executed if 'FROM leases' in each]) == 2
