# SPDX-License-Identifier: Apache-2.0
"""The leases in the way of a maintenance: those to come are moved, others left, asked or ended."""
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
from climate.domain import nouns
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.leases import moves
from climate.manager.leases import update

LOG = log.getLogger(__name__)

#: What the history and the notification of a lease are called.
TOLD = 'maintenance'


@dataclasses.dataclass(frozen=True)
class _Case:
    """A lease in the way of one window, with the resources that it has there."""

    found: maintenance.Maintenance
    window: maintenance.Window
    lease: records.Lease
    ids: tuple[int, ...]

    def affected(self, what, why=None):
        return maintenance.Affected(self.lease.id, self.lease.project_id, self.window.start,
                                    self.ids, what, why)


class Leases:
    """Previews what a maintenance does to leases, and does it. Repeatable."""

    def __init__(self, core):
        self._core = core
        self._moves = moves.Moves(core)
        self._update = update.Update(core)

    def preview(self, found, now):
        """Return what `clear` would do, as Affected records; nothing is written.

        A resource that the preview gives to one lease it gives to no other at that time.
        """
        told, given = [], []
        for case in self._cases(found, now):
            if not _is_to_come(case.lease, now):
                case, mode, _ = _treatment(case, now)
                told.append(case.affected(mode))
                continue
            taken = {key for span, keys in given if span.overlaps(case.lease.interval)
                     for key in keys}
            try:
                planned = self._moves.plan(case.lease, self._occasion(case, taken), now)
            except (errors.NotEnough, errors.UnknownResourceType) as error:
                told.append(case.affected(maintenance.STUCK, error.message))
                continue
            given.append((case.lease.interval,
                          {each.resource_id for each in planned or () if each.whole}))
            told.append(case.affected(maintenance.MOVES))
        return tuple(told)

    def clear(self, found, now):
        """Move the leases to come, and deal with those that run; return Affected records.

        Owners are told, once.
        """
        told = []
        for case in self._cases(found, now):
            with cores.isolated('Lease %s, in the way of maintenance %s', case.lease.id, found.id):
                if _is_to_come(case.lease, now):
                    moved = self._moves.move(case.lease.id, self._occasion(case), now)
                    if moved is not None:
                        told.append(case.affected(
                            maintenance.MOVES if moved else maintenance.STUCK))
                elif case.lease.state == lifecycle.ACTIVE:
                    told.append(self._deal_with(case, now))
        return tuple(told)

    def _cases(self, found, now):
        """Return the leases in the way of the open windows, those that start first before others.

        A lease in several windows is in the way of the first one.
        """
        windows = [each for each in found.windows if each.end > now]
        if not windows:
            return []
        with self._core.database.reader() as connection:
            rows = maintenances.taken(connection, found.resource_ids, windows[0].start,
                                      windows[-1].end)
            where = {}
            for lease_id, resource_id, start, end in rows:
                first = next((each for each in windows
                              if each.start < end and start < each.end), None)
                if first is not None:
                    where.setdefault(lease_id, {}).setdefault(resource_id, first)
            return [_Case(found, min(ids.values(), key=lambda each: each.start),
                          leases.get(connection, lease_id), tuple(sorted(ids)))
                    for lease_id, ids in where.items()]

    def _occasion(self, case, also_avoid=frozenset()):
        with self._core.database.reader() as connection:
            bad = stored.not_well(connection)
            names = ', '.join(each.name for each in resources.with_ids(connection, case.ids))
        when = f'from {case.window.span}: {case.found.reason}'
        return moves.Occasion(
            frozenset(case.ids), frozenset({*case.found.resource_ids, *bad, *also_avoid}),
            texts.Text(nouns.counted(len(case.ids), f'of its resources has maintenance {when}.',
                                     f'of its resources have maintenance {when}.'),
                       f'{names}: maintenance {case.found.id} {when}.'), TOLD)

    def _deal_with(self, case, now):
        """Leave a lease that runs, offer a swap, or let it end early; return an Affected."""
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
        self._moves.tell(case.lease.id, occasion, texts.joined(
            occasion.because, texts.same(more)), now)
        return case.affected(mode)

    def _end(self, case, at, now):
        """Let a lease end at a moment; return False if Climate is working on it now."""
        changes = records.LeaseChanges(end_now=True) if at <= now else records.LeaseChanges(end=at)
        try:
            self._update.update(context.RequestContext.internal(), case.lease.id, changes)
        except errors.ClimateError as error:
            LOG.warning('Lease %s: it cannot be ended for maintenance %s now, that is tried again: '
                        '%s', case.lease.id, case.found.id, error.message)
            return False
        return True


def _treatment(case, now):
    """Return (the _Case, what happens to its lease, which runs, and when it ends early or None).

    A lease that may end only after a window, because of the notice, would end to no purpose: it
    stays, unless a later window is in its way, too.
    """
    if case.found.running != maintenance.END:
        return case, {maintenance.LEFT: maintenance.STAYS,
                      maintenance.SWAP: maintenance.ASKED}[case.found.running], None
    earliest = now + datetime.timedelta(minutes=case.found.notice_minutes)
    for window in case.found.windows:
        end = min(max(window.start, earliest), case.lease.end)
        if case.window.start <= window.start < case.lease.end and end < window.end:
            return dataclasses.replace(case, window=window), maintenance.ENDS, end
    return case, maintenance.STAYS, None


def _is_to_come(lease, now):
    return lease.state == lifecycle.PENDING and lease.start > now
