# SPDX-License-Identifier: Apache-2.0
"""The adapter of Keystone, against canned answers."""
import datetime
import logging

from oslo_utils import timeutils
import pytest

from climate import context
from climate import errors
from climate.cloud import models

EXPIRES_AT = datetime.datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=datetime.UTC)
# Keystone keeps the microseconds, but shows none.
SHOWN_AT = EXPIRES_AT.replace(microsecond=0)
TRUST = {'id': 't1', 'project_id': 'p', 'trustor_user_id': 'u',
         'expires_at': '2031-02-03T04:05:06.000000Z',
         'roles': [{'id': '1', 'name': 'member'}, {'id': '2', 'name': 'reader'}]}


@pytest.fixture
def keystone(canned):
    return canned.cloud().as_service().keystone


@pytest.fixture
def caller():
    return context.RequestContext(user_id='u', project_id='p', roles=['member', 'reader'],
                                  auth_token='token-of-the-caller', overwrite=False)


def test_a_trust_is_made_with_the_callers_token_and_roles(keystone, canned, caller, caplog):
    caplog.set_level(logging.DEBUG)
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=201,
                     json={'trust': TRUST})
    made = keystone.create_trust(caller, EXPIRES_AT)
    assert made == models.Trust(id='t1', project_id='p', trustor_id='u',
                                roles=('member', 'reader'), expires_at=SHOWN_AT)
    [asked] = canned.asked('POST', '/OS-TRUST/trusts')
    assert asked.headers['X-Auth-Token'] == 'token-of-the-caller'
    assert asked.json() == {'trust': {
        'trustor_user_id': 'u', 'trustee_user_id': 'climate-id', 'project_id': 'p',
        'impersonation': True, 'expires_at': '2031-02-03T04:05:06.000789Z',
        'roles': [{'name': 'member'}, {'name': 'reader'}]}}
    assert 'token-of-the-caller' not in caplog.text


def test_a_trust_names_roles_by_id_because_domains_have_roles_of_the_same_name(
        keystone, canned, caller):
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=201,
                     json={'trust': TRUST})
    caller.role_ids = ['r1', 'r2']
    # As the manager gets it over the bus.
    received = context.RequestContext.from_dict(caller.to_dict())
    received.auth_token = caller.auth_token
    keystone.create_trust(received, EXPIRES_AT)
    [asked] = canned.asked('POST', '/OS-TRUST/trusts')
    assert asked.json()['trust']['roles'] == [{'id': 'r1'}, {'id': 'r2'}]


def test_a_trust_is_redelegable_if_that_is_asked_for(keystone, canned, caller):
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=201,
                     json={'trust': TRUST})
    keystone.create_trust(caller, EXPIRES_AT, redelegable=True)
    [asked] = canned.asked('POST', '/OS-TRUST/trusts')
    assert asked.json()['trust']['allow_redelegation'] is True
    assert asked.json()['trust']['redelegation_count'] == 2


@pytest.fixture
def parent(canned):
    def known(**changes):
        canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts/t1', json={'trust': {
            **TRUST, 'trustee_user_id': 'climate-id', 'impersonation': True,
            'redelegation_count': 2, **changes}})
        canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=201,
                         json={'trust': {**TRUST, 'id': 't2'}})
        return canned.cloud().as_user('t1').keystone
    return known


def test_each_trust_that_is_made_from_another_expires_at_another_moment(canned, parent):
    keystone = parent()
    assert [keystone.redelegate().id for _ in range(3)] == ['t2'] * 3
    made = [each.json()['trust'] for each in canned.asked('POST', '/OS-TRUST/trusts')]
    moments = [timeutils.parse_isotime(each.pop('expires_at')) for each in made]
    assert len(set(moments)) == 3
    assert all(EXPIRES_AT - datetime.timedelta(hours=1) <= each < EXPIRES_AT for each in moments)
    assert made == [{
        'trustor_user_id': 'u', 'trustee_user_id': 'climate-id', 'project_id': 'p',
        'impersonation': True, 'allow_redelegation': True, 'redelegation_count': 1,
        'roles': [{'id': '1'}, {'id': '2'}]}] * 3


