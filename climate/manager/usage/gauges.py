# SPDX-License-Identifier: Apache-2.0
"""Usage and utilisation at this moment, as gauges for Prometheus.

Each gauge is the figure of GET /v1/usage without the time: its integral over time is that figure in
resource-hours. Refused requests of a project count up to the size of the pool only. Nothing but the
allocations, occupied resources and requests of this moment is read.
"""
import collections
import datetime
import math

from climate.db import refusals as stored
from climate.db import usage_rows
from climate.db import use_samples
from climate.domain import usage_figures
from climate.domain import use_sampling
from climate.domain import utilisation
from climate.manager import counters
from climate.manager.planning import resource_hours

_SECOND = datetime.timedelta(seconds=1)
_HOUR = datetime.timedelta(hours=1)
# Shares of resources are not exact.
_ROUNDING = 1e-9
_PROJECT = ('project_id', 'pool', 'resource_type')


def families(database, now):
    """Yield the metric families at a moment."""
    with database.reader() as connection:
        # The end of the span is not part of it.
        shares = usage_rows.shares(connection, now, now + _SECOND, now + _SECOND)
        refusals = stored.counted_between(connection, now, now + _SECOND)
        enrolments = usage_rows.enrolments(connection, now, now + _SECOND)
        idle = _idle_shares(connection, shares, now)
    second = usage_figures.second(now)
    allocated = [share for share in shares if _covers(share.allocated, second)]
    occupied = [share for share in shares if _covers(share.occupied, second)]
    yield from _of_projects(allocated, occupied, idle)
    yield _counted('climate_refused_resources', 'Resources that were asked for this moment and '
                   'not given', (*_PROJECT, 'reason'),
                   ((*_labels(refusal), refusal.reason, copies)
                    for refusal, copies in _within_pools(
                        [refusal for refusal in refusals if _covers(refusal.asked, second)],
                        enrolments)))
    yield from _of_pools(enrolments, allocated, occupied, second)


def _within_pools(refusals, enrolments):
    """Yield (Refusal, copies), where the copies of a project fit into its pool together."""
    capacities = collections.defaultdict(collections.Counter)
    for enrolment in enrolments:
        capacities[enrolment.pool][enrolment.amount] += 1
    left = {}
    for refusal in refusals:
        in_pool = capacities[refusal.pool]
        owner = refusal.project_id, refusal.pool
        free = left.get(owner, in_pool.total())
        share = _share_of_one(refusal.amount, in_pool)
        copies = min(refusal.copies, math.floor(free / share + _ROUNDING))
        left[owner] = free - copies * share
        yield refusal, copies


def _share_of_one(amount, capacities):
    """Return the average number of resources that one copy of an amount takes.

    :param capacities: {capacity: number of resources}.
    """
    units = usage_figures.units_of(amount)
    return sum(resource_hours.share(units, 1, usage_figures.units_of(each)) * number
               for each, number in capacities.items()) / (capacities.total() or 1) or 1


def _of_projects(allocated, occupied, idle):
    """Yield the gauges of projects, in resources and in units."""
    for figure, words, shares in (
            ('allocated', 'that are allocated', allocated),
            ('occupied', 'that the cloud holds', occupied)):
        yield _counted(f'climate_{figure}_resources', f'Resources {words}', _PROJECT,
                       ((*_labels(each), each.copies) for each in shares))
        yield _counted(f'climate_{figure}_units', f'Units of each class of resources {words}',
                       (*_PROJECT, 'class'),
                       ((*_labels(each), name, count * each.copies) for each in shares
                        for name, count in usage_figures.units_of(each.amount).items()))
    yield _counted('climate_idle_resources', 'Resources that the cloud holds and on which nothing '
                   'runs, by the last hour with samples', _PROJECT,
                   ((*_labels(each), idle[each.reservation_id, each.resource_id] * each.copies)
                    for each in occupied if (each.reservation_id, each.resource_id) in idle))


def _of_pools(enrolments, allocated, occupied, second):
    """Yield the gauges of pools: the number of resources, by state."""
    pools = {enrolment.resource_id: enrolment.pool for enrolment in enrolments}
    states = {
        utilisation.CAPACITY: set(pools),
        utilisation.ALLOCATED: {share.resource_id for share in allocated},
        utilisation.OCCUPIED: {share.resource_id for share in occupied},
        **{kind: {enrolment.resource_id for enrolment in enrolments
                  for name, span in enrolment.absences
                  if name == kind and _covers(span, second)} for kind in utilisation.ABSENCES}}
    words = {utilisation.CAPACITY: 'that are enrolled',
             utilisation.ALLOCATED: 'of which at least a part is allocated',
             utilisation.OCCUPIED: 'of which the cloud holds at least a part for a lease',
             utilisation.OUT_OF_ORDER: 'that are out of order',
             utilisation.ASLEEP: 'that are asleep'}
    for figure, ids in states.items():
        counts = collections.Counter(pools[key] for key in ids if key in pools)
        yield counters.gauge(
            f'climate_pool_{figure}_resources', f'Resources of the pool {words[figure]}', ['pool'],
            {pool: counts[pool] for pool in sorted(set(pools.values()))})


def _idle_shares(connection, shares, now):
    """Return {(reservation id, resource id): the idle share} of the last hour with a sample."""
    hour = use_sampling.hour_of(now)
    idle_shares = {}
    for reservation_id, resource_id, _, sample in use_samples.by_hour(
            connection, {share.reservation_id for share in shares}, hour - _HOUR, hour + _HOUR):
        if sample.seconds:
            idle_shares[reservation_id, resource_id] = sample.idle_seconds / sample.seconds
    return idle_shares


def _counted(name, words, labels, rows):
    """Return a gauge with the sums of rows (value of each label, …, number)."""
    sums = collections.Counter()
    for *values, number in rows:
        sums[tuple(values)] += number
    return counters.gauge(name, words, labels, dict(sorted(sums.items())))


def _labels(counted):
    return counted.project_id, counted.pool, counted.resource_type


def _covers(span, second):
    return span is not None and span[0] <= second < span[1]
