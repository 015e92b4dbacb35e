# SPDX-License-Identifier: Apache-2.0
"""The client of the filter: the answers of Climate, their cache, and timeouts."""
import logging

from oslo_config import cfg
import pytest
import requests
from support import builders

from climate.nova import options
from climate.nova import reservation_client


@pytest.fixture
def clock():
    return builders.Clock(100.0)


@pytest.fixture
def conf(login, write):
    found = cfg.ConfigOpts()
    found([], default_config_files=[str(write(login))])
    options.register(found)
    return found


@pytest.fixture
def asker(conf, clock):
    return reservation_client.ReservationClient(options.adapter(conf), 2, clock)


def shown(reservation_id='r1', **changed):
    return {'json': {'reservation': {
        'id': reservation_id, 'lease_id': 'l1', 'project_id': 'me', 'active': True,
        'usable': True, 'reason': None, 'hosts': ['a.example'], 'service_hosts': ['a'],
        **changed}}}


def test_an_answer_has_the_state_and_the_hosts(climate, asker):
    climate.shows('r1', ['a', 'b'])
    answer, kept = asker.ask('r1', 'me')
    assert (answer.active, answer.usable, answer.reason, kept) == (True, True, None, False)
    assert answer.hosts == {'a', 'b'}


def test_a_call_has_the_project_the_version_and_a_token(climate, asker):
    climate.shows('r1')
    asker.ask('r1', 'me')
    [request] = climate.asked
    assert request.qs == {'project_id': ['me']}
    assert request.headers['OpenStack-API-Version'] == 'reservation 1.1'
    assert request.headers['X-Auth-Token'] == 'a-token'
    assert request.timeout == 5


def test_the_answer_that_a_reservation_is_active_is_cached_briefly(climate, asker, clock):
    climate.shows('r1', ['a'])
    assert [asker.ask('r1', 'me')[1] for _ in range(3)] == [False, True, True]
    clock.now += 1.9
    assert asker.ask('r1', 'me')[1]
    clock.now += 0.2
    assert not asker.ask('r1', 'me')[1]
    assert len(climate.asked) == 2


def test_a_cached_answer_is_of_one_project_and_one_reservation(climate, asker):
    climate.shows('r1')
    climate.shows('r2')
    for each in (('r1', 'me'), ('r1', 'you'), ('r2', 'me')):
        assert not asker.ask(*each)[1]
    assert len(climate.asked) == 3


def test_an_uncached_answer_replaces_the_cached_one(climate, asker):
    climate.answers('r1', shown(), shown(service_hosts=['b']))
    asker.ask('r1', 'me')
    assert asker.ask_uncached('r1', 'me').hosts == {'b'}
    assert asker.ask('r1', 'me')[0].hosts == {'b'}


def test_the_answer_that_a_reservation_is_not_active_is_never_cached(climate, asker):
    climate.answers('r1', shown(active=False, usable=False, reason='has not started'), shown())
    assert asker.ask('r1', 'me')[0].reason == 'has not started'
    assert asker.ask('r1', 'me')[0].usable


def test_each_answer_costs_a_call_without_a_cache(climate, conf, clock):
    asker = reservation_client.ReservationClient(options.adapter(conf), 0, clock)
    climate.shows('r1')
    assert [asker.ask('r1', 'me')[1] for _ in range(3)] == [False] * 3
    assert len(climate.asked) == 3


def test_an_unknown_reservation_is_an_answer(climate, asker):
    climate.knows_not('r1')
    answer, _ = asker.ask('r1', 'me')
    assert (answer.active, answer.usable) == (False, False)
    assert 'no reservation' in answer.reason


@pytest.mark.parametrize('name', ['', '../leases', 'a/b', 'x' * 37, 'ü', 'r1\n', 'r1?x=1'])
def test_a_malformed_id_needs_no_call(climate, asker, name):
    assert 'no reservation' in asker.ask(name, 'me')[0].reason
    assert climate.asked == []


def test_a_request_without_a_project_asks_for_an_impossible_project(climate, asker):
    climate.shows('r1', owner='them')
    asker.ask('r1', None)
    assert climate.asked[0].qs == {'project_id': ['-']}


def test_a_refused_token_is_replaced(climate, asker):
    climate.answers('r1', {'status_code': 401}, shown())
    assert asker.ask('r1', 'me')[0].usable
    assert (climate.logins.call_count, len(climate.asked)) == (2, 2)


