# SPDX-License-Identifier: Apache-2.0
"""Keystone of the simulated cloud."""
import datetime
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models


class Keystone(base.Keystone):
    """Keystone under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls

    def login(self):
        """Request a token for this identity.

        :raises TrustDead: the trust is gone.
        """
        self._calls.make('keystone.login', lambda connection, project_id: None, admin=False)

    def create_trust(self, context, expires_at=None, redelegable=False):
        if not context.user_id or not context.project_id:
            raise errors.TrustRefused(reason='the request names no user and project.')
        trust = models.Trust(id=uuid.uuid4().hex, project_id=context.project_id,
                             trustor_id=context.user_id, roles=tuple(context.roles),
                             expires_at=expires_at)

        def work(connection, project_id):
            connection.execute(
                'INSERT INTO trusts (id, project_id, trustor_id, roles, expires_at, redelegable) '
                'VALUES (?, ?, ?, ?, ?, ?)', (
                    trust.id, trust.project_id, trust.trustor_id, json.dumps(trust.roles),
                    None if expires_at is None else expires_at.isoformat(), redelegable))
            return trust

        return self._calls.make('keystone.create_trust', work)

    def delete_trust(self, trust_id):
        self._calls.make('keystone.delete_trust', lambda connection, project_id: (
            connection.execute('DELETE FROM trusts WHERE id = ?', (trust_id,))))

    def trusts(self):
        return self._calls.make('keystone.trusts', lambda connection, project_id: [
            models.Trust(id=row['id'], project_id=row['project_id'],
                         trustor_id=row['trustor_id'], roles=(),
                         expires_at=None if row['expires_at'] is None else (
                             datetime.datetime.fromisoformat(row['expires_at'])))
            for row in connection.execute('SELECT * FROM trusts ORDER BY rowid')])