def test_a_trust_from_one_that_never_expires_never_expires(canned, parent):
    parent(expires_at=None).redelegate()
    [asked] = canned.asked('POST', '/OS-TRUST/trusts')
    assert asked.json()['trust']['expires_at'] is None


def test_another_moment_is_chosen_if_a_trust_from_another_would_expire_with_a_third(
        canned, parent):
    keystone = parent()
    conflict = {'status_code': 409, 'json': {'error': {'code': 409, 'message': 'Duplicate.'}}}
    created = {'status_code': 201, 'json': {'trust': {**TRUST, 'id': 't2'}}}
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', [conflict, conflict, created])
    assert keystone.redelegate().id == 't2'
    made = [each.json()['trust'] for each in canned.asked('POST', '/OS-TRUST/trusts')]
    assert len({each['expires_at'] for each in made}) == 3


@pytest.mark.parametrize('count', [0, 1])
def test_no_trust_is_made_from_one_that_allows_too_few(canned, parent, count):
    with pytest.raises(errors.TrustRefused, match=f'redelegation_count of trust t1 is {count}'):
        parent(redelegation_count=count).redelegate()
    assert canned.asked('POST', '/OS-TRUST/trusts') == []


@pytest.mark.parametrize('status', [403, 404])
def test_a_caller_who_cannot_delegate_gets_the_reason(keystone, canned, caller, status):
    canned.http.post(
        f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=status,
        headers={'Content-Type': 'application/json'},
        json={'error': {'code': status, 'message': 'Delegated tokens cannot manage trusts.'}})
    with pytest.raises(errors.TrustRefused, match='Delegated tokens cannot manage trusts'):
        keystone.create_trust(caller)


def test_a_trust_that_expires_in_the_same_second_as_another_is_a_conflict(
        keystone, canned, caller):
    canned.http.post(
        f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=409,
        headers={'Content-Type': 'application/json'},
        json={'error': {'code': 409, 'message': 'Duplicate entry at trust.'}})
    with pytest.raises(errors.Conflict, match='Duplicate entry at trust'):
        keystone.create_trust(caller, EXPIRES_AT)


def test_a_caller_whose_token_has_expired_is_not_authenticated(keystone, canned, caller):
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=401)
    with pytest.raises(errors.NotAuthenticated):
        keystone.create_trust(caller)
    assert len(canned.asked('POST', '/OS-TRUST/trusts')) == 1


def test_a_caller_without_token_cannot_delegate(keystone):
    with pytest.raises(errors.TrustRefused):
        keystone.create_trust(context.RequestContext(user_id='u', project_id='p',
                                                     overwrite=False))


def test_a_trust_is_deleted_by_climate_itself_and_deleting_can_be_repeated(keystone, canned):
    canned.http.delete(f'{canned.KEYSTONE}/OS-TRUST/trusts/t1', [
        {'status_code': 204}, {'status_code': 404}])
    keystone.delete_trust('t1')
    keystone.delete_trust('t1')
    asked = canned.asked('DELETE', '/OS-TRUST/trusts/t1')
    assert {each.headers['X-Auth-Token'] for each in asked} == {'the-token-of-climate'}


def test_the_trusts_are_those_given_to_climate(keystone, canned):
    listed = {key: value for key, value in TRUST.items() if key != 'roles'}
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': [listed]})
    assert keystone.trusts() == [
        models.Trust(id='t1', project_id='p', trustor_id='u', roles=(),
                     expires_at=SHOWN_AT)]
    [asked] = canned.asked('GET', '/OS-TRUST/trusts')
    assert asked.qs == {'trustee_user_id': ['climate-id']}


def test_a_trust_of_another_service_may_never_expire(keystone, canned):
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': [
        {**TRUST, 'expires_at': None}]})
    assert [each.expires_at for each in keystone.trusts()] == [None]


