# SPDX-License-Identifier: Apache-2.0
"""Keystone: the trusts that users give to Climate, and their roles in projects."""
import datetime
import importlib
import secrets
from urllib import parse

from keystoneauth1 import exceptions as keystone_errors
from oslo_utils import timeutils
import tenacity

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

_TRUSTS = '/OS-TRUST/trusts'
_MOMENT = '%Y-%m-%dT%H:%M:%S.%fZ'
# One for the trust that Climate makes from it, and one for the trust of a service from that one.
_REDELEGATIONS = 2
_EARLIER = datetime.timedelta(hours=1)
# How often a trust is tried; a random moment of another trust is one of 3,600 seconds.
_MOMENTS = 3


class RealKeystone(base.Keystone):
    """Keystone under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._session = connection.session
        self._adapter = connection.rest(version='3')

    def create_trust(self, context, expires_at=None, redelegable=False):
        if not context.auth_token:
            raise errors.TrustRefused(reason='the request carries no token.')
        # By id: a member may not look up names, and roles of domains may have the same name.
        roles = [{'id': role_id} for role_id in context.role_ids] or [
            {'name': name} for name in context.roles]
        fields = {
            'trustor_user_id': context.user_id, 'trustee_user_id': self._session.get_user_id(),
            'project_id': context.project_id, 'impersonation': True,
            'expires_at': None if expires_at is None else expires_at.strftime(_MOMENT),
            'roles': roles,
        }
        if redelegable:
            fields |= {'allow_redelegation': True, 'redelegation_count': _REDELEGATIONS}
        try:
            # The caller's token creates the trust, not that of Climate.
            answer = self._adapter.post(
                _TRUSTS, json={'trust': fields}, authenticated=False,
                headers={'X-Auth-Token': context.auth_token})
        except (keystone_errors.Forbidden, keystone_errors.NotFound,
                keystone_errors.BadRequest) as error:
            # Keystone answers 404 if the caller does not hold one of the roles.
            raise errors.TrustRefused(reason=f'{error.message}') from error
        except keystone_errors.Conflict as error:
            raise errors.Conflict(reason=f'{error.message}') from error
        except keystone_errors.Unauthorized as error:
            raise errors.NotAuthenticated() from error
        return _trust(answer.json()['trust'])

    def redelegate(self):
        parent = self._show(self.trust_id)
        left = parent['redelegation_count'] - 1
        if left < 1:
            raise errors.TrustRefused(reason=(
                f'redelegation_count of trust {self.trust_id} is {left + 1}, not '
                f'{_REDELEGATIONS}.'))
        # The token of a trust has the trustor as its user.
        fields = {name: parent[name] for name in (
            'trustor_user_id', 'trustee_user_id', 'project_id', 'impersonation')}
        fields |= {'allow_redelegation': True, 'redelegation_count': left,
                   'roles': [{'id': role['id']} for role in parent['roles']]}
        with faults.replaced((keystone_errors.Forbidden, keystone_errors.BadRequest),
                             lambda error: errors.TrustRefused(reason=f'{error.message}')):
            answer = self._post_before(fields, parent['expires_at'])
        return _trust(answer.json()['trust'])

    # Another trust of the user in the project may expire in the same second.
    @tenacity.retry(retry=tenacity.retry_if_exception_type(keystone_errors.Conflict),
                    stop=tenacity.stop_after_attempt(_MOMENTS), reraise=True)
    def _post_before(self, fields, expires_at):
        """Create a trust that expires a little before a moment; return the answer of Keystone."""
        return self._adapter.post(_TRUSTS, json={'trust': {
            **fields, 'expires_at': _a_little_before(expires_at)}})

    def own_token(self):
        return self._session.get_token()

    def delete_trust(self, trust_id):
        with faults.ignored_if_absent():
            self._adapter.delete(f'{_TRUSTS}/{trust_id}')

    def trusts(self):
        answer = self._adapter.get(
            _TRUSTS, params={'trustee_user_id': self._session.get_user_id()})
        return [_trust(shown) for shown in answer.json()['trusts']]

    def roles_of_trust(self, trust_id):
        try:
            return frozenset(_trust(self._show(trust_id)).roles)
        except keystone_errors.NotFound:
            return frozenset()

    def is_from_climate(self, trust_id, trustee_id):
        own_id = self._session.get_user_id()
        # Some policies hide the trusts of others; Climate may read its own.
        with faults.replaced((keystone_errors.Forbidden, keystone_errors.NotFound),
                             lambda error: None):
            for _ in range(_REDELEGATIONS + 1):
                if trustee_id == own_id:
                    return True
                if trust_id is None:
                    return False
                trust = self._show(trust_id)
                trust_id, trustee_id = trust.get('redelegated_trust_id'), trust['trustee_user_id']
        return False

    def has_role(self, user_id, project_id):
        try:
            assignments = self._adapter.get('/role_assignments', params={
                'user.id': user_id, 'scope.project.id': project_id, 'effective': 'true'})
            user = self._read('user', user_id)
            # Keystone also lists the roles of disabled users, but gives them no token.
            if not (self._is_enabled(user) and self._is_enabled(self._read('project', project_id))):
                return False
        except keystone_errors.NotFound:
            # A deleted user has no roles in Keystone, and a deleted project neither.
            return False
        if assignments.json()['role_assignments']:
            return True
        # Keystone lists no roles that an identity provider gives by its groups.
        return None if user.get('federated') else False

    def identities(self, kind, name_or_id):
        try:
            shown = [self._read(kind, name_or_id)]
        except keystone_errors.NotFound:
            shown = self._adapter.get(f'/{kind}s', params={'name': name_or_id}).json()[f'{kind}s']
        return [models.KeystoneIdentity(each['id'], each['name'], self._is_enabled(each))
                for each in shown]

    def project_limits(self, project_id):
        # The import takes a second, so it waits until unified limits are used.
        return importlib.import_module('climate.cloud.unified_limits').of_project(project_id)

    def _show(self, trust_id):
        return self._adapter.get(f'{_TRUSTS}/{trust_id}').json()['trust']

    def _is_enabled(self, shown):
        """Return whether a user or a project, and its domain, are enabled."""
        domain_id = shown.get('domain_id')
        return shown.get('enabled', True) and (
            domain_id is None or self._read('domain', domain_id).get('enabled', True))

    def _read(self, kind, object_id):
        """Return the user, project or domain of that id, as Keystone shows it."""
        return self._adapter.get(f'/{kind}s/{parse.quote(object_id, safe="")}').json()[kind]


def _a_little_before(expires_at):
    """Return a moment before another, at which no other trust expires; None, never, stays None."""
    if expires_at is None:
        return None
    earlier = datetime.timedelta(
        microseconds=1 + secrets.randbelow(_EARLIER // datetime.timedelta(microseconds=1)))
    return (timeutils.parse_isotime(expires_at) - earlier).strftime(_MOMENT)


def _trust(shown):
    expires_at = shown.get('expires_at')
    return models.Trust(
        id=shown['id'], project_id=shown['project_id'], trustor_id=shown['trustor_user_id'],
        roles=tuple(role['name'] for role in shown.get('roles', ())),
        expires_at=None if expires_at is None else timeutils.parse_isotime(expires_at))


class RealKeystoneAdapter(base.KeystoneAdapter):
    """Keystone, by its REST API."""

    interfaces = {'keystone': RealKeystone}
