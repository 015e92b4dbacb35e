# SPDX-License-Identifier: Apache-2.0
"""Booting with a lease when Climate or Nova refuses, or does not answer."""
import logging

import booting
import pytest
import requests
from support import nova_standin


@pytest.mark.parametrize('terminated', [{}, {'CONTENT_LENGTH': None, 'wsgi.input_terminated': 1}])
def test_a_body_of_more_than_a_mebibyte_is_refused(user, nova, terminated):
    answer = user.sends(b'x' * (2 << 20), **terminated)
    assert booting.told(user, answer)[:2] == (413, 'overLimit')
    assert nova.bodies == []


@pytest.mark.parametrize(('hints', 'said'), [
    ({'reserved': 'True'}, 'lease_params: "end" or "duration" is missing'),
    ({'lease_params': '{}'}, 'lease_params: it needs the hint reserved=True'),
    ({'reserved': 'True', 'lease_params': 'x'}, 'lease_params: "x" is not JSON'),
    ({'reserved': 'True', 'lease_params': '[]'}, 'lease_params: "[]" is not an object'),
    ({'reserved': 'True', 'lease_params': None}, 'lease_params: "None" is not an object'),
    ({'reserved': 'True', 'lease_params': 'x' * 10 ** 6}, 'lease_params: it has 1000000'),
    ({'reserved': 'True', 'lease_params': '{"end_date": "x"}'}, 'lease_params: "end_date" is not'),
    ({'reserved': None}, 'reserved: "None" is neither'),
    ({**booting.RESERVED, 'reservation': 'r0'}, 'reserved: the hint reservation already names')],
    ids=lambda value: str(value)[:50])
def test_malformed_hints_are_refused_before_a_lease_is_created(user, nova, service, hints, said):
    status, name, message = booting.told(user, user.boots(hints))
    assert (status, name) == (400, 'badRequest')
    assert message.startswith(said)
    assert service.log == []


@pytest.mark.parametrize(('response', 'expected', 'after'), [
    (booting.climate_says(400, 'bad_date', 'end: it is over.'),
     (400, 'badRequest', 'Climate: end: it is over.'), None),
    (booting.climate_says(403, 'trust_refused', 'no application credential.'),
     (403, 'forbidden', 'Climate: no application credential.'), None),
    (booting.climate_says(404, 'not_found', 'Flavor 7 was not found.'),
     (404, 'itemNotFound', 'Climate: Flavor 7 was not found.'), None),
    (booting.climate_says(409, 'not_enough', 'Only 2 are free.'),
     (409, 'conflictingRequest', 'Climate: Only 2 are free.'), None),
    (booting.climate_says(422, 'key_reused', 'Another key.'),
     (400, 'badRequest', 'Climate: Another key.'), None),
    (booting.climate_says(429, 'too_many', 'Slowly.', **{'Retry-After': '7'}),
     (429, 'overLimit', 'Climate: Slowly.'), '7'),
    (booting.climate_says(500, 'internal_error', 'Look into the log.'),
     (500, 'computeFault', 'Climate: Look into the log.'), None),
    (booting.climate_says(503, 'overloaded', 'Busy.', **{'Retry-After': '3'}),
     (503, 'serviceUnavailable', 'Climate: Busy.'), '3'),
    (booting.climate_says(503, 'overloaded', 'Busy.', **{'Retry-After': '9' * 5000}),
     (503, 'serviceUnavailable', 'Climate: Busy.'), '10'),
    (booting.climate_says(504, 'manager_silent', 'No answer.'),
     (503, 'serviceUnavailable', 'Climate: No answer.'), '10'),
    ({'status_code': 401, 'json': {'error': {'message': 'no'}}},
     (401, 'unauthorized', 'Climate: the token is not valid: log in again.'), None)],
    ids=lambda value: str(value)[:80])
def test_a_refusal_of_climate_has_the_format_of_nova(user, nova, service, response, expected,
                                                     after):
    service.refuses('POST', '/leases', **response)
    assert booting.told(user, user.boots(booting.RESERVED)) == expected
    assert user.headers.get('Retry-After') == after
    assert nova.bodies == []


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError}, {'exc': requests.exceptions.ReadTimeout},
    {'status_code': 404, 'text': '<html>'}, {'status_code': 502, 'text': 'Bad gateway'},
    {'status_code': 404, 'json': {'error': 404, 'error_message': 'Nothing is here.'}},
    {'status_code': 201, 'text': 'hello'}, {'status_code': 201, 'json': {'lease': {'id': 'l1'}}},
    {'status_code': 201, 'json': []}, {'status_code': 201, 'text': '[' * 100000},
    {'status_code': 201, 'json': booting.lease(0)}, {'status_code': 201, 'json': booting.lease(2)},
    {'status_code': 201, 'json': {'lease': {**booting.lease()['lease'], 'id': 'l\r\n1'}}}],
    ids=lambda value: str(value)[:80])
