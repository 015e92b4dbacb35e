# SPDX-License-Identifier: Apache-2.0
"""Limits are evaluated strictly: the result equals a walk through all minutes."""
import datetime
import random
import zoneinfo

import pytest
from support import limit_cases

from climate.domain.limits import measures
from climate.domain.limits import rules

DAY = datetime.timedelta(days=1)
# The tests begin at noon of 1 May. On Kiritimati, May began fourteen hours before that of UTC.
ZONES = (datetime.UTC, zoneinfo.ZoneInfo('Pacific/Kiritimati'))


def broken(limit, request):
    return measures.breach(limit, request) is not None


@pytest.mark.parametrize('number', range(120))
def test_a_limit_of_resources_is_evaluated_at_every_minute(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resources', draw.randint(0, 12), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


@pytest.mark.parametrize('number', range(150))
def test_a_limit_of_resource_hours_is_evaluated_in_every_window(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resource_hours', draw.randint(0, 150), window=(
        draw.randint(1, 40) * limit_cases.HOUR), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


@pytest.mark.parametrize('number', range(60))
def test_a_limit_of_resource_hours_is_evaluated_in_every_month(number):
    draw = random.Random(number)
    request = limit_cases.random_request(draw)
    limit = limit_cases.limit('resource_hours', draw.randint(0, 250), period=rules.Period.MONTH,
                              zone=draw.choice(ZONES), **_more(draw))
    assert broken(limit, request) == limit_cases.is_broken(limit, request)


def _more(draw):
    return {'hours': draw.choice([None, None, limit_cases.WORKING_HOURS]),
            'per': draw.choice(list(rules.Per)), 'unit': rules.RESOURCES}