@pytest.mark.parametrize(('response', 'said'), [
    ({'status_code': 401, 'json': {}}, 'status 401'),
    ({'status_code': 403, 'json': {'error_message': 'Policy does not allow it.'}},
     'status 403: Policy does not allow it.'),
    ({'status_code': 404, 'json': {'error': 404, 'error_message': 'Nothing is at x.'}},
     'not from Climate, with status 404'),
    ({'status_code': 404, 'text': '<html>'}, 'not from Climate, with status 404'),
    ({'status_code': 503, 'json': {'error_message': 'Later.'}}, 'status 503: Later.'),
    ({'status_code': 200, 'text': 'hello'}, 'not from Climate'),
    ({'status_code': 200, 'json': []}, 'not from Climate'),
    ({'status_code': 200, 'json': {'reservation': None}}, 'not from Climate'),
    ({'status_code': 200, 'json': {'reservation': {'active': True}}}, 'not from Climate'),
    (shown(service_hosts='a'), 'not from Climate'), (shown(reason=['x']), 'not from Climate'),
    ({'status_code': 200, 'text': '[' * 100000}, 'not from Climate'),
    ({'status_code': 500, 'json': ['x']}, 'status 500')], ids=lambda value: str(value)[:80])
def test_an_unusable_answer_counts_as_silence(climate, asker, response, said):
    climate.answers('r1', response)
    with pytest.raises(reservation_client.NoAnswer, match=said):
        asker.ask('r1', 'me')


@pytest.mark.parametrize('error', [
    requests.exceptions.ConnectTimeout, requests.exceptions.ReadTimeout,
    requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError])
def test_a_failed_call_is_logged_once_and_repeated_later(climate, asker, clock, caplog, error):
    climate.is_down(error)
    for _ in range(3):
        with pytest.raises(reservation_client.NoAnswer):
            asker.ask('r1', 'me')
    assert len(climate.asked) == 1
    [record] = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert 'Climate cannot be asked about reservation r1' in record.getMessage()
    clock.now += 2
    climate.shows('r1')
    assert asker.ask('r1', 'me')[0].usable
    assert asker.ask('r1', 'me')[1]


def test_a_silent_keystone_is_no_answer(climate, asker, requests_mock):
    requests_mock.post('http://keystone.example/v3/auth/tokens',
                       exc=requests.exceptions.ConnectionError)
    with pytest.raises(reservation_client.NoAnswer):
        asker.ask('r1', 'me')


def test_a_value_other_than_true_is_false(climate, asker):
    climate.answers('r1', shown(usable='false', active=1))
    answer, _ = asker.ask('r1', 'me')
    assert (answer.active, answer.usable) == (False, False)


def test_options_without_a_login_have_no_adapter(write):
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[str(write({}))])
    options.register(conf)
    assert options.adapter(conf) is None


def test_the_endpoint_can_be_configured(login, write, requests_mock, climate):
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[str(write(
        login | {'endpoint_override': 'http://elsewhere.example/v1', 'timeout': 1}))])
    options.register(conf)
    requests_mock.get('http://elsewhere.example/v1/reservations/r1/hosts', **shown())
    assert reservation_client.ReservationClient(options.adapter(conf), 2).ask('r1', 'me')[0].usable
    assert requests_mock.last_request.timeout == 1


@pytest.mark.parametrize(('said', 'read'), [
    ({}, False), ({'ordinary': True}, True), ({'ordinary': False}, False),
    ({'ordinary': 'true'}, False)], ids=str)
def test_the_field_ordinary_is_false_if_it_is_missing(climate, asker, said, read):
    climate.answers('r1', shown(**said))
    assert asker.ask('r1', 'me')[0].ordinary is read


def test_a_leased_server_has_the_answer_of_its_reservation(climate, asker):
    climate.leases('s1', 'r7', ['a'], ordinary=True)
    answer = asker.ask_server('s1', 'me')
    assert (answer.reservation_id, answer.hosts, answer.ordinary) == ('r7', {'a'}, True)
    assert climate.asked[0].qs == {'project_id': ['me']}


def test_an_answer_about_a_server_is_never_cached(climate, asker):
    climate.leases('s1', 'r7', ['a'])
    for _ in range(3):
        asker.ask_server('s1', 'me')
    assert len(climate.asked) == 3


def test_a_server_without_a_lease_has_no_answer(climate, asker):
    climate.leases_not('s1')
    assert asker.ask_server('s1', 'me') is None


def test_a_failed_call_pauses_calls_about_reservations_and_servers(climate, asker, clock):
    climate.is_down(requests.exceptions.ConnectionError)
    with pytest.raises(reservation_client.NoAnswer):
        asker.ask_server('s1', 'me')
    with pytest.raises(reservation_client.NoAnswer):
        asker.ask('r1', 'me')
    with pytest.raises(reservation_client.NoAnswer):
        asker.ask_server('s1', 'me')
    assert len(climate.asked) == 1
    clock.now += 2
    climate.leases_not('s1')
    assert asker.ask_server('s1', 'me') is None