def test_without_climate_there_is_no_server(user, nova, service, response):
    service.refuses('POST', '/leases', **response)
    status, name, message = booting.told(user, user.boots(booting.RESERVED))
    assert (status, name) == (503, 'serviceUnavailable')
    assert 'try again in 10 seconds' in message
    assert 'example' not in message, 'addresses are nothing for users'
    assert user.headers['Retry-After'] == '10'
    assert nova.bodies == []


def test_a_blazar_at_the_address_of_climate_is_named_in_the_log(user, nova, service, caplog):
    blazar = {'status_code': 406, 'json': {'error': 406, 'error_message': 'Version 1.1 is not.'}}
    service.refuses('POST', '/leases', **blazar)
    status, name, _ = booting.told(user, user.boots(booting.RESERVED))
    assert (status, name, nova.bodies) == (503, 'serviceUnavailable', [])
    assert 'with status 406: the address may still be that of Blazar' in caplog.text
    assert user.boots({}) == nova.says
    service.refuses('GET', '/leases/r1', **blazar)
    assert user.boots({'reservation': 'r1'}) == nova.says
    assert nova.asked[booting.HINTS] == {'reservation': 'r1'}


def test_a_lost_answer_is_requested_again_with_the_same_key(user, nova, service, requests_mock):
    requests_mock.post(f'{booting.URL}/leases', [
        {'exc': requests.exceptions.ConnectionError},
        {'status_code': 201, 'json': booting.lease()}])
    user.boots(booting.RESERVED)
    keys = [each.headers.get('Idempotency-Key') for each in service.asked[:2]]
    assert (user.status, keys) == (202, [booting.REQUEST_ID] * 2)


@pytest.mark.parametrize('status', ['400 Bad Request', '403 Forbidden', '500 Error', '300 Choose'])
def test_a_server_that_nova_refuses_leaves_no_lease(user, nova, service, status):
    nova.status, nova.says = status, {'badRequest': {'code': 400, 'message': 'no'}}
    assert user.boots(booting.RESERVED) == nova.says
    assert service.log == ['lease', 'nova', 'dropped']
    assert 'X-Climate-Lease-Id' not in user.headers
    assert nova.closed == 1


@pytest.mark.parametrize('error', [ValueError('broken'), SystemExit()])
def test_a_nova_that_breaks_leaves_no_lease(user, nova, service, error):
    nova.error = error
    with pytest.raises(type(error)):
        user.boots(booting.RESERVED)
    assert service.log == ['lease', 'nova', 'dropped']


def test_an_answer_that_breaks_off_leaves_no_lease(make, service, nova):
    nova.breaks_off = OSError('gone')
    with pytest.raises(OSError, match='gone'):
        make().boots(booting.RESERVED)
    assert (service.log[-1], nova.closed) == ('dropped', 1)


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError}, {'status_code': 500, 'text': 'x'},
    booting.climate_says(409, 'bad_transition', 'Not now.')], ids=str)
def test_a_lease_that_cannot_be_deleted_is_left_to_climate(user, nova, service, caplog, response):
    service.refuses('DELETE', '/leases/l1', **response)
    nova.status = '403 Forbidden'
    user.boots(booting.RESERVED)
    assert user.status == 403
    assert 'Lease l1 has no server and could not be deleted' in caplog.text


def test_a_lease_that_is_gone_already_is_deleted(user, nova, service, caplog):
    service.refuses('DELETE', '/leases/l1', **booting.climate_says(404, 'lease_not_found', 'Gone.'))
    nova.status = '403 Forbidden'
    user.boots(booting.RESERVED)
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError},
    booting.climate_says(409, 'server_leased', 'It is.')], ids=str)
def test_a_server_that_cannot_be_bound_is_left_to_climate(user, service, caplog, response):
    service.refuses('PUT', '/reservations/r1', **response)
    assert user.boots(booting.RESERVED) == {'server': {'id': 's1'}}
    assert user.headers['X-Climate-Lease-Id'] == 'l1'
    assert 'Lease l1 could not be bound to server s1' in caplog.text
    assert 'user-token' not in caplog.text


def test_an_application_may_replace_its_status_until_the_body_begins(service, write, login):
    def app(environ, start_response):
        start_response('202 Accepted', [])
        try:
            raise ValueError('late')
        except ValueError as error:
            write = start_response('500 Error', [], (ValueError, error, error.__traceback__))
        write(b'{}')
        start_response('500 Error', [], (ValueError, ValueError('too late'), None))
    with nova_standin.api(write(login)) as (factory, _conf), pytest.raises(
            ValueError, match='too late'):
        booting.User(factory({})(app)).boots(booting.RESERVED)
    assert service.log == ['lease', 'dropped']


def test_an_application_without_a_status_is_an_error(service, write, login):
    with nova_standin.api(write(login)) as (factory, _conf), pytest.raises(
            RuntimeError, match='did not call start_response'):
        booting.User(factory({})(lambda environ, start_response: [])).boots(booting.RESERVED)
    assert service.log == ['lease', 'dropped']
