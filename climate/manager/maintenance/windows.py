# SPDX-License-Identifier: Apache-2.0
"""Carry out maintenance windows: close the resources in the cloud, and reopen them afterwards.

Each step is stored before it is carried out and can be repeated, so another manager can continue
after a crash at any point. A manager claims a window, and makes no call after the claim expired.
"""
import contextlib
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.db import absences
from climate.db import blocks
from climate.db import engine
from climate.db import maintenances
from climate.db import resources
from climate.domain import maintenance_windows
from climate.domain import utilisation
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager.maintenance import lease_moves
from climate.manager.maintenance import recurrence
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# A claim lasts [manager] claim_seconds, plus this time for each resource of the window.
_SECONDS_EACH = 2
# A rule is expanded again when the horizon has advanced by this time.
_STEP = datetime.timedelta(days=1)


class Windows:
    """Carries out all maintenances periodically.

    :param owner: the id of this manager, for its claims.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._leases = lease_moves.LeaseMoves(core)

    def carry_on(self, now):
        """Expand rules, move affected leases, and begin or end due windows; return their ids."""
        with self._core.database.reader() as connection:
            unfinished = maintenances.find(connection)
            due = maintenances.to_do(connection, now) if unfinished else []
        for planned in unfinished:
            if not planned.closing:
                self._prepare(planned, now)
        for window, over in due:
            with cores.isolated('Window %s of maintenance %s', window.id, window.maintenance_id):
                try:
                    self._carry_out(window, over, now)
                except ownership.ClaimLost:
                    LOG.debug('Another manager carries out the window %s', window.id)
        return [window.id for window, _ in due]

    def _prepare(self, planned, now):
        """Expand the rule of a Maintenance, and keep leases off its windows."""
        # If this fails, the present windows are still prepared.
        with cores.isolated('The rule of maintenance %s', planned.id):
            planned = self._expand(planned, now)
        with cores.isolated('The leases affected by maintenance %s', planned.id):
            self._leases.clear(planned, now)
        with cores.isolated('The windows of maintenance %s', planned.id):
            keep_free(self._core, planned, now)

    def _expand(self, planned, now):
        """Add the windows of a rule up to the horizon; return the changed Maintenance."""
        until = now + horizon(self._core.conf)
        if planned.expanded_to is None or until - planned.expanded_to < _STEP:
            return planned
        try:
            return self._write_windows(planned, until)
        except engine.Duplicate:
            return planned

    @cores.again_after_a_race
    def _write_windows(self, planned, until):
        with self._core.database.writer() as connection:
            current = maintenances.get(connection, planned.id, locked=True)
            spans, is_last = recurrence.windows(
                current.rule, current.span, current.expanded_to, until)
            maintenances.expand(connection, current, [
                maintenances.new_window(current.id, span) for span in spans],
                None if is_last else until)
            return maintenances.get(connection, planned.id)

    def _carry_out(self, window, over, now):
        """Close the resources of a Window that has begun, or reopen those of one that is over."""
        with self._core.database.reader() as connection:
            ids = maintenances.resource_ids(connection, window.maintenance_id)
            # Resources that were withdrawn meanwhile are reopened, too.
            find = resources.ever_enrolled if over else resources.enrolled
            affected = find(connection, ids)
        if window.state == maintenance_windows.PLANNED and over:
            # No manager ran during the window, so nothing is closed.
            self._finish(self._claim(window, maintenance_windows.PLANNED, now, 0)[0], now)
            return
        state = maintenance_windows.OPENING if over else maintenance_windows.CLOSING
        window, owned = self._claim(window, state, now, len(affected))
        if not self._switch(window, affected, owned, over):
            # Release the claim, so that the next pass tries again.
            with self._core.database.writer() as connection:
                maintenances.record(connection, window, state)
        elif over:
            self._finish(window, now)
        else:
            self._begin(window, affected, now)
            LOG.info('Maintenance %s: %s resources are closed until %s', window.maintenance_id,
                     len(affected), window.end.isoformat())

    def _claim(self, window, state, now, count):
        """Claim a Window in a new state; return (the Window, the Ownership)."""
        seconds = self._core.conf.manager.claim_seconds + _SECONDS_EACH * count
        began = self._core.monotonic()
        with self._core.database.writer() as connection:
            claimed = maintenances.claim(connection, window, state, self._owner,
                                         now + datetime.timedelta(seconds=seconds))
        return claimed, ownership.Ownership(self._core.monotonic, began, seconds)

    def _switch(self, window, affected, owned, over):
        """Close or reopen each Resource in the cloud; return whether all calls succeeded."""
        succeeded = 0
        with call_guard.before_each_call(owned.check):
            for resource in affected:
                with cores.isolated(f'Maintenance %s: {"reopening" if over else "closing"} %s %s',
                                    window.maintenance_id, resource.pool, resource.name):
                    pool = self._core.registry.pool(resource.pool)
                    with contextlib.suppress(errors.ResourceNotFound):
                        if not over:
                            pool.close(self._core.cloud, resource, maintenance_windows.mark(window))
                        for reason in maintenance_windows.marks(window) if over else ():
                            pool.reopen(self._core.cloud, resource, reason)
                    succeeded += 1
        return succeeded == len(affected)

    def _begin(self, window, affected, now):
        with self._core.database.writer() as connection:
            maintenances.record(connection, window, maintenance_windows.RUNNING)
            for resource in affected:
                absences.begin(connection, resource.id, utilisation.MAINTAINED, now)

    def _finish(self, window, now):
        with self._core.database.writer() as connection:
            maintenances.record(connection, window, maintenance_windows.DONE)
            # Another window may need a resource closed that this window has just reopened.
            maintenances.close_again(connection, window, now)
            for resource_id in maintenances.resource_ids(connection, window.maintenance_id):
                absences.end(connection, resource_id, utilisation.MAINTAINED, now)
            blocks.delete(connection, [window.id])
            wakeups.wake(connection, now)
            maintenances.finish(connection, window.maintenance_id)
        self._core.notify()
        LOG.info('Maintenance %s: the window until %s is over', window.maintenance_id,
                 window.end.isoformat())


def horizon(conf):
    """Return how far ahead windows are created, as a timedelta."""
    return datetime.timedelta(days=conf.health.recurring_days)


def keep_free(core, planned, now):
    """Block the resources of a Maintenance during its windows, except while leases have them."""
    spans = block_spans(planned, now)
    with core.database.reader() as connection:
        incomplete = {window_id for window_id, _ in blocks.incomplete(connection, spans)}
    if incomplete:
        _fill(core, planned,
              {key: span for key, span in spans.items() if key[0] in incomplete}, now)


@cores.again_after_a_race
def _fill(core, planned, spans, now):
    with core.database.writer() as connection:
        resources.lock_enrolled(connection, planned.resource_ids)
        current = maintenances.get(connection, planned.id, locked=True)
        if not current.closing:
            blocks.fill(connection, spans)
            resources.touch(connection, planned.resource_ids, now)


def block_spans(planned, now):
    """Return {(window id, resource id): the Interval to keep free of new leases}."""
    return {(window.id, key): dataclasses.replace(window.span, start=max(window.start, now))
            for window in planned.windows for key in planned.resource_ids
            if window.end > now and window.state != maintenance_windows.OPENING}
