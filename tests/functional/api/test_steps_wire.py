# SPDX-License-Identifier: Apache-2.0
"""The field while_free on the wire: steps that are possible, none, and those that are refused."""
import pytest
from support import builders

HOST = [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]
_BAD = ('x', '', '-1', -1, True, False, 1.5, 599, 10 ** 12, '9' * 500, '1e999h', [], '+1h')


@pytest.fixture
def ready(api, manager):
    manager.enrol(2)
    return api


def _create(api, query='', **fields):
    return api.post(f'/v1/leases{query}', {'name': 'a lease', 'duration': '2h',
                                           'reservations': HOST, **fields}, version='1.1')


def _step(api, path):
    return api.get(path, version='1.1').json['lease']['while_free']


def _refused(answer):
    return answer.status_int == 400 and 'while_free' in answer.text


@pytest.mark.parametrize('step', _BAD, ids=lambda step: repr(step)[:20])
def test_a_bad_step_is_refused_and_the_answer_names_the_field(ready, step):
    path = f'/v1/leases/{_create(ready, while_free="1h").json["lease"]["id"]}'
    for query in ('', '?dry_run=true'):
        answer = _create(ready, query, while_free=step)
        assert _refused(answer), answer.text
        answer = ready.put(f'{path}{query}', {'while_free': step}, version='1.1')
        assert _refused(answer), answer.text
    assert _step(ready, path) == 3600


@pytest.mark.parametrize('step', [0, '0', None])
def test_no_step_ends_the_steps(ready, step):
    assert _create(ready, while_free=step).json['lease']['while_free'] is None
    lease = _create(ready, while_free='1h').json['lease']
    assert lease['while_free'] == 3600
    path = f'/v1/leases/{lease["id"]}'
    answer = ready.put(f'{path}?dry_run=true', {'while_free': step}, version='1.1')
    assert answer.json['lease']['while_free'] is None
    assert _step(ready, path) == 3600
    answer = ready.put(path, {'while_free': step}, version='1.1')
    assert answer.json['lease']['while_free'] is None
    assert _step(ready, path) is None


def test_a_client_of_rest_1_0_gets_no_steps(ready):
    answer = ready.post('/v1/leases', builders.a_body(while_free='1h'), version=None)
    assert answer.status_int == 201, answer.text
    assert 'while_free' not in answer.json['lease']
    assert _step(ready, f'/v1/leases/{answer.json["lease"]["id"]}') is None
