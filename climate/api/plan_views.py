# SPDX-License-Identifier: Apache-2.0
"""Rendering of plans in responses."""
from climate.api import times
from climate.domain import what_if

_DIGITS = 3
_OF_HOUR = ('expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing')


def answer(found):
    """Render a ``what_if.Answer``."""
    return {
        'pool': found.pool, 'start': times.shown(found.start), 'end': times.shown(found.end),
        'resources': {'now': found.resources, 'then': found.new_resources},
        'leases': {
            'looked_at': found.leases, 'left_out': found.dropped,
            **{kind: {outcome: found.counts.get(kind, {}).get(outcome, 0)
                      for outcome in what_if.OUTCOMES}
               for kind in (what_if.DISPLACED, what_if.QUEUED, what_if.EXTRA)}},
        'changes': [_fate(each) for each in found.fates],
        'utilisation': {
            'now': _share(sum(step.allocated for step in found.steps),
                          sum(step.capacity for step in found.steps)),
            'then': _share(sum(step.new_allocated for step in found.steps),
                           sum(step.new_capacity for step in found.steps)),
            'days': [_step(each) for each in found.steps]},
    }


def forecast(found):
    """Render a ``forecast.Answer``."""
    return {
        'pool': found.pool, 'method': found.method,
        'learned_from': times.shown(found.learned_from), 'capacity': found.capacity,
        'past_error': _rounded(found.past_error), 'refused_hours': _rounded(found.refused),
        'short_at': times.shown(found.short_at),
        'may_be_short_at': times.shown(found.may_be_short_at),
        'hours': [{'start': times.shown(each.start),
                   **{name: _rounded(getattr(each, name)) for name in _OF_HOUR}}
                  for each in found.hours]}


def _fate(fate):
    return {
        'lease_id': fate.lease_id, 'kind': fate.kind, 'outcome': fate.outcome,
        'start': times.shown(fate.start), 'end': times.shown(fate.end),
        'new_start': times.shown(fate.new_start), 'resources': list(fate.resources),
        'new_resources': list(fate.new_resources)}


def _step(step):
    return {
        'start': times.shown(step.start), 'end': times.shown(step.end),
        'now': {'capacity_hours': _rounded(step.capacity),
                'allocated_hours': _rounded(step.allocated),
                'utilisation': _share(step.allocated, step.capacity)},
        'then': {'capacity_hours': _rounded(step.new_capacity),
                 'allocated_hours': _rounded(step.new_allocated),
                 'utilisation': _share(step.new_allocated, step.new_capacity)}}


def _share(part, whole):
    """Return a share; None if there is nothing to share."""
    return _rounded(part / whole) if whole > 0 else None


def _rounded(number):
    """Return a number with few digits; None stays None."""
    return None if number is None else round(number, _DIGITS)
