# SPDX-License-Identifier: Apache-2.0
"""Usage and utilisation at this moment, as gauges for Prometheus.

Each gauge is the figure of GET /v1/usage without the time: its integral over time is that figure in
resource-hours. But of what was refused, each project counts at most as much as the pool has. Only
what is allocated, occupied or asked for now is read.
"""
import collections
import datetime
import math

from prometheus_client import core as prometheus

from climate.db import usage_refusals
from climate.db import usage_rows
from climate.db import use_samples
from climate.domain import usage_figures
from climate.domain import use
from climate.domain import utilisation
from climate.manager.planning import resource_hours

_SECOND = datetime.timedelta(seconds=1)
_HOUR = datetime.timedelta(hours=1)
# Shares of resources are not exact.
_ROUNDING = 1e-9
_PROJECT = ('project_id', 'pool', 'resource_type')


def families(database, now):
    """Yield the metric families at a moment."""
    with database.reader() as connection:
        # The last moment of the span is not part of it.
        shares = usage_rows.shares(connection, now, now + _SECOND, now + _SECOND)
        refusals = usage_refusals.between(connection, now, now + _SECOND)
        enrolments = usage_rows.enrolments(connection, now, now + _SECOND)
        idle = _idle_shares(connection, shares, now)
    here = usage_figures.second(now)
    allocated = [each for each in shares if _covers(each.allocated, here)]
    occupied = [each for each in shares if _covers(each.occupied, here)]
    yield from _of_projects(allocated, occupied, idle)
    yield _counted('climate_refused_resources', 'Resources that were asked for this moment and '
                   'not given', (*_PROJECT, 'reason'),
                   ((*_labels(each), each.reason, copies) for each, copies in _within_pools(
                       [each for each in refusals if _covers(each.asked, here)], enrolments)))
    yield from _of_pools(enrolments, allocated, occupied, here)


def _within_pools(refusals, enrolments):
    """Yield (Refusal, copies): of each project at most as many as its pool could serve."""
    capacities = collections.defaultdict(collections.Counter)
    for each in enrolments:
        capacities[each.pool][each.amount] += 1
    left = {}
    for each in refusals:
        has = capacities[each.pool]
        owner = each.project_id, each.pool
        of_pool = left.get(owner, has.total())
        share = _share_of_one(each.amount, has)
        copies = min(each.copies, math.floor(of_pool / share + _ROUNDING))
        left[owner] = of_pool - copies * share
        yield each, copies


def _share_of_one(amount, capacities):
    """Return how many resources, on average, one copy of an amount takes.

    :param capacities: {capacity: number of resources}.
    """
    units = usage_figures.units_of(amount)
    return sum(resource_hours.share(units, 1, usage_figures.units_of(each)) * number
               for each, number in capacities.items()) / (capacities.total() or 1) or 1


def _of_projects(allocated, occupied, idle):
    """Yield what projects have, in resources and in units."""
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


def _of_pools(enrolments, allocated, occupied, here):
    """Yield how many resources each pool has, and how many of them are in which state."""
    pools = {each.resource_id: each.pool for each in enrolments}
    states = {
        utilisation.CAPACITY: set(pools),
        utilisation.ALLOCATED: {each.resource_id for each in allocated},
        utilisation.OCCUPIED: {each.resource_id for each in occupied},
        **{kind: {each.resource_id for each in enrolments for name, span in each.absences
                  if name == kind and _covers(span, here)} for kind in utilisation.ABSENCES}}
    words = {utilisation.CAPACITY: 'that are enrolled',
             utilisation.ALLOCATED: 'of which at least a part is allocated',
             utilisation.OCCUPIED: 'of which the cloud holds at least a part for a lease',
             utilisation.OUT_OF_ORDER: 'that are out of order',
             utilisation.ASLEEP: 'that are asleep'}
    for figure, ids in states.items():
        counts = collections.Counter(pools[each] for each in ids if each in pools)
        family = prometheus.GaugeMetricFamily(
            f'climate_pool_{figure}_resources', f'Resources of the pool {words[figure]}',
            labels=['pool'])
        for pool in sorted(set(pools.values())):
            family.add_metric([pool], counts[pool])
        yield family


def _idle_shares(connection, shares, now):
    """Return {(reservation id, resource id): the idle share} of the last hour with a sample."""
    hour = use.hour_of(now)
    found = {}
    for reservation_id, resource_id, _, sample in use_samples.by_hour(
            connection, {each.reservation_id for each in shares}, hour - _HOUR, hour + _HOUR):
        if sample.seconds:
            found[reservation_id, resource_id] = sample.idle_seconds / sample.seconds
    return found


def _counted(name, words, labels, rows):
    """Return a gauge with the sums of rows (value of each label, …, number)."""
    sums = collections.Counter()
    for *values, number in rows:
        sums[tuple(values)] += number
    family = prometheus.GaugeMetricFamily(name, words, labels=list(labels))
    for values, number in sorted(sums.items()):
        family.add_metric(list(values), number)
    return family


def _labels(counted):
    return counted.project_id, counted.pool, counted.resource_type


def _covers(span, second):
    return span is not None and span[0] <= second < span[1]
