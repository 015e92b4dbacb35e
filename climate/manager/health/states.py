# SPDX-License-Identifier: Apache-2.0
"""Changes of the health of one resource, each in one transaction."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import absences
from climate.db import health as stored
from climate.db import maintenances
from climate.db import resources
from climate.db import swap_reports
from climate.domain import health
from climate.domain import utilisation
from climate.manager import core as cores
from climate.manager.health import blocking
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class States:
    """Reads and writes the health of resources."""

    def __init__(self, core):
        self._core = core

    def described(self, plain, now):
        """Return Resources with their verdicts and open maintenance windows."""
        ids = [resource.id for resource in plain]
        if not ids:
            return []
        with self._core.database.reader() as connection:
            healths = stored.find(connection, ids)
            windows = maintenances.of_resources(connection, ids)
        return [dataclasses.replace(resource, verdict=healths[resource.id].verdict(now),
                                    maintenances=windows.get(resource.id, ()))
                for resource in plain]

    @cores.again_after_a_race
    def change(self, resource, transition, now):
        """Write the health of a Resource.

        :param transition: a function that returns the new Health from the present one.
        """
        with self._core.database.writer() as connection:
            if not resources.lock_enrolled(connection, [resource.id]):
                raise errors.ResourceNotFound(pool=resource.pool, resource=resource.id)
            _change_locked(connection, self._core.conf, resource.id, transition, now)


def set_out_of_order(connection, conf, resource_id, reason, now):
    """Mark a locked resource as out of service, or as healthy again.

    :param reason: why it is out of service; '' if it is healthy. In that case, its quarantine ends,
        and the reports about it are deleted.
    """
    def transition(before):
        if not reason:
            return dataclasses.replace(
                before, out_of_order=None, out_of_order_since=None, quarantined_until=None,
                quarantined_since=None, quarantine_reason=None)
        return dataclasses.replace(before, out_of_order=reason, out_of_order_since=(
            now if before.out_of_order is None else before.out_of_order_since))
    _change_locked(connection, conf, resource_id, transition, now)
    if not reason:
        swap_reports.forget(connection, resource_id)


def _change_locked(connection, conf, resource_id, transition, now):
    # Read it again, because another manager may have changed it before the lock.
    [resource] = resources.with_ids(connection, [resource_id])
    before = stored.find(connection, [resource_id])[resource_id]
    after = transition(before)
    if after != before or after.verdict(now).state != resource.health_state:
        write(connection, conf, resource, after, now)


def write(connection, conf, resource, after, now):
    """Store the Health of a locked Resource; block the resource, or remove its block."""
    before = resource.health_state
    stored.put(connection, after, now)
    verdict = after.verdict(now)
    if verdict.state != health.WELL:
        if before == health.WELL:
            absences.begin(connection, resource.id, utilisation.SICK, now)
            blocking.fill(connection, conf, resource.id, now)
    elif before != health.WELL:
        absences.end(connection, resource.id, utilisation.SICK, now)
        blocking.clear(connection, [resource.id])
        # The wait queue treats it like a newly enrolled resource.
        resources.change(connection, resource.id, now, available_since=now)
        wakeups.wake(connection, now)
    if verdict.state != before:
        log_it = LOG.info if verdict.state == health.WELL else LOG.warning
        log_it('Resource %s (%s %s): %s, now %s%s', resource.id, resource.pool, resource.name,
               before, verdict.state, f': {verdict.reason}' if verdict.reason else '')
