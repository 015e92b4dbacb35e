# SPDX-License-Identifier: Apache-2.0
"""Each error of the service is followed by one hint; the exit code stays 1."""
import re

import pytest
import requests
from unit.client import canned

from climate.client import commands
from climate.client import errors
from climate.client.commands import hints

LEASES = f'{canned.URL}/leases'
CREATE = ('lease', 'create', 'x', '--hosts', '2', '--duration', '1h')


def refused(status, **more):
    return {'status_code': status, 'json': {
        'error_code': status, 'error_name': 'x', 'error_message': 'It was refused.', **more}}


@pytest.mark.parametrize(('words', 'answer', 'hint'), [
    (('lease', 'list'), refused(401), 'Check OS_USERNAME, OS_PASSWORD'),
    (('lease', 'list'), refused(403), 'Ask an operator for the role'),
    (CREATE, refused(403, error_name='limit_exceeded'), '"climate limit list" shows the limits'),
    (('lease', 'list'), {**refused(429), 'headers': {'Retry-After': '7'}},
     'Try again in 7 seconds.'),
    (('lease', 'list'), refused(503), 'Try again in a moment.'),
    (('lease', 'list'), refused(500, request_id='req-1'), 'with the request id req-1'),
    (('lease', 'list'), {'text': '<html>'}, 'Check that the service runs, and its address'),
    (('lease', 'list'), {'exc': requests.ConnectionError('no')},
     'Check that the service runs, and its address'),
    (('lease', 'show', 'x'), {'json': {'leases': []}}, '"climate lease list" shows what exists.'),
    (CREATE, refused(409), '"climate availability" with the same resources finds free times.'),
    (CREATE, refused(409, details={'nearest': '2030-05-01T08:00:00+00:00'}),
     'Set --start 2030-05-01T08:00:00Z, the first time that fits, with --duration'),
    (CREATE, refused(409, details={'nearest': None, 'values': {'gpu': ['A100', 'H100']}}),
     '"climate property show gpu" counts the resources of each value.'),
    (CREATE, refused(400, error_name='unknown_property'), '"climate property list" shows'),
    (('lease', 'swap', canned.LEASE_ID, 'cmp-3'), refused(409),
     '"climate lease show LEASE" shows the state of the lease'),
    (CREATE, refused(400), '"climate lease create --help" shows the arguments.')])
def test_an_error_of_the_service_has_a_hint(run, requests_mock, words, answer, hint):
    for method in ('GET', 'POST'):
        requests_mock.register_uri(method, re.compile(f'{LEASES}(?!.*/resources)'), **answer)
    outcome = run(*words)
    lines = outcome.err.splitlines()
    assert (outcome.code, outcome.out, len(lines)) == (1, '', 2), outcome
    assert lines[1].startswith('Hint: ')
    assert hint in lines[1]


def test_a_login_that_is_missing_has_a_hint(run, tmp_path):
    outcome = run('lease', 'list', environ={'HOME': str(tmp_path)})
    assert outcome.code == 1
    assert outcome.err.splitlines()[0] == (
        'No cloud is selected, and no Climate runs on this machine.')
    assert 'Set OS_CLOUD' in outcome.err.splitlines()[1]


def test_a_wrong_password_has_a_hint(run, keystone):
    keystone.post(f'{canned.KEYSTONE}/auth/tokens', status_code=401, json={
        'error': {'code': 401, 'title': 'Wrong', 'message': 'The password is wrong.'}})
    outcome = run('lease', 'list', environ={
        'OS_AUTH_URL': canned.KEYSTONE, 'OS_USERNAME': 'u', 'OS_PASSWORD': 'p',
        'OS_PROJECT_NAME': 'x', 'OS_USER_DOMAIN_NAME': 'd', 'OS_PROJECT_DOMAIN_NAME': 'd'})
    assert outcome.code == 1
    assert outcome.err.splitlines()[0].startswith('The identity service refused: ')
    assert outcome.err.splitlines()[1].startswith('Hint: Check OS_USERNAME, OS_PASSWORD')


def test_a_hint_names_the_program_that_runs_the_command():
    error = errors.NotFound('No lease is called "x".')
    assert hints.of_error(error, 'openstack reservation lease show', 'lease show',
                          commands.TABLE) == (
        '"openstack reservation lease list" shows what exists.')


def test_an_error_of_the_library_has_no_hint():
    assert str(errors.NotFound('No lease is called "x".')) == 'No lease is called "x".'
