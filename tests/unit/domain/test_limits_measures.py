# SPDX-License-Identifier: Apache-2.0
"""Limits are evaluated strictly: the result equals a walk through all minutes."""
import datetime
import random
import zoneinfo

import pytest
from support import builders
from support import limit_cases
from support import thinning

from climate.domain.limits import holdings
from climate.domain.limits import measures
from climate.domain.limits import rules

DAY = datetime.timedelta(days=1)
# The tests begin at noon of 1 May. On Kiritimati, May began fourteen hours before that of UTC.
ZONES = (datetime.UTC, zoneinfo.ZoneInfo('Pacific/Kiritimati'))


def broken(limit, request):
    return measures.breach(limit, request) is not None


@pytest.mark.parametrize('number', thinning.few(range(120), 40))
def test_a_limit_of_resources_is_evaluated_at_every_minute(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resources', draw.randint(0, 12), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


@pytest.mark.parametrize('number', thinning.few(range(150), 40))
def test_a_limit_of_resource_hours_is_evaluated_in_every_window(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resource_hours', draw.randint(0, 150), window=(
        draw.randint(1, 40) * limit_cases.HOUR), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


@pytest.mark.parametrize('number', thinning.few(range(60), 20))
def test_a_limit_of_resource_hours_is_evaluated_in_every_month(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resource_hours', draw.randint(0, 250), period=rules.Period.MONTH,
                              zone=draw.choice(ZONES), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


def _more(draw):
    return {'hours': draw.choice([None, None, limit_cases.WORKING_HOURS]),
            'per': draw.choice(list(rules.Per)), 'unit': rules.RESOURCES}


@pytest.mark.parametrize('start, end, is_broken', [
    (0, 7, False), (0, 8, False), (-1, 7, True), (21, 30, True), (50, 60, False)])
def test_a_lease_may_become_shorter_although_the_pause_becomes_too_short(start, end, is_broken):
    limit = limit_cases.limit('pause', duration=DAY)
    other = limit_cases.holding('other', limit_cases.held(8, 20))
    before, after = (limit_cases.holding('subject', limit_cases.held(*span))
                     for span in ((0, 10), (start, end)))
    request = holdings.Request(builders.NOON, before, after, (other,))
    assert broken(limit, request) == is_broken


@pytest.mark.parametrize('measure', ['lease_length', 'ahead', 'notice'])
def test_a_lease_that_gets_resources_that_count_is_as_a_new_lease(measure):
    limit = limit_cases.limit(measure, pool='gpus', duration=(
        DAY if measure == 'notice' else datetime.timedelta(minutes=30)))
    before, after = (limit_cases.holding('subject', limit_cases.held(2, 8, pool=pool))
                     for pool in ('host', 'gpus'))
    assert broken(limit, holdings.Request(builders.NOON, before, after))
    assert not broken(limit, holdings.Request(builders.NOON, after, after))
    assert not broken(limit, holdings.Request(builders.NOON, after, before))
