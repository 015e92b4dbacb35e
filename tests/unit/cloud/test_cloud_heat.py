# SPDX-License-Identifier: Apache-2.0
"""The adapter of Heat, against canned answers."""
import logging

import pytest

from climate import context
from climate import errors
from climate.cloud import models

THEIRS = 'http://heat/v1/p'
SPEC = {'name': 'one', 'template': {'heat_template_version': '2021-04-16'}}
ID = '0c9f7f3e-2b0e-4b0a-8a53-1f6c2e0b9d11'
STACK = models.Stack(ID, 'one', 'CREATE', 'COMPLETE')


@pytest.fixture
def stacks(canned):
    return canned.cloud().as_service().stacks


@pytest.fixture
def caller():
    return context.RequestContext(user_id='u', project_id='p', roles=['member'],
                                  auth_token='token-of-the-caller', overwrite=False)


def shown(status='CREATE_COMPLETE', reason='', project='p'):
    return {'stack': {'id': ID, 'stack_name': 'one', 'stack_status': status,
                      'stack_status_reason': reason, 'links': [
                          {'href': f'http://heat/v1/{project}/stacks/one/{ID}', 'rel': 'self'}]}}


def refused(status, text):
    return {'status_code': status, 'headers': {'Content-Type': 'application/json'},
            'json': {'code': status, 'error': {'message': text, 'type': 'X'}}}


def test_a_preview_is_made_in_the_callers_project_with_the_callers_token(
        stacks, canned, caller, caplog):
    caplog.set_level(logging.DEBUG)
    server = {'resource_name': 'vm', 'resource_type': 'OS::Nova::Server',
              'properties': {'flavor': 'm1.small'}}
    nested = {'resource_name': '0', 'resource_type': 'OS::Nova::Server', 'properties': None}
    canned.http.post(f'{THEIRS}/stacks/preview', json={'stack': {
        'parameters': {'OS::stack_id': 'None', 'size': 'm1.small'},
        'resources': [server, [nested, [nested]]]}})
    found = stacks.preview({**SPEC, 'parameters': {'size': 'm1.small'}}, caller)
    assert found.parameters == {'size': 'm1.small'}
    assert [each.name for each in found.parts] == ['vm', '0', '0']
    assert found.parts[0] == models.StackPart('vm', 'OS::Nova::Server', {'flavor': 'm1.small'})
    [asked] = canned.asked('POST', '/stacks/preview')
    assert asked.headers['X-Auth-Token'] == 'token-of-the-caller'
    assert asked.json() == {
        'stack_name': 'one', 'template': SPEC['template'], 'parameters': {'size': 'm1.small'},
        'environment': {}, 'files': {}, 'disable_rollback': True}
    assert 'token-of-the-caller' not in caplog.text and 'm1.small' not in caplog.text


@pytest.mark.parametrize('status', [400, 403, 404])
def test_the_message_of_heat_about_a_template_is_passed_on(stacks, canned, caller, status):
    canned.http.post(f'{THEIRS}/stacks/preview', **refused(status, 'The Flavor ID could\n not be'))
    with pytest.raises(errors.BadRequest, match='The Flavor ID could not be'):
        stacks.preview(SPEC, caller)


def test_a_caller_whose_token_has_expired_is_not_authenticated(stacks, canned, caller):
    canned.http.post(f'{THEIRS}/stacks/preview', status_code=401)
    with pytest.raises(errors.NotAuthenticated):
        stacks.preview(SPEC, caller)


def test_a_stack_is_created_on_behalf_of_its_owner(canned):
    canned.http.post(f'{canned.HEAT}/stacks', json={'stack': {'id': ID}}, status_code=201)
    created = canned.cloud().as_user('trust').stacks.create(
        {**SPEC, 'tags': ['reservation:r'], 'timeout_minutes': 60})
    assert created == ID
    [asked] = canned.asked('POST', '/stacks')
    assert (asked.json()['tags'], asked.json()['timeout_mins']) == ('reservation:r', 60)
    assert canned.logins[-1]['scope'] == {'OS-TRUST:trust': {'id': 'trust'}}


def test_a_name_that_is_taken_is_a_conflict_and_a_refusal_says_why(canned):
    stacks = canned.cloud().as_user('trust').stacks
    canned.http.post(f'{canned.HEAT}/stacks', **refused(409, 'The Stack (one) already exists.'))
    with pytest.raises(errors.Conflict, match='already exists'):
        stacks.create(SPEC)
    canned.http.post(f'{canned.HEAT}/stacks', **refused(
        403, 'You have reached the maximum stacks per tenant.'))
    with pytest.raises(errors.CloudError) as found:
        stacks.create(SPEC)
    assert 'maximum stacks' in found.value.owner_message