def test_logs_contain_neither_tokens_nor_the_password_of_climate(canned, caller, caplog):
    for name in (None, 'keystoneauth', 'urllib3'):
        caplog.set_level(logging.DEBUG, logger=name)
    canned.http.post(f'{canned.KEYSTONE}/OS-TRUST/trusts', status_code=201, json={'trust': TRUST})
    canned.http.delete(f'{canned.KEYSTONE}/OS-TRUST/trusts/t1', status_code=204)
    keystone = canned.cloud('password = the-password-of-climate').as_service().keystone
    keystone.create_trust(caller)
    keystone.delete_trust('t1')
    assert canned.logins[0]['identity']['password']['user']['password'] == 'the-password-of-climate'
    said = ' '.join(f'{each.getMessage()} {each.args!r}' for each in caplog.records)
    assert 'OS-TRUST/trusts' in said
    for secret in ('token-of-the-caller', 'the-token-of-climate', 'the-password-of-climate'):
        assert secret not in said


ROLES = '/role_assignments'


LISTED = {'role_assignments': [
    {'role': {'id': 'r'}, 'user': {'id': 'u'}, 'scope': {'project': {'id': 'p'}}}]}
PARTS = {'user': ('users/u', {'domain_id': 'd1'}), 'project': ('projects/p', {'domain_id': 'd2'}),
         'domain of the user': ('domains/d1', {}), 'domain of the project': ('domains/d2', {})}


@pytest.fixture
def known(canned):
    """Lets Keystone know a user and a project, one of which may be disabled."""
    def known(disabled=None):
        for part, (path, fields) in PARTS.items():
            canned.http.get(f'{canned.KEYSTONE}/{path}', json={path.partition('s/')[0]: {
                **fields, 'enabled': part != disabled}})
    return known


@pytest.mark.parametrize('disabled', PARTS)
@pytest.mark.parametrize('roles', [LISTED, {'role_assignments': []}])
def test_a_disabled_user_or_project_has_no_role_although_keystone_lists_it(
        keystone, canned, known, disabled, roles):
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', json=roles)
    known(disabled)
    assert keystone.has_role('u', 'p') is False


def test_a_user_has_a_role_if_keystone_lists_an_effective_one(keystone, canned, known):
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', json=LISTED)
    known()
    assert keystone.has_role('u', 'p') is True
    [asked] = canned.asked('GET', ROLES)
    # Without "effective" the roles of groups and those that are inherited would be missing.
    assert asked.qs == {'user.id': ['u'], 'scope.project.id': ['p'], 'effective': ['true']}


def test_a_project_is_found_by_its_id_or_else_by_its_name(keystone, canned):
    canned.http.get(f'{canned.KEYSTONE}/projects/p%2F1', json={'project': {
        'id': 'p/1', 'name': 'one', 'enabled': True}})
    canned.http.get(f'{canned.KEYSTONE}/projects/lab', status_code=404)
    canned.http.get(f'{canned.KEYSTONE}/projects?name=lab', json={'projects': [
        {'id': 'p2', 'name': 'lab', 'enabled': True}, {'id': 'p3', 'name': 'lab'}]})
    canned.http.get(f'{canned.KEYSTONE}/projects/none', status_code=404)
    canned.http.get(f'{canned.KEYSTONE}/projects?name=none', json={'projects': []})
    assert keystone.identities('project', 'p/1') == [models.KeystoneIdentity('p/1', 'one', True)]
    assert [each.id for each in keystone.identities('project', 'lab')] == ['p2', 'p3']
    assert keystone.identities('project', 'none') == []


@pytest.mark.parametrize('disabled', ['user', 'domain of the user'])
def test_a_disabled_user_is_found_as_disabled(keystone, canned, known, disabled):
    canned.http.get(f'{canned.KEYSTONE}/users/u', json={'user': {
        'id': 'u', 'name': 'ann', 'domain_id': 'd1', 'enabled': disabled != 'user'}})
    canned.http.get(f'{canned.KEYSTONE}/domains/d1', json={'domain': {
        'enabled': disabled == 'user'}})
    [identity] = keystone.identities('user', 'u')
    assert not identity.enabled


