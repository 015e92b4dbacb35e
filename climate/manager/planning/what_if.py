# SPDX-License-Identifier: Apache-2.0
"""The use case of what-if questions: how a change of a pool or of the demand affects leases.

An answer reads the pool once and simulates the changes on a copy in memory. It writes nothing.
"""
import collections
import dataclasses
import datetime
import itertools
import json
import time

import numpy as np

from climate import errors
from climate.db import allocations
from climate.db import booking_columns
from climate.db import planning_rows
from climate.domain import interval
from climate.domain import lease_times
from climate.domain import selection
from climate.domain import what_if
from climate.manager.planning import changed_pool
from climate.manager.planning import lease_needs
from climate.manager.planning import pool_copy
from climate.manager.planning import resource_hours

_MOST_EXTRA = 20_000
_DAY = datetime.timedelta(days=1)
# The number of leases after which a simulation yields to other threads.
_YIELDING = 64


@dataclasses.dataclass(frozen=True)
class _CopiedLease:
    """A lease of the copied pool: its time and resources, {(reservation id, need key): Counter}."""

    id: str
    span: interval.Interval
    has: dict
    rows: list


class WhatIfAnswers:
    """Answers what-if questions.

    :param turns: the ``plan_turns.PlanTurns`` that all plans of a manager share.
    """

    def __init__(self, core, turns):
        self._core, self._turns = core, turns

    def answer(self, question):
        """Return the ``what_if.WhatIfAnswer`` to a ``what_if.WhatIfQuestion``.

        :raises UnknownPool: no pool has that name.
        :raises BadField: the time, a resource or the factor is not possible; the error names the
            field.
        :raises PlansBusy: too many plans are being computed.
        """
        now = self._core.clock()
        self._core.registry.pool(question.pool)
        window = _window(question, now)
        with self._turns.taken(), self._core.database.reader() as connection:
            resources = {key: resource for key, resource in allocations.reservable_resources(
                connection, question.pool).items() if resource.lent_to is None}
            changed = changed_pool.ChangedPool(resources, question, window)
            rows = planning_rows.placed(connection, question.pool, window.start)
            return _Simulation(self._core, connection, question, window, now, resources, changed,
                               rows).answer()


def _window(question, now):
    """Return the Interval of a Question.

    :raises BadField: the start is in the past, the end is not after the start, or too far away.
    """
    if question.start < now - datetime.timedelta(minutes=1):
        raise errors.BadField(field='start', reason=(
            f'it is in the past; now it is {now:%Y-%m-%d %H:%M:%S} UTC.'))
    return lease_times.window(max(question.start, now), question.end, changed_pool.LONGEST)


