# SPDX-License-Identifier: Apache-2.0
"""Sessions of the real cloud, as Climate itself and for users."""
from concurrent import futures
import pathlib

from keystoneauth1 import session as keystone_session
from oslo_config import cfg
import pytest
import requests

from climate import cloud as clouds
from climate import conf as options
from climate import context
from climate import errors
from climate.cloud import call_guard
from climate.cloud import session


def _refuse_login(canned, status):
    canned.http.post(f'{canned.KEYSTONE}/auth/tokens', status_code=status,
                     json={'error': {'code': status, 'message': 'Sorry.'}})


def test_all_services_and_threads_share_one_login(canned):
    canned.http.get(f'{canned.NOVA}/os-services', json={'services': []})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers',
                    json={'resource_providers': [{'uuid': 'u1'}]})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/u1/traits', json={'traits': ['T']})
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': []})
    services = canned.cloud().as_service()
    with futures.ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(services.computes.every)
            pool.submit(services.placement.traits, 'compute-1')
            pool.submit(services.keystone.trusts)
    assert len(canned.asked('GET', '/os-services')) == 8
    assert len(canned.asked('GET', '/traits')) == 8
    assert len(canned.asked('GET', '/OS-TRUST/trusts')) == 8
    assert len(canned.logins) == 1


def test_nova_may_have_a_login_of_its_own(canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', json={'aggregates': []})
    cloud = canned.cloud('[nova]\nauth_type = password\nauth_url = http://keystone/v3\n'
                         'username = other\npassword = secret\nuser_domain_name = Default')
    cloud.as_service().nova.aggregates()
    [login] = canned.logins
    assert login['identity']['password']['user']['name'] == 'other'


def test_a_missing_login_is_reported_with_advice(configured):
    with pytest.raises(errors.CloudError, match=r'\[keystone\] auth_type is not set'):
        clouds.build(configured())


def test_a_refused_login_of_climate_names_its_section(canned):
    _refuse_login(canned, 401)
    with pytest.raises(errors.CloudError, match=r'the login in \[keystone\] is refused') as caught:
        canned.cloud().as_service().nova.aggregates()
    assert caught.value.details['service'] == 'Keystone'


def test_a_user_is_logged_in_by_the_trust_alone_and_once(canned):
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=202)
    cloud = canned.cloud()
    cloud.as_user('t1').servers.shelve('s1')
    cloud.as_user('t1').servers.shelve('s1')
    assert len(canned.asked('POST', '/servers/s1/action')) == 2
    [login] = canned.logins
    assert login['scope'] == {'OS-TRUST:trust': {'id': 't1'}}


@pytest.mark.parametrize('status', [401, 403, 404])
def test_a_trust_that_gives_no_token_is_dead(canned, status):
    _refuse_login(canned, status)
    dead = call_guard.CALLS.labels('Keystone', call_guard.TRUST_DEAD)._value
    before = dead.get()
    with pytest.raises(errors.TrustDead):
        canned.cloud().as_user('t1')
    assert dead.get() == before + 1


def test_a_trust_that_dies_later_is_seen_at_the_next_call(canned):
    services = canned.cloud().as_user('t1')
    _refuse_login(canned, 404)
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=401)
    with pytest.raises(errors.TrustDead):
        services.servers.shelve('s1')


def test_without_a_trust_there_is_no_user(canned):
    with pytest.raises(errors.TrustDead):
        canned.cloud().as_user(None)


def test_a_caller_acts_with_the_token_of_the_request_at_the_endpoints_of_climate(canned):
    canned.http.post(f'{canned.NOVA}/os-server-groups', json={'server_group': {'id': 'g1'}})
    caller = context.RequestContext(auth_token='of-the-caller', overwrite=False)
    assert canned.cloud().as_caller(caller).flavors.create_group('name', 'affinity') == 'g1'
    [call] = canned.asked('POST', '/os-server-groups')
    assert call.headers['X-Auth-Token'] == 'of-the-caller'


def test_a_caller_without_a_token_cannot_act(canned):
    with pytest.raises(errors.TrustRefused, match='carries no token'):
        canned.cloud().as_caller(context.RequestContext(overwrite=False))


def test_keystone_that_does_not_answer_is_unreachable_and_no_dead_trust(canned):
    canned.http.post(f'{canned.KEYSTONE}/auth/tokens', exc=requests.ConnectTimeout)
    with pytest.raises(errors.CloudUnreachable):
        canned.cloud().as_user('t1')


def test_a_read_is_tried_again_when_the_service_is_away(canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', [
        {'status_code': 503}, {'exc': requests.ConnectionError}, {'json': {'aggregates': []}}])
    assert canned.cloud().as_service().nova.aggregates() == []


def test_a_write_is_tried_once(canned):
    canned.http.delete(f'{canned.NOVA}/servers/s1', status_code=503)
    with pytest.raises(errors.CloudUnreachable):
        canned.cloud().as_service().nova.delete_server('s1')
    assert len(canned.asked('DELETE', '/servers/s1')) == 1


