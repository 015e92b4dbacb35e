# SPDX-License-Identifier: Apache-2.0
"""Move leases off resources under maintenance; running ones swap, stay, or end."""
import dataclasses
import datetime

from oslo_log import log

from climate import context
from climate import errors
from climate.db import health as stored
from climate.db import leases
from climate.db import maintenances
from climate.db import resources
from climate.domain import lifecycle
from climate.domain import maintenance
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.leases import resource_moves
from climate.manager.leases import update

LOG = log.getLogger(__name__)

# The name of the entry in the history, and of the notification.
_EVENT = 'maintenance'


@dataclasses.dataclass(frozen=True)
class _Case:
    """A lease affected by one window, with its resources there."""

    maintenance: maintenance.Maintenance
    window: maintenance.MaintenanceWindow
    lease: records.Lease
    ids: tuple[int, ...]

    def affected(self, what, why=None):
        return maintenance.Affected(self.lease.id, self.lease.project_id, self.window.start,
                                    self.ids, what, why)


class LeaseMoves:
    """Previews the effects of a maintenance on leases, and carries them out. Repeatable."""

    def __init__(self, core):
        self._core = core
        self._moves = resource_moves.ResourceMoves(core)
        self._update = update.Update(core)

    def preview(self, found, now):
        """Return the effects of `clear` as Affected records; nothing is written.

        The preview gives no resource to two leases at the same time.
        """
        affected, given = [], []
        for case in self._cases(found, now):
            if not _is_future(case.lease, now):
                case, mode, _ = _treatment(case, now)
                affected.append(case.affected(mode))
                continue
            taken = {key for span, keys in given if span.overlaps(case.lease.interval)
                     for key in keys}
            try:
                planned = self._moves.plan(case.lease, self._occasion(case, taken), now)
            except (errors.NotEnough, errors.UnknownResourceType) as error:
                affected.append(case.affected(maintenance.STUCK, error.message))
                continue
            given.append((case.lease.interval,
                          {each.resource_id for each in planned or () if each.whole}))
            affected.append(case.affected(maintenance.MOVES))
        return tuple(affected)

    def clear(self, found, now):
        """Move the future leases; let the running ones stay, swap or end; return Affected records.

        Each owner is notified once.
        """
        affected = []
        for case in self._cases(found, now):
            with cores.isolated('Lease %s, affected by maintenance %s', case.lease.id, found.id):
                if _is_future(case.lease, now):
                    moved = self._moves.move(case.lease.id, self._occasion(case), now)
                    if moved is not None:
                        affected.append(case.affected(
                            maintenance.MOVES if moved else maintenance.STUCK))
                elif case.lease.state == lifecycle.ACTIVE:
                    affected.append(self._treat(case, now))
        return tuple(affected)

    def _cases(self, found, now):
        """Return the _Cases of the open windows, ordered by the start of the leases.

        A lease that has resources in several windows counts for the first one.
        """
        windows = [window for window in found.windows if window.end > now]
        if not windows:
            return []
        with self._core.database.reader() as connection:
            rows = maintenances.taken(connection, found.resource_ids, windows[0].start,
                                      windows[-1].end)
            where = {}
            for lease_id, resource_id, start, end in rows:
                first = next((window for window in windows
                              if window.start < end and start < window.end), None)
                if first is not None:
                    where.setdefault(lease_id, {}).setdefault(resource_id, first)
            return [_Case(found, min(ids.values(), key=lambda window: window.start),
                          leases.get(connection, lease_id), tuple(sorted(ids)))
                    for lease_id, ids in where.items()]

    def _occasion(self, case, also_avoid=frozenset()):
        with self._core.database.reader() as connection:
            bad = stored.not_well(connection)
            names = ', '.join(resource.name
                              for resource in resources.with_ids(connection, case.ids))
        when = f'from {case.window.span}: {case.maintenance.reason}'
        return resource_moves.MoveCause(
            frozenset(case.ids), frozenset({*case.maintenance.resource_ids, *bad, *also_avoid}),
            texts.Text(texts.counted(len(case.ids), f'of its resources has maintenance {when}.',
                                     f'of its resources have maintenance {when}.'),
                       f'{names}: maintenance {case.maintenance.id} {when}.'), _EVENT)

    def _treat(self, case, now):
        """Leave a running lease, offer a swap, or end it early; return an Affected."""
        case, mode, end = _treatment(case, now)
        occasion = self._occasion(case)
        if mode == maintenance.ENDS:
            if case.lease.end > end and not self._end(case, end, now):
                return case.affected(mode)
            more = f'The lease ends at {end:%Y-%m-%d %H:%M:%S} UTC.'
        elif mode == maintenance.ASKED:
            more = ('Swap each of them for another one before that: climate lease swap '
                    f'{case.lease.id} RESOURCE.')
        else:
            more = 'The lease keeps them, and its servers may be disturbed.'
        self._moves.notify_owner(case.lease.id, occasion, texts.joined(
            occasion.because, texts.same(more)), now)
        return case.affected(mode)

    def _end(self, case, at, now):
        """Set the end of a lease; return False if Climate is working on the lease now."""
        changes = records.LeaseChanges(end_now=True) if at <= now else records.LeaseChanges(end=at)
        try:
            self._update.update(context.RequestContext.internal(), case.lease.id, changes)
        except errors.ClimateError as error:
            LOG.warning('Lease %s: it cannot be ended for maintenance %s now, try again: %s',
                        case.lease.id, case.maintenance.id, error.message)
            return False
        return True


def _treatment(case, now):
    """Return (the _Case, the effect on its running lease, when it ends early or None).

    A lease that can end only after a window, because of the notice, would end to no purpose: it
    stays, unless a later window affects it, too.
    """
    if case.maintenance.running != maintenance.END:
        return case, {maintenance.LEFT: maintenance.STAYS,
                      maintenance.SWAP: maintenance.ASKED}[case.maintenance.running], None
    earliest = now + datetime.timedelta(minutes=case.maintenance.notice_minutes)
    for window in case.maintenance.windows:
        end = min(max(window.start, earliest), case.lease.end)
        if case.window.start <= window.start < case.lease.end and end < window.end:
            return dataclasses.replace(case, window=window), maintenance.ENDS, end
    return case, maintenance.STAYS, None


def _is_future(lease, now):
    return lease.state == lifecycle.PENDING and lease.start > now