class _Simulation:
    """One question, simulated on a copy of the pool."""

    def __init__(self, core, connection, question, window, now, resources, changed, rows):
        self._question, self._window, self._now = question, window, now
        self._connection, self._changed = connection, changed
        self._names = changed.names
        cleaning = datetime.timedelta(minutes=core.conf.manager.cleaning_minutes)
        self._pool = pool_copy.PoolCopy({key: json.dumps(capacity) for key, capacity in
                                         changed.capacities.items()}, cleaning, window)
        self._needs = lease_needs.LeaseNeeds(core, connection, question.pool, resources,
                                             changed.twins, self._pool.ids)
        self._leases = _leases(rows)
        for lease in self._leases.values():
            self._pool.add(lease.id, _bookings(lease.rows))
        self._pool.add('offers', _bookings(row for row in rows if row.lease_id is None))
        self._before = self._pool.columns()
        self._counts = collections.defaultdict(collections.Counter)
        self._reservations, self._fates, self._simulated = {}, [], 0

    def answer(self):
        extra, dropped = self._scaled()
        displaced = [lease for lease in self._leases.values()
                     if lease.id not in dropped and self._changed.hits(lease.rows)]
        queued = self._queued()
        self._reservations = planning_rows.reservations(self._connection, dict.fromkeys(
            lease.id for lease in [*displaced, *queued, *(lease for lease, _ in extra)]))
        for lease_id in dropped:
            self._pool.release(lease_id)
        for key, spans in self._changed.outages.items():
            self._pool.add('out', [(key, span, selection.WHOLE, 1) for span in spans])
        # Running leases first, as they cannot wait; then in the order of their starts.
        for lease in sorted(displaced, key=lambda lease: (lease.span.start, lease.id)):
            self._replace(lease)
        for lease in queued:
            self._place(lease, what_if.QUEUED, lease.id, lease.span)
        for lease, copies in extra:
            for number in range(copies):
                self._place(lease, what_if.EXTRA, f'{lease.id}+{number}', lease.span)
        return self._answered(len(dropped))

    def _scaled(self):
        """Scale the demand; return ([(lease, number of extra copies)], ids of dropped leases)."""
        future = [lease for lease in self._leases.values()
                  if self._window.start <= lease.span.start < self._window.end
                  and lease.span.start > self._now]
        pairs = list(what_if.scaled(future, self._question.demand_factor))
        extra = [(lease, count - 1) for lease, count in pairs if count > 1]
        if sum(count for _, count in extra) > _MOST_EXTRA:
            raise errors.BadField(field='demand_factor', reason=(
                f'it would add more than {_MOST_EXTRA} leases: choose a smaller factor or a '
                'shorter time.'))
        return extra, {lease.id for lease, count in pairs if count == 0}

    def _queued(self):
        queued = []
        for row in planning_rows.waiting(self._connection):
            end = row.end if row.duration_seconds is None else (
                self._window.start + datetime.timedelta(seconds=row.duration_seconds))
            if end > self._window.start:
                span = interval.Interval(self._window.start, end)
                queued.append(_CopiedLease(row.id, span, {}, []))
        return queued

    def _replace(self, lease):
        """Choose resources again for a lease that loses some; it keeps the others if possible."""
        runs = lease.span.start <= self._now
        span = dataclasses.replace(lease.span, start=max(lease.span.start, self._window.start))
        had = sorted({row.resource_id for row in lease.rows})
        self._pool.release(lease.id)
        self._place(lease, what_if.DISPLACED, lease.id, span, had=had, may_wait=not runs)

    def _place(self, lease, kind, owner, span, had=(), may_wait=True):
        """Choose resources for a lease during `span`, or later; record its fate."""
        self._simulated += 1
        if self._simulated % _YIELDING == 0:
            # Under eventlet, no other greenthread runs until this one sleeps.
            time.sleep(0)
        demands = self._needs.of(self._reservations.get(lease.id, ()),
                                 lease.has if kind == what_if.DISPLACED else {})
        if demands == []:
            # This lease in the queue needs nothing of the pool.
            return
        outcome, when, chosen = what_if.REFUSED, None, []
        try:
            if demands is not None:
                chosen = self._pool.choose(demands, span)
                outcome = what_if.MOVES if kind == what_if.DISPLACED else what_if.SERVED
                when = span
        except errors.NotEnough:
            later = self._pool.choose_later(demands, span) if may_wait else None
            if later is not None:
                outcome, (when, chosen) = what_if.WAITS, later
        if when is not None:
            self._pool.add(owner, [
                (pick.resource_id, when, masked.demand.amount, pick.copies)
                for masked, picks in zip(demands, chosen, strict=True) for pick in picks])
        self._counts[kind][outcome] += 1
        if len(self._fates) < self._question.limit:
            got = sorted({pick.resource_id for picks in chosen for pick in picks})
            new_start = None
            if when is not None:
                # Without a delay, the lease keeps its start, which may be earlier than `span`.
                new_start = lease.span.start if when == span else when.start
            self._fates.append(what_if.Fate(
                lease.id, kind, outcome, lease.span.start, lease.span.end, new_start,
                *(tuple(self._names[key] for key in keys) for keys in (had, got))))

    def _answered(self, dropped):
        window, changed = self._window, self._changed
        edges = [window.start]
        while edges[-1] < window.end:
            edges.append(min(window.end, edges[-1] + _DAY))
        counted = np.array([booking_columns.microseconds(edge) for edge in edges], np.int64)
        rows, amounts = self._pool.columns()
        # Outages are bookings of the copied pool, but they do not count as use.
        out = self._pool.places_of('out')
        uses = [_hours(counted, *each, self._pool.capacities) for each in (
            self._before, (np.delete(rows, out, axis=1), amounts))]
        steps = []
        for place, (start, end) in enumerate(itertools.pairwise(edges)):
            step = interval.Interval(start, end)
            steps.append(what_if.Step(
                start, end, changed.capacity_before(step), float(uses[0][place]),
                changed.capacity_after(step), float(uses[1][place])))
        return what_if.WhatIfAnswer(
            pool=self._question.pool, start=window.start, end=window.end,
            resources=changed.before, new_resources=changed.after,
            leases=sum(lease.span.overlaps(window) for lease in self._leases.values()),
            counts={kind: dict(counts) for kind, counts in self._counts.items()},
            dropped=dropped, fates=tuple(self._fates), steps=tuple(steps))


def _leases(rows):
    """Return {lease id: _CopiedLease}, in the order of their starts."""
    grouped = {}
    for row in rows:
        if row.lease_id is not None:
            grouped.setdefault(row.lease_id, []).append(row)
    leases = {}
    for lease_id, own in grouped.items():
        has = collections.defaultdict(collections.Counter)
        for row in own:
            has[row.reservation_id, row.need][row.resource_id] += row.copies
        span = interval.Interval(min(row.start for row in own), max(row.end for row in own))
        leases[lease_id] = _CopiedLease(lease_id, span, has, own)
    return dict(sorted(leases.items(), key=lambda pair: (pair[1].span.start, pair[0])))


def _hours(edges, rows, amounts, capacities):
    places, starts, ends, kinds = rows
    return resource_hours.hours(edges, starts, ends, resource_hours.of_kinds(
        places, kinds, amounts, capacities))


def _bookings(rows):
    for row in rows:
        yield (row.resource_id, interval.Interval(row.start, row.end),
               selection.WHOLE if row.whole else row.amount, row.copies)