@pytest.mark.parametrize(('answer', 'expected'), [
    ({'json': {'user': {'id': 'u/1', 'name': 'ann'}}}, False),
    ({'json': {'user': {'id': 'u/1', 'federated': []}}}, False),
    ({'json': {'user': {'id': 'u/1', 'federated': [{'idp_id': 'uni'}]}}}, None),
    ({'status_code': 404}, False)])
def test_a_user_of_an_identity_provider_without_a_listed_role_may_have_one(
        keystone, canned, answer, expected):
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', json={'role_assignments': []})
    canned.http.get(f'{canned.KEYSTONE}/users/u%2F1', **answer)
    canned.http.get(f'{canned.KEYSTONE}/projects/p', json={'project': {'id': 'p'}})
    assert keystone.has_role('u/1', 'p') is expected


def test_a_deleted_user_has_no_role(keystone, canned):
    # Keystone 30 looks for the user before it looks for roles.
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', status_code=404)
    assert keystone.has_role('u', 'p') is False


def test_a_keystone_that_refuses_to_tell_roles_is_an_error(keystone, canned):
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', status_code=403)
    with pytest.raises(errors.CloudError):
        keystone.has_role('u', 'p')


@pytest.mark.parametrize('path', [path for path, _ in PARTS.values()])
def test_a_keystone_that_refuses_to_show_a_user_a_project_or_a_domain_is_an_error(
        keystone, canned, known, path):
    canned.http.get(f'{canned.KEYSTONE}{ROLES}', json=LISTED)
    known()
    canned.http.get(f'{canned.KEYSTONE}/{path}', status_code=403)
    with pytest.raises(errors.CloudError):
        keystone.has_role('u', 'p')


def _trusts(canned, *rows):
    """Have Keystone show trusts (id, trustee, parent's id); a trustee of None: it is hidden."""
    for trust_id, trustee_id, parent_id in rows:
        shown = {'json': {'trust': {**TRUST, 'id': trust_id, 'trustee_user_id': trustee_id,
                                    'redelegated_trust_id': parent_id}}}
        canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts/{trust_id}',
                        **(shown if trustee_id else {'status_code': 403, 'json': {
                            'error': {'code': 403, 'message': 'No.'}}}))


@pytest.mark.parametrize(('trust', 'rows', 'expected'), [
    (('t1', 'climate-id'), (), True),
    (('t2', 'heat'), (('t2', 'heat', 't1'), ('t1', 'climate-id', None)), True),
    (('t3', 'heat'), (('t3', 'heat', 't2'), ('t2', 'climate-id', 't1')), True),
    (('t2', 'heat'), (('t2', 'heat', None),), False),
    (('t2', 'heat'), (('t2', 'heat', 't1'), ('t1', 'eve', None)), False),
    (('t2', 'heat'), (('t2', None, None),), False),
    (('t2', 'heat'), (('t2', 'heat', 't1'), ('t1', None, None)), False),
    (('t2', None), (('t2', 'heat', None),), False)])
def test_a_trust_is_from_climate_if_climate_acts_by_it_or_by_one_before_it(
        keystone, canned, trust, rows, expected):
    _trusts(canned, *rows)
    assert keystone.is_from_climate(*trust) is expected


def test_the_roles_of_a_trust_are_those_that_keystone_shows_and_none_if_it_is_gone(
        keystone, canned):
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts/t1', json={'trust': {
        **TRUST, 'roles': [{'id': '1', 'name': 'member'}, {'id': '2', 'name': 'admin'}]}})
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts/t2', status_code=404)
    assert keystone.roles_of_trust('t1') == {'member', 'admin'}
    assert keystone.roles_of_trust('t2') == frozenset()


def test_a_trust_that_is_gone_is_not_from_climate(keystone, canned):
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts/t2', status_code=404)
    assert not keystone.is_from_climate('t2', 'heat')


def test_a_cycle_of_trusts_is_read_three_times_at_most(keystone, canned):
    _trusts(canned, ('t1', 'heat', 't2'), ('t2', 'heat', 't1'))
    assert not keystone.is_from_climate('t1', 'heat')
    assert len(canned.asked('GET', '/OS-TRUST/trusts/')) <= 3
