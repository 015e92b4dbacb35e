# SPDX-License-Identifier: Apache-2.0
"""A manager that does not answer, a database that is gone, and how /healthcheck tells it."""
import pytest
from support import builders
import webtest

from climate import errors
from climate.api import app
from climate.manager import endpoint
from climate.rpc import client


class LateBus:
    """A bus on which some calls are carried out, but their answers never come."""

    def __init__(self, core, late):
        self._manager = endpoint.InProcess(endpoint.Endpoint(core))
        self._late = late

    def call(self, context, method, timeout=None, **arguments):
        answer = self._manager.call(context, method, timeout, **arguments)
        if method in self._late:
            raise errors.ManagerSilent(seconds=timeout or 60, where='it in a moment')
        return answer


class BrokenBus:
    """A bus on which every call fails in one way."""

    def __init__(self, error):
        self._error = error

    def call(self, context, method, timeout=None, **arguments):
        raise self._error


@pytest.fixture
def service(conf):
    """Builds the REST service over a bus."""
    def build(bus):
        return webtest.TestApp(
            app.build(conf, client.ManagerClient(bus), builders.manager_plugins(conf)),
            extra_environ={'HTTP_X_AUTH_TOKEN': builders.DEMO})
    return build


@pytest.mark.parametrize(('version', 'body'), [
    ('1.0', {'name': 'x', 'start_date': 'now', 'end_date': '2030-05-01 13:00'}),
    ('1.1', {'name': 'x', 'duration': '1h'})])
def test_a_lease_whose_answer_is_late_is_found_where_the_answer_says(service, manager, version,
                                                                     body):
    api = service(LateBus(manager.core, {'create_lease'}))
    headers = {'OpenStack-API-Version': f'reservation {version}'}
    answer = api.post_json('/v1/leases', body, headers=headers, status=504)
    assert answer.content_type == 'application/json'
    place = answer.headers['Location']
    assert place in answer.json['error_message']
    assert answer.json['error_name'] == (504 if version == '1.0' else 'manager_silent')
    [lease] = api.get('/v1/leases').json['leases']
    assert place == f'http://localhost/v1/leases/{lease["id"]}'
    assert api.get(place).json['lease']['name'] == 'x'


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_other_calls_without_an_answer_are_told_so(service, version):
    api = service(BrokenBus(errors.ManagerSilent(seconds=60, where='it in a moment')))
    headers = {'OpenStack-API-Version': f'reservation {version}'}
    for answer in (api.get('/v1/leases', headers=headers, status=504),
                   api.get('/v1/leases/7', headers=headers, status=504),
                   api.put_json('/v1/leases/7', {}, headers=headers, status=504),
                   api.delete('/v1/leases/7', headers=headers, status=504)):
        assert 'did not answer within 60 seconds' in answer.json['error_message']


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_change_without_an_answer_says_where_to_look(service, manager, version):
    lease = manager.book(builders.records.ReservationRequest('virtual:dummy', {}))
    api = service(LateBus(manager.core, {'update_lease', 'delete_lease', 'create_resource'}))
    headers = {'OpenStack-API-Version': f'reservation {version}'}
    place = f'/v1/leases/{lease.id}'
    answers = [api.put_json(place, {'name': 'another'}, headers=headers, status=504),
               api.delete(place, headers=headers, status=504)]
    assert [each.headers['Location'] for each in answers] == [f'http://localhost{place}'] * 2
    made = api.post_json('/v1/os-hosts', {'name': 'compute-1'}, status=504,
                         headers={**headers, 'X-Auth-Token': builders.ADMIN})
    assert made.headers['Location'] == 'http://localhost/v1/os-hosts'


@pytest.mark.parametrize('version', ['1.0', '1.1'])
@pytest.mark.parametrize('error', [errors.DatabaseUnreachable, errors.Overloaded])
def test_a_temporary_failure_has_retry_after(service, version, error):
    api = service(BrokenBus(error(retry_after=5)))
    headers = {'OpenStack-API-Version': f'reservation {version}'}
    for answer in (api.get('/v1/leases', headers=headers, status=503),
                   api.post_json('/v1/leases', builders.a_body(), headers=headers,
                                 status=(400, 503))):
        if answer.status_int == 503:
            assert answer.headers['Retry-After'] == '5'
            assert 'again in 5 seconds' in answer.json['error_message']


def test_a_database_that_is_gone_is_told_with_the_time_to_come_back(api, database, tmp_path):
    if database.dialect != 'sqlite':
        pytest.skip('Only the file of SQLite can be taken away here.')
    database.dispose()
    tmp_path.rename(f'{tmp_path}-gone')
    for version in ('1.0', '1.1'):
        answer = api.get('/v1/leases', version=version)
        assert answer.status_int == 503
        assert answer.headers['Retry-After'] == '5'
    answer = api.get('/healthcheck', token=None)
    assert (answer.status_int, answer.text) == (503, 'the manager does not reach the database')


def test_an_unexpected_error_is_hidden_from_the_caller(service):
    api = service(BrokenBus(RuntimeError('a secret of Climate')))
    old = api.get('/v1/leases', status=500)
    new = api.get('/v1/leases', status=500,
                  headers={'OpenStack-API-Version': 'reservation 1.1'})
    assert old.json['error_name'] == 'INTERNAL_SERVER_ERROR'
    assert new.json['error_name'] == 'internal_error'
    assert b'secret' not in old.body + new.body


def test_a_service_in_health_says_so_without_a_token(service, manager):
    api = service(LateBus(manager.core, ()))
    answer = webtest.TestApp(api.app).get('/healthcheck')
    assert (answer.status_int, answer.text) == (200, 'OK')


@pytest.mark.parametrize(('error', 'told'), [
    (errors.ManagerSilent(seconds=5, where='it'), 'no manager answers'),
    (errors.DatabaseUnreachable(retry_after=5), 'the manager does not reach the database'),
    (errors.CloudError(service='Keystone', reason='http://inner/v3: 401'),
     'the manager may not use Keystone; its log says why'),
    (errors.ManagerNotReady(), 'not ready yet'),
    (errors.Overloaded(retry_after=5), 'busy')])
def test_a_service_that_is_ill_says_what_is_missing(service, error, told):
    answer = service(BrokenBus(error)).get('/healthcheck', status=503)
    assert told in answer.text
    assert 'http' not in answer.text
