# SPDX-License-Identifier: Apache-2.0
"""Keystone of the simulated cloud."""
import dataclasses
import datetime
import json
import secrets
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import interface

_REDELEGATIONS = 2
_MICROSECONDS = 3_600_000_000


class SimulatedKeystone(interface.SimulatedInterface, base.Keystone):
    """Keystone under one identity."""

    def login(self):
        """Request a token for this identity.

        :raises TrustDead: the trust is gone.
        """
        self._call('login', lambda connection, project_id: None)

    def create_trust(self, context, expires_at=None, redelegable=False):
        if not context.user_id or not context.project_id:
            raise errors.TrustRefused(reason='the request names no user and project.')
        trust = models.Trust(id=uuid.uuid4().hex, project_id=context.project_id,
                             trustor_id=context.user_id, roles=tuple(context.roles),
                             expires_at=expires_at)

        def work(connection):
            _add(connection, trust, _REDELEGATIONS if redelegable else 0)
            return trust
        return self._admin_call('create_trust', work)

    def redelegate(self):
        def work(connection, _project_id):
            row = connection.execute(
                'SELECT * FROM trusts WHERE id = ?', (self.trust_id,)).fetchone()
            left = row['redelegation_count'] - 1
            if left < 1:
                raise errors.TrustRefused(reason='redelegation is not allowed.')
            trust = dataclasses.replace(
                _trust(row), id=uuid.uuid4().hex, roles=tuple(json.loads(row['roles'])))
            if trust.expires_at is not None:
                trust = dataclasses.replace(trust, expires_at=trust.expires_at - (
                    datetime.timedelta(microseconds=1 + secrets.randbelow(_MICROSECONDS))))
            _add(connection, trust, left, parent_id=self.trust_id)
            return trust
        return self._call('redelegate', work)

    def own_token(self):
        return 'token-of-climate'

    def delete_trust(self, trust_id):
        self._admin_call('delete_trust', lambda connection: connection.execute(
            'DELETE FROM trusts WHERE ? IN (id, parent_id)', (trust_id,)))

    def trusts(self):
        return self._admin_call('trusts', lambda connection: [
            _trust(row) for row in connection.execute('SELECT * FROM trusts ORDER BY rowid')])

    def roles_of_trust(self, trust_id):
        return self._admin_call('roles_of_trust', lambda connection: frozenset(
            role for row in connection.execute('SELECT roles FROM trusts WHERE id = ?', (trust_id,))
            for role in json.loads(row['roles'])))

    def is_from_climate(self, trust_id, trustee_id):
        return self._admin_call('is_from_climate', lambda connection: connection.execute(
            'SELECT 1 FROM trusts WHERE id = ?', (trust_id,)).fetchone() is not None)

    def has_role(self, user_id, project_id):
        return self._admin_call('has_role', lambda connection: connection.execute(
            "SELECT 1 FROM departures WHERE user_id = ? AND project_id IN (?, '') "
            "OR user_id = '' AND project_id = ?",
            (user_id, project_id, project_id)).fetchone() is None)

    def identities(self, kind, name_or_id):
        # Every user and project exists until it departs; its name is its id.
        column, other = ('user_id', 'project_id') if kind == 'user' else ('project_id', 'user_id')
        return self._admin_call('identities', lambda connection: [] if connection.execute(
            f"SELECT 1 FROM departures WHERE {column} = ? AND {other} = ''",
            (name_or_id,)).fetchone() else [models.KeystoneIdentity(name_or_id, name_or_id, True)])

    def project_limits(self, project_id):
        # The rows of a project replace the registered defaults, which have no project.
        return self._admin_call('project_limits', lambda connection: {
            row['name']: row['most'] for row in connection.execute(
                "SELECT * FROM unified_limits WHERE project_id IN ('', ?) ORDER BY project_id",
                (project_id,))})


def _add(connection, trust, redelegation_count, parent_id=None):
    connection.execute(
        'INSERT INTO trusts (id, project_id, trustor_id, roles, expires_at, redelegation_count, '
        'parent_id) VALUES (?, ?, ?, ?, ?, ?, ?)', (
            trust.id, trust.project_id, trust.trustor_id, json.dumps(trust.roles),
            None if trust.expires_at is None else trust.expires_at.isoformat(),
            redelegation_count, parent_id))


def _trust(row):
    return models.Trust(id=row['id'], project_id=row['project_id'],
                        trustor_id=row['trustor_id'], roles=(),
                        # Keystone shows whole seconds.
                        expires_at=None if row['expires_at'] is None else (
                            datetime.datetime.fromisoformat(row['expires_at']).replace(
                                microsecond=0)))


class SimulatedKeystoneAdapter(base.KeystoneAdapter):
    """Keystone of the simulated cloud."""

    interfaces = {'keystone': SimulatedKeystone}
