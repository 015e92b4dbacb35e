# SPDX-License-Identifier: Apache-2.0
"""A purge keeps the leases that limits still count."""
import types

import pytest
from support import builders

from climate import errors
from climate.cmd import db as climate_db
from climate.manager.limits import retention

DAY = builders.hours(24)
HOURS_90D = {'name': 'quarter', 'measure': 'resource_hours', 'most': 5, 'window': '90d'}


@pytest.fixture
def purge(conf, manager, capsys, monkeypatch):
    """A function that runs the purge of all leases that are over; it returns the output."""
    def run():
        url = manager.database.engine.url.render_as_string(hide_password=False)
        conf.set_override('connection', url, group='database')
        monkeypatch.setattr(manager.database, 'now', manager.clock)
        conf.command = types.SimpleNamespace(before=f'{manager.clock() + DAY:%Y-%m-%d}')
        climate_db._purge(conf, manager.database)
        return capsys.readouterr().out
    return run


def allow(manager, *limits, valid_from=None):
    manager.client.create_limit_book(builders.an_admin(), valid_from, {'limits': list(limits)})


def over(manager, hours=4):
    """Run a lease of some hours until it is over."""
    manager.enrol(2)
    lease = manager.active(end=builders.at(hours))
    manager.run_until(builders.at(hours + 1))
    return lease


def counted(manager):
    with manager.database.reader() as connection:
        return retention.counted_since(connection, manager.clock())


def test_a_purge_keeps_the_hours_of_a_window_until_the_window_has_passed(manager, purge):
    over(manager)
    allow(manager, HOURS_90D)
    manager.clock.advance(80 * DAY)
    assert purge().splitlines() == [
        'Removed 0 leases that ended or were deleted before 2030-07-21 UTC.',
        'Kept the leases that were over after 2030-04-21 17:00 UTC, because the limit "quarter" of '
        'version 1 of the limit book counts them.']
    with pytest.raises(errors.LimitExceeded):
        manager.create(builders.a_lease(end=manager.clock() + builders.hours(2)))
    manager.clock.advance(11 * DAY)
    assert 'Removed 1 leases' in purge()


@pytest.mark.parametrize('limit', [
    {'measure': 'resource_hours', 'most': 5, 'period': 'year'},
    {'measure': 'pause', 'least': '30d'}])
def test_a_purge_keeps_the_leases_of_the_present_period_and_of_a_pause(manager, purge, limit):
    over(manager)
    allow(manager, {'name': 'rule', **limit})
    manager.clock.advance(20 * DAY)
    assert 'Removed 0 leases' in purge()


def test_a_later_version_counts_and_a_former_one_does_not(manager):
    over(manager)
    allow(manager, HOURS_90D)
    allow(manager, valid_from=manager.clock() + 10 * DAY)
    allow(manager, {**HOURS_90D, 'name': 'later'}, valid_from=manager.clock() + 50 * DAY)
    valid_from = manager.clock() + 50 * DAY
    assert counted(manager) == retention.CountedSince(manager.clock() - 90 * DAY, 'quarter', 1)
    manager.clock.advance(20 * DAY)
    assert counted(manager) == retention.CountedSince(valid_from - 90 * DAY, 'later', 3)


def test_limits_without_a_past_keep_nothing(manager, purge):
    over(manager)
    allow(manager, {'name': 'rule', 'measure': 'open_leases', 'most': 3},
          {'name': 'long', 'measure': 'lease_length', 'most': '7d'})
    manager.clock.advance(2 * DAY)
    assert purge().splitlines() == [
        'Removed 1 leases that ended or were deleted before 2030-05-04 UTC.']
