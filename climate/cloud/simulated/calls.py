# SPDX-License-Identifier: Apache-2.0
"""A call of the simulated cloud: its fault points, its delay and its transaction."""
import time

from climate import errors


class Calls:
    """The calls under one identity.

    :ivar trust_id: the trust of the user who calls; None: Climate itself, an administrator.
    :param settle: callable(connection) that completes the changes that are due.
    """

    def __init__(self, store, points, turns, delay_seconds, settle, trust_id=None):
        """Prepare calls under one identity.

        :param turns: {adapter name: its guard.Turns}.
        """
        self.trust_id = trust_id
        self._turns = turns
        self._settle = settle
        self._store = store
        self._points = points
        self._delay_seconds = delay_seconds

    def make(self, name, work, admin=True):
        """Make a call and return what `work` returns.

        :param name: the adapter and the action, such as 'nova.add_host'; fault points use it.
        :param work: callable(connection, project_id) that runs in a transaction; project_id is
            that of the user who calls, None for an administrator.
        :param admin: whether only an administrator may make this call.
        """
        with self._turns[name.partition('.')[0]]:
            return self._make(name, work, admin)

    def _make(self, name, work, admin):
        self._points.reach(name, 'before')
        try:
            if self._delay_seconds:
                time.sleep(self._delay_seconds)
            self._points.refuse(name)
            with self._store.transaction() as connection:
                self._settle(connection)
                project_id = self._project(connection)
                if admin and project_id is not None:
                    raise errors.CloudError(service=name.partition('.')[0].capitalize(), reason=(
                        f'policy allows {name} to administrators only.'))
                return work(connection, project_id)
        finally:
            self._points.reach(name, 'after')

    def _project(self, connection):
        if self.trust_id is None:
            return None
        trust = connection.execute(
            'SELECT project_id FROM trusts WHERE id = ?', (self.trust_id,)).fetchone()
        if trust is None:
            raise errors.TrustDead(service='Keystone',
                                   reason=f'trust {self.trust_id} could not be found.')
        return trust['project_id']
