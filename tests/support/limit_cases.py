# SPDX-License-Identifier: Apache-2.0
"""Random owners, requests and limits, and a naive evaluation of limits minute by minute."""
import dataclasses
import datetime
import decimal

import numpy as np

from climate.domain import peak_hours
from climate.domain.limits import holdings
from climate.domain.limits import rules
from support import builders

HOURS = 60
MINUTE, HOUR = datetime.timedelta(minutes=1), datetime.timedelta(hours=1)
#: The first and the last minute of the naive evaluation, from noon.
FIRST, LAST = -60 * HOURS, 120 * HOURS
WORKING_HOURS = peak_hours.PeakHours(datetime.UTC, (
    peak_hours.PeakWindow(frozenset(range(5)), 8 * 60, 18 * 60, decimal.Decimal(0)),))


def limit(measure, most=None, **fields):
    """A Limit for everybody."""
    return rules.Limit(name='rule', measure=rules.Measure(measure),
                       most=None if most is None else decimal.Decimal(most), **fields)


def held(start, end, copies=1, **fields):
    """A HeldResource from one hour after noon to another."""
    return holdings.HeldResource(**{
        'reservation_id': 'r', 'resource_type': 'physical:host', 'pool': 'host', 'resource_id': 1,
        'start': builders.at(start), 'end': builders.at(end), 'copies': copies,
        'units': {'vcpus': 4}, **fields})


def holding(key, *resources, kind=holdings.Kind.LEASE, project='p', user='u', **fields):
    """A Holding with HeldResources, which starts with the first and ends with the last."""
    start = min((each.start for each in resources), default=builders.NOON)
    end = max((each.end for each in resources), default=builders.at(1))
    return holdings.Holding(**{
        'id': key, 'kind': kind, 'project_id': project, 'user_id': user, 'start': start,
        'end': end, 'pools': {'physical:host': frozenset({'host'})}, 'resources': resources,
        **fields})


def random_holding(draw, key):
    """A Holding with some random HeldResources."""
    resources = []
    for _ in range(draw.randint(1, 2)):
        start = draw.randint(-30, 40)
        resources.append(held(start, start + draw.randint(1, 30), draw.randint(1, 3)))
    return holding(key, *resources, user=draw.choice(['u', 'u', 'v']))


def random_request(draw):
    """A Request of a random owner, with or without a lease before it and after it."""
    before, after = (random_holding(draw, 'subject') for _ in range(2))
    before = draw.choice([None, None, before, dataclasses.replace(after, resources=(
        *before.resources, *after.resources))])
    if before is not None:
        before = dataclasses.replace(before, user_id=after.user_id)
    return holdings.Request(builders.NOON, before, after, tuple(
        random_holding(draw, f'other {number}') for number in range(draw.randint(0, 5))))


def over_time(limit_, request):
    """Return (amounts before, amounts after, whether the minute counts), minute by minute."""
    before, after = (np.zeros(LAST - FIRST, dtype=np.int64) for _ in range(2))
    for each in request.others_of(limit_):
        _add(before, each, limit_)
        _add(after, each, limit_)
    _add(before, request.before, limit_)
    _add(after, request.after, limit_)
    counts = np.array([limit_.hours is None or _within(limit_.hours, builders.NOON + MINUTE * each)
                       for each in range(FIRST, LAST)])
    return before, after, counts


def is_broken(limit_, request):
    """Return whether a request breaks a limit of amounts, by a walk through all minutes."""
    before, after, counts = over_time(limit_, request)
    if limit_.measure is not rules.Measure.RESOURCE_HOURS:
        return bool((counts & (after > limit_.most) & (after > before)).any())
    before, after = before * counts, after * counts
    most = int(limit_.most * HOURS)
    if limit_.window is None:
        periods = np.array([_period(limit_, builders.NOON + MINUTE * each)
                            for each in range(FIRST, LAST)])
        sums = [(before[periods == each].sum(), after[periods == each].sum())
                for each in np.unique(periods)]
        return any(late > most and late > early for early, late in sums)
    length = limit_.window // MINUTE
    early, late = (np.convolve(amounts, np.ones(length, dtype=np.int64))
                   for amounts in (before, after))
    return bool(((late > most) & (late > early)).any())


def _period(limit_, moment):
    local = moment.astimezone(limit_.zone)
    return local.year * 12 + local.month


def _add(amounts, each, limit_):
    for part in () if each is None else each.counted(limit_):
        first, last = ((moment - builders.NOON) // MINUTE - FIRST
                       for moment in (part.start, part.end))
        amounts[first:last] += part.amount(limit_.unit)


def _within(hours, moment):
    local = moment.astimezone(hours.zone)
    minute = 60 * local.hour + local.minute
    return any(local.weekday() in window.days and window.begin <= minute < window.end
               for window in hours.windows)