def test_a_stack_is_found_in_the_project_of_its_owner_through_a_redirect(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks/{ID}', status_code=302,
                    headers={'Location': f'{THEIRS}/stacks/one/{ID}'})
    canned.http.get(f'{THEIRS}/stacks/one/{ID}', json=shown('SUSPEND_FAILED', 'why'))
    found = stacks.find('p', ID)
    assert found == models.Stack(ID, 'one', 'SUSPEND', 'FAILED', 'why')
    assert found.status == 'SUSPEND_FAILED'


def test_a_name_is_looked_up_in_a_list_because_heat_looks_in_the_project_of_the_token(
        stacks, canned):
    theirs = [{**shown(status)['stack'], 'stack_name': name} for name, status in (
        ('one more', 'CREATE_COMPLETE'), ('one', 'CREATE_FAILED'))]
    canned.http.get(f'{THEIRS}/stacks', json={'stacks': theirs})
    assert stacks.find('p', 'one') == models.Stack(ID, 'one', 'CREATE', 'FAILED')
    assert stacks.find('p', 'two') is None
    assert canned.asked('GET', '/stacks')[0].qs == {'name': ['one']}


def test_the_stack_of_another_project_is_none_although_heat_redirects_an_administrator_to_it(
        stacks, canned):
    others = 'http://heat/v1/others'
    canned.http.get(f'{THEIRS}/stacks/{ID}', status_code=302,
                    headers={'Location': f'{others}/stacks/one/{ID}'})
    canned.http.get(f'{others}/stacks/one/{ID}', json=shown(project='others'))
    assert stacks.find('p', ID) is None
    canned.http.get(f'{THEIRS}/stacks/{ID}', json=shown())
    assert stacks.find('p', ID) == STACK


def test_the_stack_of_that_name_of_another_project_is_passed_over(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks', json={'stacks': [
        {**shown('DELETE_FAILED', project='others')['stack'], 'id': 'other'},
        shown()['stack']]})
    assert stacks.find('p', 'one') == STACK


def test_a_deleted_stack_that_heat_still_shows_is_gone(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks/{ID}', json=shown('DELETE_COMPLETE'))
    assert stacks.find('p', ID) is None
    canned.http.get(f'{THEIRS}/stacks/{ID}', **refused(404, 'not found'))
    assert stacks.find('p', ID) is None


def test_a_stack_in_progress_has_its_own_progress(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks/{ID}', json=shown('DELETE_IN_PROGRESS'))
    found = stacks.find('p', ID)
    assert (found.action, found.progress) == ('DELETE', 'IN_PROGRESS')


def test_actions_go_to_the_stack_by_its_name_and_id(stacks, canned):
    canned.http.post(f'{THEIRS}/stacks/one/{ID}/actions', status_code=200)
    stacks.suspend('p', STACK)
    stacks.resume('p', STACK)
    assert [each.json() for each in canned.asked('POST', '/actions')] == [
        {'suspend': None}, {'resume': None}]
    canned.http.delete(f'{THEIRS}/stacks/one/{ID}', [
        {'status_code': 204}, {'status_code': 404}])
    stacks.delete('p', STACK)
    stacks.delete('p', STACK)
    assert len(canned.asked('DELETE', f'/stacks/one/{ID}')) == 2


def test_the_parts_of_a_stack_say_why_they_failed(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks/one/{ID}/resources', json={'resources': [{
        'resource_name': 'vm', 'resource_type': 'OS::Nova::Server',
        'resource_status': 'DELETE_FAILED', 'resource_status_reason': 'locked'}]})
    assert stacks.parts('p', STACK) == [
        models.StackPart('vm', 'OS::Nova::Server', status='DELETE_FAILED', reason='locked')]


def test_an_endpoint_without_a_project_is_named(canned):
    stacks = canned.cloud('[heat]\nendpoint_override = http://heat/somewhere').as_service().stacks
    with pytest.raises(errors.CloudError, match='http://heat/somewhere'):
        stacks.find('p', 'one')


def test_a_silent_heat_is_unreachable(stacks, canned):
    canned.http.get(f'{THEIRS}/stacks', status_code=503)
    with pytest.raises(errors.CloudUnreachable):
        stacks.find('p', 'one')
