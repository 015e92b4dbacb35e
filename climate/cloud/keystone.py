# SPDX-License-Identifier: Apache-2.0
"""Keystone: the trusts that users give to Climate."""
from keystoneauth1 import exceptions as keystone_errors
from keystoneauth1 import loading

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

_TRUSTS = '/OS-TRUST/trusts'


class Keystone(base.Keystone):
    """Keystone under one identity."""

    def __init__(self, conf, session, trust_id=None):
        self.trust_id = trust_id
        options = conf.keystone
        version = None if options.min_version or options.max_version else options.version or '3'
        self._session = session
        self._adapter = loading.load_adapter_from_conf_options(
            conf, 'keystone', session=session, version=version,
            region_name=options.region_name or conf.region_name)

    @faults.translated
    def create_trust(self, context):
        if not context.auth_token:
            raise errors.TrustRefused(reason='the request carries no token.')
        # Ids, for a member may not look names up; roles can be named.
        wanted = {
            'trustor_user_id': context.user_id, 'trustee_user_id': self._session.get_user_id(),
            'project_id': context.project_id, 'impersonation': True, 'expires_at': None,
            'roles': [{'name': name} for name in context.roles],
        }
        try:
            # With the caller's own token, not with that of Climate.
            answer = self._adapter.post(
                _TRUSTS, json={'trust': wanted}, authenticated=False,
                headers={'X-Auth-Token': context.auth_token})
        except (keystone_errors.Forbidden, keystone_errors.NotFound,
                keystone_errors.BadRequest) as error:
            # 404: a role that the caller does not hold.
            raise errors.TrustRefused(reason=f'{error.message}') from error
        except keystone_errors.Unauthorized as error:
            raise errors.NotAuthenticated() from error
        return _trust(answer.json()['trust'])

    @faults.translated
    def delete_trust(self, trust_id):
        try:
            self._adapter.delete(f'{_TRUSTS}/{trust_id}')
        except keystone_errors.NotFound as error:
            if faults.is_login(error):
                raise

    @faults.read
    def trusts(self):
        answer = self._adapter.get(
            _TRUSTS, params={'trustee_user_id': self._session.get_user_id()})
        return [_trust(found) for found in answer.json()['trusts']]


def _trust(found):
    return models.Trust(
        id=found['id'], project_id=found['project_id'], trustor_id=found['trustor_user_id'],
        roles=tuple(role['name'] for role in found.get('roles', ())))
