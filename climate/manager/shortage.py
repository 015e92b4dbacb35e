# SPDX-License-Identifier: Apache-2.0
"""Why there are not enough resources, in counts and in words."""
import datetime

from climate import errors
from climate.db import allocations
from climate.domain import calendar
from climate.domain import fit
from climate.domain import interval
from climate.domain import requirement
from climate.manager import criteria

# How far ahead the nearest later time is looked for.
_HORIZON = datetime.timedelta(days=365)
_RESOLUTION = datetime.timedelta(microseconds=1)


def explained(core, connection, wish, error, span, now, own, cleaning):
    """The NotEnough `error` with its reasons: counts for each criterion, the nearest time."""
    need = wish.need
    everything = allocations.reservable_resources(connection, need.pool)
    parts = requirement.criteria(need.requirement)
    wanted = requirement.names(need.requirement)
    values = criteria.values_of(core, connection, need.pool, everything, wanted)
    counts = [{'criterion': str(part),
               'met_by': sum(requirement.matches(part, values[key]) for key in everything)}
              for part in parts]
    fitting = criteria.matching(core, connection, need, everything)
    grace = now + datetime.timedelta(seconds=core.conf.manager.release_grace_seconds)
    held = [key for key in fitting if everything[key].held_by not in {None, *own}]
    nearest = _nearest(connection, need, fitting, span, own, cleaning,
                       dict.fromkeys(held, grace + _RESOLUTION))
    details = {
        'what': error.kwargs.get('what', need.pool), 'wanted': need.demand.at_least,
        'free': error.kwargs.get('free', 0), 'total': len(everything), 'criteria': counts,
        'matching': len(fitting), 'nearest': nearest.isoformat() if nearest else None,
    }
    return errors.NotEnough(_sentence(need, details, nearest), **details)


def _sentence(need, details, nearest):
    whole = need.demand.amount is fit.WHOLE
    things = f'{need.pool}s are' if whole else f'places on {need.pool}s are'
    text = (f'Only {details["free"]} of {details["wanted"]} {things} free for all of the '
            f'time asked for: {details["total"]} are enrolled')
    if details['criteria']:
        text += ', ' + ', '.join(f'{each["met_by"]} with {each["criterion"]}'
                                 for each in details['criteria'])
        text += f', {details["matching"]} meet all criteria'
    if nearest is not None:
        # To the next whole minute, which is how some clients write a start.
        minute = nearest + (datetime.timedelta(minutes=1) - _RESOLUTION)
        return f'{text}. It fits from {minute:%Y-%m-%d %H:%M} UTC.'
    if not whole or details['matching'] < details['wanted']:
        return f'{text}. Fewer, or other criteria, would fit.'
    return f'{text}.'


def _nearest(connection, need, ids, span, own, cleaning, held_until):
    if need.demand.amount is not fit.WHOLE or len(ids) < need.demand.at_least:
        return None
    try:
        window = interval.Interval(span.start - cleaning, span.start + _HORIZON + span.duration)
    except OverflowError:
        # No calendar goes so far: there is no later time for so long a lease.
        return None
    booked = allocations.bookings(connection, ids, window, ignoring=own)
    busy = {key: [each.widened(cleaning) for each, _ in booked.get(key, ())] for key in ids}
    for key, until in held_until.items():
        if until > window.start:
            busy[key].append(interval.Interval(window.start, until))
    found = calendar.earliest(need.demand.at_least, span.duration, span.start, busy,
                              until=window.end)
    return found[0] if found else None
