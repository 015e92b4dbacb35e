# SPDX-License-Identifier: Apache-2.0
"""Usage and utilisation at this moment, as gauges for Prometheus.

The integral of a gauge over time is the figure in GET /v1/usage, in resource-hours. As an
exception, the refused requests of a project count at most the size of the pool.
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
# The tolerance for rounding errors of shares.
_ROUNDING = 1e-9
_PROJECT = ('project_id', 'pool', 'resource_type')


def families(database, now):
    """Yield the metric families at a moment."""
    with database.reader() as connection:
        end = now + _SECOND
        shares = usage_rows.shares(connection, now, end, end)
        refusals = stored.counted_between(connection, now, end)
        enrolments = usage_rows.enrolments(connection, now, end)
        idle = _idle_shares(connection, shares, now)
    second = usage_figures.second(now)
    allocated = [share for share in shares if _covers(share.allocated, second)]
    occupied = [share for share in shares if _covers(share.occupied, second)]
    yield from _of_projects(allocated, occupied, idle)
    yield _summed('climate_refused_resources', 'Resources that were requested for this moment and '
                  'refused', (*_PROJECT, 'reason'),
                  ((*_labels(refusal), refusal.reason, copies)
                   for refusal, copies in _within_pools(
                       [refusal for refusal in refusals if _covers(refusal.asked, second)],
                       enrolments)))
    yield from _of_pools(enrolments, allocated, occupied, second)


def _within_pools(refusals, enrolments):
    """Yield (Refusal, copies). All copies of one project together fit into the pool."""
    capacities = collections.defaultdict(collections.Counter)
    for enrolment in enrolments:
        capacities[enrolment.pool][enrolment.amount] += 1
    remaining = {}
    for refusal in refusals:
        in_pool = capacities[refusal.pool]
        key = refusal.project_id, refusal.pool
        free = remaining.get(key, in_pool.total())
        share = _share_of_one(refusal.amount, in_pool)
        copies = min(refusal.copies, math.floor(free / share + _ROUNDING))
        remaining[key] = free - copies * share
        yield refusal, copies


def _share_of_one(amount, capacities):
    """Return the average number of resources that one copy of an amount takes.

    :param capacities: {capacity: number of resources}.
    """
    units = usage_figures.units_of(amount)
    return sum(resource_hours.share(units, 1, usage_figures.units_of(capacity)) * number
               for capacity, number in capacities.items()) / (capacities.total() or 1) or 1


def _of_projects(allocated, occupied, idle):
    """Yield the gauges of projects, in resources and in units."""
    for figure, words, shares in (
            ('allocated', 'that are allocated', allocated),
            ('occupied', 'that the cloud holds', occupied)):
        yield _summed(f'climate_{figure}_resources', f'Resources {words}', _PROJECT,
                      ((*_labels(share), share.copies) for share in shares))
        yield _summed(f'climate_{figure}_units', f'Units of each class of resources {words}',
                      (*_PROJECT, 'class'),
                      ((*_labels(share), name, count * share.copies) for share in shares
                       for name, count in usage_figures.units_of(share.amount).items()))
    yield _summed('climate_idle_resources', 'Resources that the cloud holds and on which nothing '
                  'runs, by the last hour with samples', _PROJECT,
                  ((*_labels(share), idle[share.reservation_id, share.resource_id] * share.copies)
                   for share in occupied if (share.reservation_id, share.resource_id) in idle))


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
             utilisation.OUT_OF_ORDER: 'that are out of service',
             utilisation.ASLEEP: 'that are asleep'}
    for figure, ids in states.items():
        counts = collections.Counter(pools[key] for key in ids if key in pools)
        yield counters.gauge(
            f'climate_pool_{figure}_resources', f'Resources of the pool {words[figure]}', ['pool'],
            {pool: counts[pool] for pool in sorted(set(pools.values()))})


def _idle_shares(connection, shares, now):
    """Return {(reservation id, resource id): fraction of the last sampled hour spent idle}."""
    hour = use_sampling.hour_of(now)
    idle_shares = {}
    for reservation_id, resource_id, _, sample in use_samples.by_hour(
            connection, {share.reservation_id for share in shares}, hour - _HOUR, hour + _HOUR):
        if sample.seconds:
            idle_shares[reservation_id, resource_id] = sample.idle_seconds / sample.seconds
    return idle_shares


def _summed(name, words, labels, rows):
    """Return a gauge whose values are sums over rows (value of each label, …, number)."""
    sums = collections.Counter()
    for *values, number in rows:
        sums[tuple(values)] += number
    return counters.gauge(name, words, labels, dict(sorted(sums.items())))


def _labels(row):
    return row.project_id, row.pool, row.resource_type


def _covers(span, second):
    return span is not None and span[0] <= second < span[1]
