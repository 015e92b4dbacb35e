# SPDX-License-Identifier: Apache-2.0
"""GET /v1/forecast: what it answers, and how it refuses bad input."""
import urllib.parse

import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
PLACE = '/v1/forecast'


def test_a_forecast_has_an_element_for_each_hour(api, manager):
    manager.enrol(2)
    manager.book(end=builders.at(1))
    answer = api.get(f'{PLACE}?end=%2B2h', **ADMIN)
    assert answer.status_int == 200, answer.body
    found = answer.json['forecast']
    assert (found['pool'], found['capacity'], found['method']) == ('host', 2, 'simple')
    assert found['learned_from'] == '2030-05-01T12:00:00Z'
    none = {'low80': None, 'high80': None, 'low95': None, 'high95': None, 'missing': 0.0}
    assert found['hours'] == [
        {'start': '2030-05-01T12:00:00Z', 'expected': 1.0, 'allocated': 1.0, **none},
        {'start': '2030-05-01T13:00:00Z', 'expected': 0.0, 'allocated': 0.0, **none}]
    assert len(api.get(PLACE, **ADMIN).json['forecast']['hours']) == 168


@pytest.mark.parametrize(('query', 'status', 'words'), [
    ({'end': '2020-01-01 00:00'}, 400, 'end'), ({'end': '2130-01-01 00:00'}, 400, 'end'),
    ({'end': 'now'}, 400, 'end'), ({'end': 'soon'}, 400, 'end'), ({'pool': 'moon'}, 404, 'moon'),
    ({'pool': ''}, 400, 'pool'), ({'hosts': '3'}, 400, 'hosts'),
    ({'criteria': '["==", "$moon", "1"]'}, 400, 'moon'), ({'criteria': '[['}, 400, 'Criteria'),
    ({'criteria': '\x01'}, 400, 'criteria'), ({'criteria': 'x' * 4001}, 400, 'criteria')])
def test_bad_input_is_refused_and_names_the_field(api, query, status, words):
    answer = api.get(f'{PLACE}?{urllib.parse.urlencode(query)}', **ADMIN)
    assert answer.status_int == status, answer.body
    assert words in answer.json['error_message']


def test_a_field_is_given_once(api):
    assert api.get(f'{PLACE}?pool=host&pool=host', **ADMIN).status_int == 400
