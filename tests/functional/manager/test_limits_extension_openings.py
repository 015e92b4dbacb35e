# SPDX-License-Identifier: Apache-2.0
"""A project is notified once when rules begin to allow an extension of its lease."""
import pytest
import sqlalchemy as sa
from support import builders

from climate.db import tables
from climate.manager.limits import extension_openings

at, hours, seconds = builders.at, builders.hours, builders.seconds


def rules(manager, *extensions):
    manager.client.create_limit_book(builders.an_admin(), None, {'extensions': [
        {'name': f'rule {number}', **extension} for number, extension in enumerate(extensions)]})


@pytest.fixture
def lease(manager):
    """A lease that runs for 10 hours."""
    manager.enrol(2)
    return manager.active(end=at(10))


def report(manager, moment):
    """Report at a moment; return the number of notified projects."""
    manager.run_until(moment)
    return extension_openings.report(manager.core, manager.clock())


def told(manager):
    with manager.database.reader() as connection:
        return list(connection.execute(sa.select(tables.OUTBOX.c.payload).where(
            tables.OUTBOX.c.event_type == 'lease.extension_open')).scalars())


@pytest.mark.parametrize('within', ['2h', '20%'])
def test_a_project_is_notified_once_when_the_last_part_begins(manager, lease, within):
    rules(manager, {'within': within, 'most': '4h'})
    assert report(manager, at(8) - seconds(1)) == 0
    assert report(manager, at(8)) == 1
    assert report(manager, at(9)) == 0
    [payload] = told(manager)
    assert payload['lease_id'] == lease.id
    assert payload['reason'] == ('It can be extended from now on, until 2030-05-02 02:00 UTC at '
                                 'the latest, if its resources are free.')


def test_the_notification_moves_with_the_end(manager, lease):
    rules(manager, {'within': '2h'})
    report(manager, at(8))
    manager.change(lease, end=at(20))
    assert report(manager, at(18) - seconds(1)) == 0
    assert report(manager, at(18)) == 1
    assert len(told(manager)) == 2


def test_another_manager_does_not_notify_again(manager, lease):
    rules(manager, {'within': '2h'})
    second = builders.Manager(manager.core.conf, manager.database, manager.clock, manager.cloud)
    assert report(manager, at(8)) == 1
    assert report(second, at(8)) == 0


@pytest.mark.parametrize('extensions', [
    [], [{'most': '4h'}], [{'within': '2h', 'times': 0}],
    [{'within': '2h', 'resource_type': 'virtual:instance'}],
    [{'within': '2h', 'projects': ['other']}], [{'within': '2h', 'total': '10h'}]])
def test_no_project_is_notified_without_a_rule_that_allows_an_extension_only_then(
        manager, lease, extensions):
    rules(manager, *extensions)
    assert report(manager, at(9)) == 0


def test_a_lease_that_goes_on_in_steps_has_no_notification(manager):
    manager.enrol(1)
    manager.active(end=at(10), while_free_seconds=3600)
    rules(manager, {'within': '2h'})
    assert report(manager, at(8.5)) == 0


def test_no_statement_runs_without_rules_of_extensions(manager, lease):
    rules(manager)
    extension_openings.report(manager.core, manager.clock())
    with builders.statements() as found:
        extension_openings.report(manager.core, manager.clock())
    assert not found
