# SPDX-License-Identifier: Apache-2.0
"""POST /v1/what-if: what it answers, and how it refuses bad input."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
PLACE = '/v1/what-if'


@pytest.fixture(autouse=True)
def a_day(manager, conf):
    conf.set_override('cleaning_minutes', 0, group='manager')
    manager.enrol(2)
    manager.book(end=builders.at(12))


def test_an_answer_has_moved_leases_and_the_use_of_the_pool(api, manager):
    answer = api.post(PLACE, {'end': '+1d', 'remove': ['1']}, **ADMIN)
    assert answer.status_int == 200, answer.body
    found = answer.json['what_if']
    assert found['pool'] == 'host' and found['resources'] == {'now': 2, 'then': 1}
    none = {'moves': 0, 'waits': 0, 'refused': 0, 'served': 0}
    assert found['leases'] == {'looked_at': 1, 'left_out': 0, 'queued': none, 'extra': none,
                               'displaced': {**none, 'moves': 1}}
    (change,) = found['changes']
    assert (change['outcome'], change['new_start']) == ('moves', '2030-05-01T12:00:00Z')
    assert len(change['resources']) == len(change['new_resources']) == 1
    assert (found['utilisation']['now'], found['utilisation']['then']) == (0.25, 0.5)
    assert found['utilisation']['days'][0]['then'] == {
        'capacity_hours': 24.0, 'allocated_hours': 12.0, 'utilisation': 0.5}


def test_an_empty_pool_has_no_utilisation(api):
    found = api.post(PLACE, {'pool': 'address'}, **ADMIN).json['what_if']
    assert found['utilisation']['now'] is None
    assert len(found['utilisation']['days']) == 30


@pytest.mark.parametrize(('body', 'status', 'words'), [
    ({'demand_factor': 0}, 400, 'demand_factor'), ({'demand_factor': -1}, 400, 'demand_factor'),
    ({'demand_factor': 1e9}, 400, 'demand_factor'), ({'demand_factor': 'a'}, 400, 'demand_factor'),
    ({'end': '2020-01-01 00:00'}, 400, 'end'), ({'start': '+2d', 'end': '+1d'}, 400, 'end'),
    ({'end': '2130-01-01 00:00'}, 400, 'end'), ({'start': '2020-01-01 00:00'}, 400, 'start'),
    ({'start': '9999-12-31 00:00'}, 400, 'start'), ({'end': 'soon'}, 400, 'end'),
    ({'pool': 'moon'}, 404, 'moon'), ({'remove': ['nowhere']}, 400, 'remove'),
    ({'remove': ['1', '1']}, 400, 'remove'), ({'remove': [1]}, 400, 'remove'),
    ({'add': [{'count': 0, 'like': '1'}]}, 400, 'add.0.count'),
    ({'add': [{'count': 1, 'like': 'x'}]}, 400, 'add.0.like'),
    ({'add': [{'count': 1}]}, 400, 'like'), ({'hosts': 3}, 400, 'hosts'),
    ({'out': [{'resources': ['1'], 'start': '+2h', 'end': '+1h'}]}, 400, 'out.0.end'),
    ({'out': [{'resources': [], 'start': '+1h', 'end': '+2h'}]}, 400, 'out.0.resources'),
    ({'limit': 0}, 400, 'limit'), ({'add': [{'count': 1, 'like': ''}]}, 400, 'add.0.like'),
    ({'add': [{'count': -1, 'like': '1'}]}, 400, 'add.0.count'),
    ({'add': [{'count': 10_000, 'like': '1'}] * 2}, 400, 'add'),
    ({'remove': ['1', '2'], 'add': []}, 200, ''), ({'remove': '1'}, 400, 'remove'),
    ({'remove': ['x' * 300]}, 400, 'remove'), ({'remove': ['\x00']}, 400, 'remove'),
    ({'remove': [f'{number}' for number in range(10_001)]}, 400, 'remove'),
    ({'pool': 'x' * (1 << 20)}, 413, '1048576')])
def test_bad_input_is_refused_and_names_the_field(api, body, status, words):
    answer = api.post(PLACE, body, **ADMIN)
    assert answer.status_int == status, answer.body
    assert status == 200 or words in answer.json['error_message']


def test_a_host_is_known_by_its_name_and_its_id_and_counts_once(api):
    listed = api.get('/v1/resources/host', **ADMIN).json['resources']
    found = api.post(PLACE, {'end': '+1d', 'remove': ['1', listed[0]['name']]}, **ADMIN)
    assert found.json['what_if']['resources'] == {'now': 2, 'then': 1}
    out = {'start': 'now', 'end': '+12h', 'resources': [listed[0]['name'], '1']}
    found = api.post(PLACE, {'end': '+1d', 'out': [out, out]}, **ADMIN).json['what_if']
    assert found['utilisation']['days'][0]['then']['capacity_hours'] == 48 - 12


def test_a_nan_factor_is_refused(api):
    answer = api.post(PLACE, raw=b'{"demand_factor": NaN}', **ADMIN)
    assert (answer.status_int, 'NaN' in answer.json['error_message']) == (400, True)


def test_members_may_not_ask_what_if(api):
    assert api.post(PLACE, {}, token=builders.DEMO, version='1.1').status_int == 403
