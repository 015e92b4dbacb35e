# SPDX-License-Identifier: Apache-2.0
"""The use cases of maintenance: create or preview, list, show, delete."""
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import blocks
from climate.db import maintenances
from climate.db import resources
from climate.domain import interval
from climate.domain import lease_times
from climate.domain import maintenance_windows
from climate.manager import core as cores
from climate.manager import owner_names
from climate.manager.maintenance import lease_moves
from climate.manager.maintenance import recurrence
from climate.manager.maintenance import windows
from climate.manager.pools import criteria_filter
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

_LONGEST = datetime.timedelta(days=366)


class MaintenanceRequests:
    """The use cases of maintenance for operators."""

    def __init__(self, core):
        self._core = core
        self._leases = lease_moves.LeaseMoves(core)

    def create(self, context, request):
        """Plan a maintenance and return it with the affected leases.

        Future leases are moved if other resources fit; all owners are notified. With `dry_run`,
        nothing is written.

        :param request: a ``maintenance_windows.MaintenanceRequest``.
        :raises BadField: the request names an unknown resource, or its rule cannot be used.
        :raises BadPeriod: the end is not after the start.
        :raises UnknownPool: no pool has that name.
        """
        now = self._core.clock()
        planned = self._planned(context, request, now)
        if request.dry_run:
            return self._with(planned, self._leases.preview(planned, now))
        self._write(planned, now)
        LOG.info('Maintenance %s: %s resources from %s to %s: %s', planned.id,
                 len(planned.resource_ids), planned.start.isoformat(), planned.end.isoformat(),
                 planned.reason)
        affected = self._leases.clear(planned, now)
        windows.keep_free(self._core, planned, now)
        self._core.notify()
        return self._with(planned, affected)

    def _with(self, planned, affected):
        """Return a Maintenance with the leases that it affects, and the names of their owners."""
        with self._core.database.reader() as connection:
            return dataclasses.replace(
                planned, affected=tuple(owner_names.named(connection, affected)))

    def find(self, marker=None, limit=None, most_bytes=None):
        """Return the Maintenances that are not over, by start.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

        :param marker: the id after which to begin; None for the first page.
        :raises MaintenanceNotFound: no maintenance has the id `marker`.
        """
        with self._core.database.reader() as connection:
            after = None if marker is None else maintenances.get(connection, marker)
            return maintenances.find(connection, after, limit, most_bytes)

    def get(self, maintenance_id):
        """Return a Maintenance with the leases that it affects now.

        :raises MaintenanceNotFound: no maintenance has that id, or it is over.
        """
        with self._core.database.reader() as connection:
            planned = maintenances.get(connection, maintenance_id)
        return self._with(planned, self._leases.preview(planned, self._core.clock()))

    @cores.again_after_a_race
    def delete(self, maintenance_id):
        """Delete a maintenance: leases can get its resources again.

        If a window has begun, its resources are soon enabled again in the cloud, and the
        maintenance is listed until then.

        :raises MaintenanceNotFound: no maintenance has that id, or it is over.
        """
        now = self._core.clock()
        with self._core.database.writer() as connection:
            planned = maintenances.get(connection, maintenance_id)
            resources.lock_enrolled(connection, planned.resource_ids)
            planned = maintenances.get(connection, maintenance_id, locked=True)
            blocks.delete(connection, [window.id for window in planned.windows])
            resources.available_again(connection, planned.resource_ids, now)
            maintenances.close(connection, planned)
            maintenances.finish(connection, planned.id)
            wakeups.wake(connection, now)
        self._core.notify()
        LOG.info('Maintenance %s: deleted', maintenance_id)

    def _planned(self, context, request, now):
        """Return the Maintenance that a request describes."""
        span = _span(request, now)
        # The first window is created even if it starts beyond the horizon.
        until = max(now + windows.horizon(self._core.conf), span.start)
        spans, is_last = recurrence.windows(request.rule, span, None, until)
        chosen = self._chosen(request)
        planned = maintenance_windows.Maintenance(
            id=uuidutils.generate_uuid(), pool=request.pool, start=span.start, end=span.end,
            reason=request.reason, running=request.running, notice_minutes=request.notice_minutes,
            rule=request.rule, expanded_to=None if is_last else until, user_id=context.user_id,
            created_at=now, resource_ids=tuple(resource.id for resource in chosen),
            names=tuple(resource.name for resource in chosen))
        return dataclasses.replace(planned, windows=tuple(dataclasses.replace(
            maintenances.new_window(planned.id, window_span), reason=planned.reason)
            for window_span in spans))

    def _chosen(self, request):
        """Return the Resources that a request names, or that meet its criteria, by id."""
        self._core.registry.pool(request.pool)
        with self._core.database.reader() as connection:
            if request.criteria is not None:
                meeting = criteria_filter.matching(self._core, connection, request.pool,
                                                   request.criteria)
                if not meeting:
                    raise errors.BadField(field='criteria', reason=(
                        f'no resource of the pool {request.pool} meets them.'))
                return meeting
            enrolled = {resource.id: resource
                        for resource in resources.find(connection, request.pool)}
        by_name = {resource.name: resource for resource in enrolled.values()}
        by_name = {**{str(key): resource for key, resource in enrolled.items()}, **by_name}
        for name in request.resources:
            if name not in by_name:
                raise errors.BadField(field='resources', reason=(
                    f'the pool {request.pool} has no resource "{name[:80]}": "climate resource '
                    f'list --pool {request.pool}" shows its resources.'))
        return [enrolled[key] for key in sorted({by_name[name].id for name in request.resources})]

    @cores.again_after_a_race
    def _write(self, planned, now):
        with self._core.database.writer() as connection:
            locked = resources.lock_enrolled(connection, planned.resource_ids)
            if len(locked) < len(planned.resource_ids):
                raise errors.BadField(field='resources', reason=(
                    'one of them was withdrawn at the same time; check the list again.'))
            maintenances.add(connection, planned)
            blocks.fill(connection, windows.block_spans(planned, now))
            resources.touch(connection, planned.resource_ids, now)


def _span(request, now):
    """Return the Interval of the first window of a request, from now on at the earliest."""
    lease_times.refuse_past(request.start, now, 'start')
    start = max(request.start, now)
    if request.end <= start:
        raise errors.BadPeriod(start=f'{start:%Y-%m-%d %H:%M:%S}',
                               end=f'{request.end:%Y-%m-%d %H:%M:%S}')
    if request.end - start > _LONGEST:
        raise errors.BadField(field='end', reason=(
            f'a maintenance lasts at most {_LONGEST.days} days; take the resources out of use '
            'instead.'))
    return interval.Interval(start, request.end)
