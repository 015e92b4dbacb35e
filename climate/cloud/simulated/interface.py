# SPDX-License-Identifier: Apache-2.0
"""The calls of the simulated cloud: their fault points, their delay and their transactions."""
from concurrent import futures
import dataclasses
import time
import typing

from climate import errors
from climate.cloud import base
from climate.cloud import call_guard


@dataclasses.dataclass(frozen=True)
class SimulatedConnection:
    """The connection to the simulated cloud under one identity.

    :ivar store: the StateStore; access to it without `call` bypasses the guard.
    :ivar faults: the FaultPoints.
    :ivar queues: {adapter name: its CallQueue}.
    :ivar pool: the executor of concurrent calls; None: they are made one after the other.
    :ivar lifecycle: the Lifecycle of the servers.
    :ivar trust_id: the trust of the user who calls; None: without a `project_id` Climate itself,
        an administrator.
    :ivar project_id: the project of a caller who calls with a token of their own.
    """

    store: typing.Any
    faults: typing.Any
    queues: dict
    pool: futures.Executor | None
    lifecycle: typing.Any
    trust_id: str | None = None
    project_id: str | None = None
    login_group: typing.ClassVar[str] = 'keystone'

    def call(self, name, work, admin=True):
        """Make a call and return what `work` returns.

        :param name: the adapter and the action, such as 'nova.add_host'; fault points use it.
        :param work: callable(connection, project_id) that runs in a transaction; project_id is
            that of the user who calls, None for an administrator.
        :param admin: whether only an administrator may make this call.
        """
        with self.queues[name.partition('.')[0]]:
            self.faults.reach(name, 'before')
            try:
                return self._call(name, work, admin)
            finally:
                self.faults.reach(name, 'after')

    def _call(self, name, work, admin):
        if self.lifecycle.options.delay_seconds:
            time.sleep(self.lifecycle.options.delay_seconds)
        self.faults.refuse(name)
        with self.store.transaction() as connection:
            # Waiting for the lock may have taken longer than a claim lasts. A real service carries
            # out a call within that time.
            call_guard.check()
            self.lifecycle.settle(connection)
            project_id = self._project(connection)
            if admin and project_id is not None:
                raise errors.CloudError(service=name.partition('.')[0].capitalize(), reason=(
                    f'policy allows {name} to administrators only.'))
            return work(connection, project_id)

    def _project(self, connection):
        if self.trust_id is None:
            return self.project_id
        trust = connection.execute(
            'SELECT project_id FROM trusts WHERE id = ?', (self.trust_id,)).fetchone()
        if trust is None:
            raise errors.TrustDead(service='Keystone',
                                   reason=f'trust {self.trust_id} could not be found.')
        return trust['project_id']


class SimulatedInterface(base.ServiceInterface):
    """The base class of the simulated interfaces, under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._cloud = connection
        self._lifecycle = connection.lifecycle

    def _settle(self, connection):
        """Complete the changes of the service that are due."""

    def _admin_call(self, action, work):
        """Make a call that only an administrator may make.

        :param work: callable(connection).
        """
        return self._call(action, lambda connection, _project_id: work(connection), admin=True)

    def _call(self, action, work, admin=False):
        """Make a call on settled tables: see `SimulatedConnection.call`."""
        def settled(connection, project_id):
            self._settle(connection)
            return work(connection, project_id)
        return self._cloud.call(f'{self.service.lower()}.{action}', settled, admin)
