# SPDX-License-Identifier: Apache-2.0
"""Explain why there are not enough resources, in counts and in words."""
import datetime

from climate import errors
from climate.db import allocations
from climate.domain import interval
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.booking import start_times

# How far ahead the nearest later time is searched; less for shared resources, whose usage changes
# at more moments.
_AHEAD = datetime.timedelta(days=365)
_SHARED_AHEAD = datetime.timedelta(days=30)
# With more wishes than this, no later time is searched.
_MOST_WISHES = 10
# The greatest number of moments at which it is checked whether several wishes fit together.
_TRIES = 20


def explained(core, connection, wishes, terms, error):
    """Return a NotEnough with the reasons for the NotEnough `error` of ``joint_selection.choose``.

    The reasons are the counts for each criterion of the wish that got too little, and the nearest
    time at which all wishes fit. Owners read a rounded time.
    """
    with start_times.TURNS:
        nearest, rounded = _nearest(core, connection, wishes, terms)
    need = wishes[error.kwargs['place']].need
    everything = _open_to(terms, allocations.reservable_resources(connection, need.pool))
    parts = requirement.criteria(need.requirement)
    wanted = requirement.names(need.requirement)
    values = criteria.values_of(core, connection, need.pool, everything, wanted)
    counts = [{'criterion': str(part),
               'met_by': sum(requirement.matches(part, values[key]) for key in everything)}
              for part in parts]
    matching = sum(requirement.matches(need.requirement, values[key]) for key in everything)
    counted = {
        'what': need.pool, 'wanted': need.demand.at_least, 'free': error.kwargs.get('free', 0),
        'total': len(everything), 'criteria': counts, 'matching': matching,
    }
    details = {
        **counted,
        'nearest': nearest.isoformat() if nearest else None,
        'owner_nearest': rounded.isoformat() if rounded else None,
        'owner_message': _sentence(need, counted, rounded),
    }
    return errors.NotEnough(_sentence(need, counted, nearest), **details)


def _sentence(need, details, nearest):
    whole = need.demand.amount is selection.WHOLE
    what = f'{need.pool}s are' if whole else f'places on {need.pool}s are'
    text = (f'Only {details["free"]} of {details["wanted"]} {what} free for all of the '
            f'time asked for: {details["total"]} are enrolled')
    if details['criteria']:
        text += ', ' + ', '.join(f'{each["met_by"]} with {each["criterion"]}'
                                 for each in details['criteria'])
        text += f', {details["matching"]} meet all criteria'
    if nearest is not None:
        # To the next whole minute, which is how some clients write a start.
        minute = nearest + (datetime.timedelta(minutes=1) - interval.RESOLUTION)
        return f'{text}. It fits from {minute:%Y-%m-%d %H:%M} UTC.'
    if whole and details['matching'] >= details['wanted']:
        return f'{text}.'
    if details['free']:
        return f'{text}. Fewer, or other criteria, would fit.'
    return f'{text}. Other criteria might fit.' if details['criteria'] else f'{text}.'


def _open_to(terms, found):
    """Return the resources, {id: Resource}, that may be chosen."""
    return {key: each for key, each in found.items() if terms.may_have(each)}


def _nearest(core, connection, wishes, terms):
    """Return (the first moment at which all `wishes` fit, the first rounded one), each or None.

    For a running lease both are None, since it cannot start later.
    """
    if len(wishes) > _MOST_WISHES or any(wish.must_keep for wish in wishes):
        return None, None
    whole = all(wish.need.demand.amount is selection.WHOLE for wish in wishes)
    span = terms.span
    try:
        window = interval.Interval(
            span.start, span.start + span.duration + (_AHEAD if whole else _SHARED_AHEAD))
        window.widened(terms.cleaning)
    except OverflowError:
        # The window ends beyond the last year of a datetime, so there is no later time.
        return None, None
    grain = datetime.timedelta(minutes=core.conf.manager.nearest_minutes)
    exact = None
    for search in start_times.growing(core, connection, wishes, terms, window, span.duration,
                                      tries=_TRIES):
        exact = exact or search.first(search.demands, span.duration)
        if exact is not None:
            rounded = (search.first_rounded(search.demands, span.duration, grain) if grain
                       else exact)
            if rounded is not None:
                return exact, rounded
    return exact, None
