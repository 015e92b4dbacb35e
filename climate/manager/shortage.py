# SPDX-License-Identifier: Apache-2.0
"""Why there are not enough resources, in counts and in words."""
import datetime

from climate import errors
from climate.db import allocations
from climate.domain import fit
from climate.domain import interval
from climate.domain import requirement
from climate.manager import criteria
from climate.manager.availability import search

# How far ahead the nearest later time is looked for: what many share changes at more moments.
_AHEAD = datetime.timedelta(days=365)
_SHARED_AHEAD = datetime.timedelta(days=30)
# For more wishes than these at once it is not looked for at all.
_MOST_WISHES = 10
# At so many moments of each of these it is tried whether several wishes go together.
_TRIES = 20


def explained(core, connection, wishes, terms, error):
    """The NotEnough `error` of ``joint.choose`` with its reasons.

    They are counts for each criterion of the wish that got too little, and the nearest time at
    which there is room for all wishes.
    """
    with search.TURNS:
        nearest = _nearest(core, connection, wishes, terms)
    need = wishes[error.kwargs['place']].need
    everything = _open_to(terms, allocations.reservable_resources(connection, need.pool))
    parts = requirement.criteria(need.requirement)
    wanted = requirement.names(need.requirement)
    values = criteria.values_of(core, connection, need.pool, everything, wanted)
    counts = [{'criterion': str(part),
               'met_by': sum(requirement.matches(part, values[key]) for key in everything)}
              for part in parts]
    matching = sum(requirement.matches(need.requirement, values[key]) for key in everything)
    details = {
        'what': need.pool, 'wanted': need.demand.at_least, 'free': error.kwargs.get('free', 0),
        'total': len(everything), 'criteria': counts, 'matching': matching,
        'nearest': nearest.isoformat() if nearest else None,
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
        minute = nearest + (datetime.timedelta(minutes=1) - interval.RESOLUTION)
        return f'{text}. It fits from {minute:%Y-%m-%d %H:%M} UTC.'
    if whole and details['matching'] >= details['wanted']:
        return f'{text}.'
    if details['free']:
        return f'{text}. Fewer, or other criteria, would fit.'
    return f'{text}. Other criteria might fit.' if details['criteria'] else f'{text}.'


def _open_to(terms, found):
    """Those of the resources, {id: Resource}, that may be chosen at all."""
    return {key: each for key, each in found.items() if terms.may_have(each)}


def _nearest(core, connection, wishes, terms):
    """The first moment at which all `wishes` have room, or None.

    None also where they are of a lease that runs: it cannot start later.
    """
    if len(wishes) > _MOST_WISHES or any(wish.must_keep for wish in wishes):
        return None
    whole = all(wish.need.demand.amount is fit.WHOLE for wish in wishes)
    span = terms.span
    try:
        window = interval.Interval(
            span.start, span.start + span.duration + (_AHEAD if whole else _SHARED_AHEAD))
        window.widened(terms.cleaning)
    except OverflowError:
        # No calendar goes so far: there is no later time for so long a lease.
        return None
    moments = (each.first(each.demands, span.duration) for each in search.growing(
        core, connection, wishes, terms, window, span.duration, tries=_TRIES))
    return next((moment for moment in moments if moment is not None), None)
