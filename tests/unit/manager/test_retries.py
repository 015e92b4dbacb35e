# SPDX-License-Identifier: Apache-2.0
"""The pauses between two tries of an event."""
import datetime

import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import records
from climate.manager import results
from climate.manager.events import claims
from climate.manager.events import retries

NOON = builders.NOON
PATIENT = {'patient': True, 'slow': True}


def pause(conf, waited, kind=event_kinds.START, **outcome):
    """Return the pause, in seconds, of an event that has waited for a number of seconds."""
    event = records.Event('e', 'l', kind, NOON, NOON, begun_at=NOON, waits=waited)
    claim = claims.Claim(event, None, NOON + datetime.timedelta(seconds=waited), None)
    made = retries.Retries(conf.manager)
    found = results.Outcome(results.BUSY, **outcome)
    assert not made.has_failed(claim, found)
    return made.pause_after(claim, found).total_seconds()


@pytest.mark.parametrize(('waited', 'expected'), [
    (0, 1), (10, 1), (50, 5), (299, 29.9), (300, 30), (100_000, 30)])
def test_slow_work_is_checked_less_and_less_often(conf, waited, expected):
    conf.set_override('busy_seconds', 1, group='manager')
    assert pause(conf, waited, **PATIENT) == expected
    assert pause(conf, waited, event_kinds.HEAL, **PATIENT) == expected


@pytest.mark.parametrize('outcome', [
    {}, {'patient': True}, {'slow': True}])
def test_all_else_is_asked_for_just_as_often_all_the_time(conf, outcome):
    conf.set_override('busy_seconds', 1, group='manager')
    assert [pause(conf, waited, **outcome) for waited in (0, 100, 500)] == [1, 1, 1]


def test_an_error_says_whether_it_takes_minutes():
    error = errors.StillBusy.plain('Magnum', 'not yet.', has_own_limit=True, takes_minutes=True)
    assert error.kwargs['takes_minutes']
    assert error.owner_message == 'Magnum: not yet.'


@pytest.mark.parametrize(('failed_for', 'expected'), [
    (0, 60), (1800, 60), (3600, 120), (86_400, 2880), (10_000_000, 3600)])
def test_an_event_that_was_given_up_long_ago_is_tried_less_often(conf, failed_for, expected):
    given_up = records.Event('e', 'l', event_kinds.START, NOON, NOON, begun_at=NOON)
    now = NOON + datetime.timedelta(seconds=failed_for)
    assert retries.Retries(conf.manager).healing_pause(given_up, now).total_seconds() == expected


@pytest.mark.parametrize(('failed_for', 'waits', 'fails'), [
    (3599, 1, False), (3600, 1, True), (3599, 600, True)])
def test_a_retry_of_an_hour_no_longer_waits_for_resources(
        conf, failed_for, waits, fails):
    now = NOON + datetime.timedelta(seconds=failed_for)
    start = records.Event('s', 'l', event_kinds.START, NOON, NOON, begun_at=NOON)
    heal = records.Event('h', 'l', event_kinds.HEAL, now, now, begun_at=now, waits=waits)
    lease = records.Lease('l', 'n', 'p', 'u', NOON, NOON, events=(start, heal))
    claim = claims.Claim(heal, lease, now, None)
    made = retries.Retries(conf.manager)
    assert made.has_failed(claim, results.Outcome(results.BUSY)) is fails
    assert not made.has_failed(claim, results.Outcome(results.BUSY, patient=True))


def test_an_event_is_not_retried_if_retries_are_off(conf):
    conf.set_override('heal_seconds', 0, group='manager')
    given_up = records.Event('e', 'l', event_kinds.START, NOON, NOON, begun_at=NOON)
    assert retries.Retries(conf.manager).healing_pause(given_up, NOON) is None
