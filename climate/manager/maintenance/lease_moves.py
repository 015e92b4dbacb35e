# SPDX-License-Identifier: Apache-2.0
"""Move future leases off resources under maintenance; let running leases stay, swap or end."""
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
from climate.domain import maintenance_windows
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.leases import resource_moves
from climate.manager.leases import update

LOG = log.getLogger(__name__)

# The name of the history entry and of the notification.
_EVENT = 'maintenance'


@dataclasses.dataclass(frozen=True)
class _Case:
    """A lease affected by one window, with its resources there."""

    maintenance: maintenance_windows.Maintenance
    window: maintenance_windows.MaintenanceWindow
    lease: records.Lease
    ids: tuple[int, ...]

    def affected(self, effect, reason=None):
        return maintenance_windows.Affected(
            self.lease.id, self.lease.project_id, self.window.start, self.ids, effect, reason,
            self.lease.name, self.lease.user_id)


class LeaseMoves:
    """Previews the effects of a maintenance on leases, and carries them out once for each lease."""

    def __init__(self, core):
        self._core = core
        self._moves = resource_moves.ResourceMoves(core)
        self._update = update.Update(core)

    def preview(self, planned, now):
        """Return the effects of `clear` as Affected records; nothing is written.

        The preview gives no resource to two leases at the same time.
        """
        affected, moves = [], []
        for case in self._cases(planned, now):
            if not _is_future(case.lease, now):
                case, effect, _ = _treatment(case, now)
                affected.append(case.affected(effect))
                continue
            taken = {key for span, keys in moves if span.overlaps(case.lease.interval)
                     for key in keys}
            try:
                allocations = self._moves.plan(case.lease, self._cause(case, taken), now)
            except (errors.NotEnough, errors.UnknownResourceType) as error:
                affected.append(case.affected(maintenance_windows.STUCK, error.message))
                continue
            moves.append((case.lease.interval, {
                allocation.resource_id for allocation in allocations or () if allocation.whole}))
            affected.append(case.affected(maintenance_windows.MOVES))
        return tuple(affected)

    def clear(self, planned, now):
        """Move the future leases; let running leases stay, swap or end; return Affected records.

        Each owner is notified once.
        """
        affected = []
        for case in self._cases(planned, now):
            with cores.isolated('Lease %s, affected by maintenance %s', case.lease.id, planned.id):
                if _is_future(case.lease, now):
                    moved = self._moves.move(case.lease.id, self._cause(case), now)
                    if moved is not None:
                        affected.append(case.affected(
                            maintenance_windows.MOVES if moved else maintenance_windows.STUCK))
                elif case.lease.state == lifecycle.ACTIVE:
                    affected.append(self._treat(case, now))
        return tuple(affected)

    def _cases(self, planned, now):
        """Return the _Cases of the open windows, ordered by the start of the leases.

        A lease that has resources in several windows counts for the first one.
        """
        windows = [window for window in planned.windows if window.end > now]
        if not windows:
            return []
        with self._core.database.reader() as connection:
            rows = maintenances.taken(connection, planned.resource_ids, windows[0].start,
                                      windows[-1].end)
            windows_of = {}
            for lease_id, resource_id, start, end in rows:
                first = next((window for window in windows
                              if window.start < end and start < window.end), None)
                if first is not None:
                    windows_of.setdefault(lease_id, {}).setdefault(resource_id, first)
            return [_Case(planned, min(by_resource.values(), key=lambda window: window.start),
                          leases.get(connection, lease_id), tuple(sorted(by_resource)))
                    for lease_id, by_resource in windows_of.items()]

    def _cause(self, case, also_avoid=frozenset()):
        with self._core.database.reader() as connection:
            not_well = stored.not_well(connection)
            names = ', '.join(resource.name
                              for resource in resources.with_ids(connection, case.ids))
        when = f'from {case.window.span}: {case.maintenance.reason}'
        return resource_moves.MoveCause(
            frozenset(case.ids),
            frozenset({*case.maintenance.resource_ids, *not_well, *also_avoid}),
            texts.Text(texts.counted(len(case.ids), f'of its resources has maintenance {when}.',
                                     f'of its resources have maintenance {when}.'),
                       f'{names}: maintenance {case.maintenance.id} {when}.'), _EVENT)

    def _treat(self, case, now):
        """Leave a running lease, offer a swap, or end it early; return an Affected."""
        case, effect, end = _treatment(case, now)
        cause = self._cause(case)
        if effect == maintenance_windows.ENDS:
            if case.lease.end > end and not self._end(case, end, now):
                return case.affected(effect)
            advice = f'The lease ends at {end:%Y-%m-%d %H:%M:%S} UTC.'
        elif effect == maintenance_windows.ASKED:
            advice = ('Swap each of them for another one before that: climate lease swap '
                      f'{case.lease.id} RESOURCE.')
        else:
            advice = 'The lease keeps them, and its servers may be disturbed.'
        self._moves.notify_owner(case.lease.id, cause, texts.joined(
            cause.because, texts.same(advice)), now)
        return case.affected(effect)

    def _end(self, case, at, now):
        """Set the end of a lease; return False if the lease cannot be changed now."""
        changes = records.LeaseChanges(end_now=True) if at <= now else records.LeaseChanges(end=at)
        try:
            self._update.update(context.RequestContext.internal(), case.lease.id, changes)
        except errors.ClimateError as error:
            LOG.warning('Lease %s cannot be ended for maintenance %s; the next pass tries again: '
                        '%s', case.lease.id, case.maintenance.id, error.message)
            return False
        return True


def _treatment(case, now):
    """Return (a _Case, the effect on its running lease, the early end of the lease or None).

    If the notice lets the lease end only after a window, the lease stays during that window. It may
    still end for a later window, which is then the window of the returned _Case.
    """
    if case.maintenance.running != maintenance_windows.END:
        is_swapped = case.maintenance.running == maintenance_windows.SWAP
        return case, maintenance_windows.ASKED if is_swapped else maintenance_windows.STAYS, None
    earliest = now + datetime.timedelta(minutes=case.maintenance.notice_minutes)
    for window in case.maintenance.windows:
        end = min(max(window.start, earliest), case.lease.end)
        if case.window.start <= window.start < case.lease.end and end < window.end:
            return dataclasses.replace(case, window=window), maintenance_windows.ENDS, end
    return case, maintenance_windows.STAYS, None


def _is_future(lease, now):
    return lease.state == lifecycle.PENDING and lease.start > now
