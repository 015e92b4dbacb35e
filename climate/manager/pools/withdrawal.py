# SPDX-License-Identifier: Apache-2.0
"""The withdrawal of a resource from its pool, so that the cloud may use it without leases."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import resources
from climate.manager import core as cores
from climate.manager.energy import sleep_states
from climate.manager.health import blocking
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class Withdrawals:
    """The use cases of DELETE /v1/resources/{pool}/{id}."""

    def __init__(self, core):
        self._core = core
        self._sleep_states = sleep_states.SleepStates(core)

    def withdraw(self, pool, resource_id):
        """Withdraw a resource, so that the cloud may use it again without leases.

        :raises ResourceInUse: a current or future lease has it, or it is in use in the cloud.
        """
        source, now = self._core.registry.pool(pool), self._core.clock()
        resource = self._withdrawable(pool, resource_id, now)
        # From now on it gets no new allocations, so nobody books it during the withdrawal.
        self._close(resource, now)
        try:
            source.dismiss(self._core.cloud, resource)
        except errors.ClimateError:
            self._undo_withdrawal(source, resource, now)
            raise
        try:
            self._write_withdrawal(resource, now)
        except errors.ResourceInUse:
            # During the withdrawal, it was made reservable again and a lease got it.
            self._undo_withdrawal(source, dataclasses.replace(resource, reservable=True), now)
            raise
        LOG.info('Resource %s (%s %s): withdrawn', resource_id, pool, resource.name)

    def preview(self, pool, resource_id):
        """Refuse a withdrawal as `withdraw` would; change nothing."""
        source = self._core.registry.pool(pool)
        source.check_dismissal(self._core.cloud, self._withdrawable(
            pool, resource_id, self._core.clock()))

    def _withdrawable(self, pool, resource_id, now):
        """Return a Resource that is not leased and does not sleep.

        :raises ResourceInUse: a current or future lease has it, or it sleeps.
        """
        with self._core.database.reader() as connection:
            resource = resources.get(connection, pool, resource_id)
            self._refuse_allocated(connection, resource, now)
        if self._sleep_states.asleep([resource_id]):
            raise errors.ResourceInUse(pool=pool, resource=resource.name, reason=(
                'it sleeps. Wake it first.'))
        return resource

    @cores.again_after_a_race
    def _close(self, resource, now):
        with self._core.database.writer() as connection:
            resources.lock(connection, [resource.id])
            self._refuse_allocated(connection, resource, now)
            resources.change(connection, resource.id, now, reservable=False)

    @cores.again_after_a_race
    def _write_withdrawal(self, resource, now):
        with self._core.database.writer() as connection:
            # This write locks the resource before its allocations are read.
            resources.withdraw(connection, resource.id, now)
            blocking.clear(connection, [resource.id])
            self._refuse_allocated(connection, resource, now)

    def _undo_withdrawal(self, source, resource, now):
        """Make a resource reservable again; leave it out of use if the pool cannot repair it."""
        try:
            source.mend(self._core.cloud, resource)
        except errors.ClimateError as error:
            LOG.warning('Resource %s (%s %s): half withdrawn, so it stays out of use; withdraw it '
                        'again: %s', resource.id, resource.pool, resource.name, error.message)
            return
        self._set_reservable(resource, now)
        self._core.notify()

    @cores.again_after_a_race
    def _set_reservable(self, resource, now):
        with self._core.database.writer() as connection:
            resources.change(connection, resource.id, now, reservable=resource.reservable)
            wakeups.wake(connection, now)

    @staticmethod
    def _refuse_allocated(connection, resource, now):
        if resource.held_by is not None or allocations.requests_on(connection, resource.id, now):
            raise errors.ResourceInUse(pool=resource.pool, resource=resource.name, reason=(
                'leases have it, now or later. Withdraw it when they are over.'))