def test_an_answer_that_says_no_is_a_cloud_error_with_the_reason(canned):
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=400,
                     json={'badRequest': {'code': 400, 'message': 'It is odd.'}})
    with pytest.raises(errors.CloudError, match='Nova: It is odd'):
        canned.cloud().as_service().servers.shelve('s1')


def test_tls_of_each_service_is_as_its_group_says_and_else_as_that_of_keystone(canned, tmp_path):
    canned.http.get(f'{canned.NOVA}/os-aggregates', json={'aggregates': []})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers',
                    json={'resource_providers': [{'uuid': 'u1'}]})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/u1/traits', json={'traits': []})
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': []})
    ca, certificate, key, other = (str(tmp_path / name) for name in 'abcd')
    for path in (ca, certificate, key, other):
        pathlib.Path(path).touch()
    services = canned.cloud(
        f'cafile = {ca}\ncertfile = {certificate}\nkeyfile = {key}\n'
        f'[nova]\ncafile = {other}\n[placement]\ninsecure = True').as_service()
    services.nova.aggregates()
    services.placement.traits('compute-1')
    services.keystone.trusts()
    [nova] = canned.asked('GET', '/os-aggregates')
    [placement] = canned.asked('GET', '/resource_providers')
    [trusts] = canned.asked('GET', '/OS-TRUST/trusts')
    mine = (certificate, key)
    assert (nova.verify, nova.cert) == (other, mine)
    assert (placement.verify, placement.cert) == (False, mine)
    assert (trusts.verify, trusts.cert) == (ca, mine)


def test_a_password_may_stand_in_a_file_of_its_own(tmp_path, canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', json={'aggregates': []})
    settings, secrets = tmp_path / 'climate.conf', tmp_path / 'climate-secrets'
    settings.write_text('[keystone]\nauth_type = password\nauth_url = http://keystone/v3\n'
                        'username = climate\nuser_domain_name = Default\n')
    secrets.write_text('[keystone]\npassword = from a credential of systemd\n')
    conf = options.register(cfg.ConfigOpts())
    conf(['--config-file', str(settings), '--config-file', str(secrets)], project='climate')
    clouds.build(conf).as_service().nova.aggregates()
    [login] = canned.logins
    assert login['identity']['password']['user']['password'] == 'from a credential of systemd'


def test_a_login_is_made_once_and_costs_nothing_while_its_token_lives(canned):
    cloud = canned.cloud()
    for _ in range(3):
        cloud.log_in()
    assert len(canned.logins) == 1


@pytest.mark.parametrize(('status', 'error'), [
    (401, errors.CloudError), (503, errors.CloudUnreachable)])
def test_a_login_that_fails_says_whether_it_is_refused(canned, status, error):
    _refuse_login(canned, status)
    with pytest.raises(errors.CloudError) as raised:
        canned.cloud().log_in()
    assert type(raised.value) is error
    assert ('the login in [keystone] is refused' in raised.value.message) == (status == 401)


def test_a_login_of_one_service_is_made_too(canned):
    canned.cloud('[nova]\nauth_type = v3password\nauth_url = http://keystone/v3\n'
                 'username = other\npassword = p\nuser_domain_name = Default').log_in()
    assert {each['identity']['password']['user']['name'] for each in canned.logins} == {
        'climate', 'other'}


@pytest.mark.parametrize('body', [{'json': {'add_host': {}}}, {'data': '{ "add_host": {} }'},
                                  {'data': b'{"add_host": {}}'}, {}])
def test_calls_of_one_kind_differ_in_ids_alone(body):
    def kind(path, **more):
        return session.kind_of(requests.Request(
            'POST', f'http://nova/v2.1{path}', **more).prepare())
    assert kind('/os-aggregates/1/action', **body) == kind('/os-aggregates/27/action', **body)
    assert kind('/servers?name=a', **body) == kind('/servers?name=b', **body)
    assert (kind('/os-aggregates/1/action', **body) == kind(
        '/os-aggregates/1/action', json={'remove_host': {}})) is False
    assert (kind('/servers', **body) == kind('/flavors', **body)) is False


@pytest.mark.parametrize(('status', 'fewer'), [
    (429, True), (503, True), (200, False), (409, False)])
def test_a_service_that_is_too_busy_gets_fewer_calls(configured, monkeypatch, status, fewer):
    def send(_self, request, **_more):
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = status, request, request.url
        return answer
    monkeypatch.setattr(keystone_session.TCPKeepAliveAdapter, 'send', send)
    calls = session.Sessions(configured('[keystone]\nauth_type = none')).as_service('nova')
    for _ in range(3):
        calls.get('http://127.0.0.1:1/', authenticated=False, raise_exc=False)
    assert (calls.session.get_adapter('http://').queue.limit.limit < 20) is fewer
