# SPDX-License-Identifier: Apache-2.0
"""The list of managers and which of them are alive, as administrators see it."""
import pytest
from support import builders

from climate.cmd import status
from climate.db import managers

NOON = builders.NOON


@pytest.fixture
def seen(manager):
    """Two managers: one that was heard of just now, one that has been silent for a minute."""
    with manager.database.writer() as connection:
        managers.seen(connection, 'two:7', 'two', NOON, NOON - builders.minutes(1), 3)
        managers.seen(connection, 'one:8', 'one', NOON, NOON, 0, 'Keystone: the login is refused')


def test_an_administrator_sees_which_managers_live(api, seen):
    answer = api.get('/v1/services', token=builders.ADMIN, version='1.1')
    assert answer.json == {'services': [
        {'id': 'one:8', 'binary': 'climate-manager', 'host': 'one', 'state': 'up',
         'since': '2030-05-01T12:00:00Z', 'last_seen': '2030-05-01T12:00:00Z',
         'running_events': 0, 'not_ready': 'Keystone: the login is refused'},
        {'id': 'two:7', 'binary': 'climate-manager', 'host': 'two', 'state': 'down',
         'since': '2030-05-01T12:00:00Z', 'last_seen': '2030-05-01T11:59:00Z',
         'running_events': 3, 'not_ready': None}]}


def test_three_heartbeats_must_be_missing(api, manager, seen):
    for seconds, states in ((30, ['up', 'down']), (31, ['down', 'down'])):
        manager.clock.now = NOON + builders.minutes(seconds / 60)
        found = api.get('/v1/services', token=builders.ADMIN, version='1.1').json['services']
        assert [each['state'] for each in found] == states


def test_at_1_0_there_are_no_services(api, seen):
    answer = api.get('/v1/services', token=builders.ADMIN)
    assert answer.status_int == 404
    assert 'REST 1.1' in answer.json['error_message']


def test_climate_status_tells_the_same(manager, seen, conf, capsys):
    url = manager.database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    assert status.managers_of(conf) == 0
    first, second = capsys.readouterr().out.splitlines()
    # The clock of the database is real.
    if manager.database.now() < NOON:
        assert first.startswith('one:8  not ready  host one')
        assert first.endswith('0 running  not ready: Keystone: the login is refused')
    assert 'host two  since 2030-05-01 12:00:00  last seen 2030-05-01 11:59:00 UTC' in second
    assert second.endswith('3 running')


def test_a_manager_that_died_hours_ago_does_not_look_like_one_that_hangs(manager, conf, capsys):
    now = manager.database.now()
    with manager.database.writer() as connection:
        managers.seen(connection, 'two:7', 'two', now - builders.hours(9),
                      now - builders.hours(5), 3)
    url = manager.database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    assert status.managers_of(conf) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith('two:7  down  host two  since ')
    assert line.endswith('it does nothing; 3 of its events went to other managers')
    assert '3 running' not in line
