# SPDX-License-Identifier: Apache-2.0
"""Probes of services: which of them answer, and a message that says what to mend."""
import pytest
import requests
from support import thinning

from climate import errors
from climate.cloud import call_guard
from climate.cloud import probes

ALL = ['cinder', 'glance', 'heat', 'keystone', 'magnum', 'neutron', 'nova', 'placement']


@pytest.fixture
def answering(canned):
    """The canned cloud; all its services answer what they are asked."""
    canned.http.get(f'{canned.NOVA}/os-services', json={'services': []})
    canned.http.get(f'{canned.PLACEMENT}/resource_classes', json={'resource_classes': []})
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': []})
    canned.http.get(f'{canned.GLANCE}/images', json={'images': []})
    canned.http.get(f'{canned.NEUTRON}/quotas/climate-status/details', json={
        'quota': {'floatingip': {'limit': 50, 'used': 0, 'reserved': 0}}})
    canned.http.get(f'{canned.CINDER}/scheduler-stats/get_pools', json={'pools': []})
    canned.http.get(f'{canned.HEAT}/stacks', json={'stacks': []})
    canned.http.get(f'{canned.MAGNUM}/clusters', json={'clusters': []})
    return canned


def problems(cloud):
    """{service: what is wrong with it} of those that do not answer."""
    return {each.name: each.problem for each in probes.ask(cloud) if each.problem is not None}


def test_services_that_answer_are_named_in_order(answering):
    assert [(each.name, each.problem) for each in probes.ask(answering.cloud())] == [
        (name, None) for name in ALL]


def test_the_simulated_services_answer(simulate):
    assert problems(simulate()) == {}


def test_a_wrong_password_is_reported_once(answering):
    answering.http.post(f'{answering.KEYSTONE}/auth/tokens', status_code=401)
    found = problems(answering.cloud())
    assert 'the login in [keystone] is refused' in found.pop('keystone')
    assert found == dict.fromkeys([name for name in ALL if name != 'keystone'], (
        'it cannot be called, because Keystone issues no token.'))


def test_a_wrong_password_of_one_service_names_its_group(answering):
    def refuse_other(request, context):
        context.status_code = 401
        return {'error': {'code': 401, 'message': 'Sorry.'}}
    answering.http.post(f'{answering.KEYSTONE}/auth/tokens', json=refuse_other,
                        additional_matcher=lambda request: 'other' in request.text)
    answering.http.post(f'{answering.KEYSTONE}/auth/tokens', json=answering._token,
                        status_code=201, headers={'X-Subject-Token': 't'},
                        additional_matcher=lambda request: 'other' not in request.text)
    cloud = answering.cloud('[nova]\nauth_type = password\nauth_url = http://keystone/v3\n'
                            'username = other\npassword = wrong\nuser_domain_name = Default')
    found = problems(cloud)
    assert list(found) == ['nova']
    assert 'the login in [nova] is refused' in found['nova']
    assert found['nova'].endswith('Correct the user, the password and the project there.')


def test_a_service_without_an_endpoint_is_not_in_the_catalog(answering):
    found = problems(answering.cloud('[glance]\nregion_name = Elsewhere'))
    assert list(found) == ['glance']
    assert 'not in the service catalog' in found['glance']
    assert 'in Elsewhere region' in found['glance']
    assert found['glance'].endswith(
        'Correct [glance] region_name, [DEFAULT] region_name or [glance] valid_interfaces, or '
        'create the endpoint.')


@pytest.mark.parametrize('silence, words', [
    (requests.ConnectTimeout, 'timed out'), (requests.ReadTimeout, 'timed out'),
    (requests.ConnectionError(
        "HTTPConnectionPool(host='placement', port=80): Max retries exceeded (Caused by "
        'NewConnectionError("x: [Errno 111] Connection refused"))'), ': Connection refused')])
def test_a_service_that_is_silent_cannot_be_reached(answering, silence, words):
    answering.http.get(f'{answering.PLACEMENT}/resource_classes', exc=silence)
    [found] = [each for each in probes.ask(answering.cloud()) if each.problem is not None]
    assert found.name == 'placement'
    assert found.problem.startswith('Placement is not available: ')
    assert found.problem.endswith(words)
    assert found.may_pass


def test_no_other_service_is_called_while_keystone_is_silent(answering):
    answering.http.post(f'{answering.KEYSTONE}/auth/tokens', exc=requests.ConnectTimeout)
    found = probes.ask(answering.cloud())
    assert all(each.may_pass for each in found)
    assert ['timed out' in each.problem for each in found] == [
        each.name == 'keystone' for each in found]
    assert len(answering.asked('POST', '/auth/tokens')) == 3


def test_a_service_that_forbids_the_call_is_reported_with_its_reason(answering):
    answering.http.get(f'{answering.NOVA}/os-services', status_code=403, json={
        'forbidden': {'code': 403, 'message': 'Policy does not allow it.'}})
    [found] = [each for each in probes.ask(answering.cloud()) if each.problem is not None]
    assert found.problem == (
        'Nova: Policy does not allow it. (HTTP 403) Give the user of [nova], or else of '
        '[keystone], the role that the policy of this service asks for, by default admin.')
    assert not found.may_pass


# Answers of other services, proxies and web servers at the wrong address.
@pytest.mark.parametrize('answer', thinning.few([
    {'json': {'hello': 'world'}}, {'json': ['hello']}, {'text': '<html>'},
    {'status_code': 404, 'text': '<html>'},
    {'status_code': 404, 'json': {'errors': [{'status': 404, 'title': 'Not Found'}]}},
    {'status_code': 404, 'json': {'error': {'code': 404, 'message': 'Not found'}}},
    {'status_code': 404, 'json': {'error_code': 404, 'error_message': 'Nothing is there.'}},
    {'status_code': 404, 'json': {'message': 'Not found', 'code': '404', 'title': 'Not Found'}},
    {'status_code': 404, 'json': ['Not found']}, {'status_code': 404, 'json': None}], 3), ids=str)
@pytest.mark.parametrize('name', ALL)
def test_an_endpoint_of_something_else_is_recognized(answering, name, answer):
    path = {'nova': 'os-services', 'placement': 'resource_classes', 'keystone': 'OS-TRUST/trusts',
            'glance': 'images', 'neutron': 'quotas/climate-status/details',
            'cinder': 'scheduler-stats/get_pools', 'heat': 'stacks', 'magnum': 'clusters'}[name]
    answering.http.get(f'{getattr(answering, name.upper())}/{path}', **answer)
    found = problems(answering.cloud())
    assert list(found) == [name]
    assert f'Is the endpoint in [{name}], or in the service catalog, the right one?' in found[name]


def test_a_check_succeeds_where_all_services_answer(answering):
    answering.cloud().check()


def test_a_check_names_each_service_that_refuses_before_those_that_are_down(answering):
    answering.http.get(f'{answering.GLANCE}/images', status_code=403)
    answering.http.get(f'{answering.KEYSTONE}/OS-TRUST/trusts', status_code=403)
    answering.http.get(f'{answering.PLACEMENT}/resource_classes', status_code=503)
    with pytest.raises(errors.CloudError) as found:
        answering.cloud().check()
    assert not isinstance(found.value, errors.CloudUnreachable)
    assert found.value.kwargs['service'] == 'Glance, Keystone'
    assert '[glance] Glance: ' in found.value.message
    assert '[keystone] Keystone: ' in found.value.message


def test_a_check_says_that_services_are_down(answering):
    answering.http.get(f'{answering.PLACEMENT}/resource_classes', status_code=503)
    with pytest.raises(errors.CloudUnreachable, match=r'\[placement\] Placement is not available'):
        answering.cloud().check()


def test_a_check_refuses_a_wrong_region(answering):
    with pytest.raises(errors.CloudError, match='in Elsewhere region not found') as found:
        answering.cloud('[DEFAULT]\nregion_name = Elsewhere').check()
    assert found.value.kwargs['service'] == ', '.join(name.capitalize() for name in ALL)


def test_a_check_takes_no_longer_than_its_caller_waits(answering):
    left = []

    def answer(_request, _context):
        left.append(call_guard.seconds_left())
        return {'resource_classes': []}
    answering.http.get(f'{answering.PLACEMENT}/resource_classes', json=answer)
    with call_guard.answered_within(20):
        answering.cloud().check()
    assert left and all(seconds <= 20 for seconds in left)
