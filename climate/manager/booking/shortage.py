# SPDX-License-Identifier: Apache-2.0
"""Explain why too few resources are free, in counts and in words."""
import datetime

from climate import errors
from climate.db import allocations
from climate.domain import acquisition_reasons
from climate.domain import facets
from climate.domain import interval
from climate.domain import requirement
from climate.domain import selection
from climate.domain import texts
from climate.manager.booking import criteria
from climate.manager.booking import start_times

# The time in which the nearest later start is searched. It is shorter for shared resources, because
# their usage changes at more moments.
_AHEAD = datetime.timedelta(days=365)
_SHARED_AHEAD = datetime.timedelta(days=30)
# For more wishes than this, no later start is searched.
_MOST_WISHES = 10
# The greatest number of moments at which the search checks whether several wishes fit together.
_TRIES = 20


def explained(core, connection, wishes, terms, error):
    """Return a NotEnough that explains the NotEnough `error` of ``joint_selection.choose``.

    It has counts for each criterion of the wish that does not fit, and the nearest time at which
    all wishes fit; owners read a rounded time. Equal wishes are counted together, because 17
    reservations of one server each are 17 servers for the user.
    """
    with start_times.SEARCH_SLOTS:
        nearest, rounded = _nearest(core, connection, wishes, terms)
    place = error.kwargs['place']
    need = wishes[place].need
    reservable = {
        key: resource for key, resource in allocations.reservable_resources(
            connection, need.pool).items() if terms.may_have(resource)}
    names = requirement.names(need.requirement)
    values = criteria.values_of(core, connection, need.pool, reservable, names)
    matching = sum(requirement.matches(need.requirement, values[key]) for key in reservable)
    same = [_is_same(wish.need, need) for wish in wishes]
    # Every earlier wish got its at_least copies.
    served = sum(wish.need.demand.at_least
                 for wish, is_same in zip(wishes[:place], same[:place], strict=True) if is_same)
    counts = {
        'what': need.pool, 'free': served + error.kwargs.get('free', 0),
        'wanted': sum(wish.need.demand.at_least
                      for wish, is_same in zip(wishes, same, strict=True) if is_same),
        'total': len(reservable), 'matching': matching,
        'criteria': [
            {'criterion': words,
             'met_by': sum(requirement.matches(part, values[key]) for key in reservable)}
            for words, part in criteria.in_words(core, need)],
    }
    existing = criteria.existing_values(core, connection, need, reservable)
    if existing:
        counts['values'] = existing
    text = (f'{_sentence(need, counts)}{_missing_units(need, reservable.values())}.'
            f'{facets.in_words(existing)}')
    if any(wish.must_keep for wish in wishes):
        way_out = _way_out_of_running(connection, wishes, need, terms)
    else:
        way_out = texts.Text(_way_out(need, counts, rounded), _way_out(need, counts, nearest))
    return errors.NotEnough(
        f'{text} {way_out.operator}', **counts,
        nearest=nearest.isoformat() if nearest else None,
        owner_nearest=rounded.isoformat() if rounded else None,
        owner_message=f'{text} {way_out.owner}')


def _is_same(one, other):
    """Return True if two Needs differ at most in their number of copies."""
    return (one.pool == other.pool and repr(one.requirement) == repr(other.requirement)
            and one.called == other.called and one.demand.amount == other.demand.amount
            and one.demand.spread == other.demand.spread)


def _sentence(need, counts):
    """Return a sentence, without a full stop, with the demand and the number that fits."""
    whole = need.demand.amount is selection.WHOLE
    free, wanted, total = counts['free'], counts['wanted'], counts['total']
    if whole:
        text = (f'Only {free} of {wanted} {texts.plural(need.pool)} are free for all of '
                f'the time asked for: {total} are enrolled')
    else:
        text = (f'{counted(wanted, need.called or f"place on {texts.plural(need.pool)}")} '
                f'{"was" if wanted == 1 else "were"} asked for, and '
                f'{f"only {free}" if free else "none"} fit{"s" if free < 2 else ""} for all of the '
                f'time: {counted(total, need.pool)} {"is" if total == 1 else "are"} enrolled')
    if counts['criteria']:
        text += ', ' + ', '.join(f'{each["met_by"]} with {each["criterion"]}'
                                 for each in counts['criteria'])
        if len(counts['criteria']) > 1 or whole:
            text += f', {counts["matching"]} meet all criteria'
    return text


def _missing_units(need, pool_resources):
    """Return the end of a sentence that names the units that no resource of the pool has."""
    if need.demand.amount is selection.WHOLE or not pool_resources:
        return ''
    missing = sorted(need.demand.amount.keys() - {
        unit for each in pool_resources for unit, total in each.capacity.items() if total})
    return f'; no {need.pool} is known to have {" or ".join(missing)}' if missing else ''


def _way_out(need, counts, nearest):
    """Return a sentence that suggests a request that would fit."""
    whole = need.demand.amount is selection.WHOLE
    free, wanted = counts['free'], counts['wanted']
    if nearest is not None:
        # Round up to a whole minute, because some clients send starts without seconds.
        minute = nearest + (datetime.timedelta(minutes=1) - interval.RESOLUTION)
        subject = 'It fits' if wanted == 1 or whole else f'All {wanted} fit'
        return f'{subject} from {minute:%Y-%m-%d %H:%M} UTC.'
    if whole and counts['matching'] >= wanted:
        return 'Ask for another time, or for less.'
    if free:
        return f'{"Fewer" if whole else f"{free} or fewer"}, or other criteria, would fit.'
    if counts['criteria']:
        return 'Other criteria might fit.'
    return 'Ask the operator of the cloud for more of them.'


def _way_out_of_running(connection, wishes, need, terms):
    """Return the reason why a running lease, which keeps its resources, does not fit.

    Only operators read the moment from which other leases have its resources.
    """
    runs = f'The lease runs, so it keeps the {texts.plural(need.pool)} that it has'
    kept = {key for wish in wishes for key in wish.keep
            if wish.must_keep and wish.need.pool == need.pool}
    booked = terms.booked(connection, kept, terms.span)
    starts = [min(span.start for span, _ in bookings) for bookings in booked.values() if bookings]
    if need.demand.amount is not selection.WHOLE or not starts:
        return texts.same(f'{runs}. Ask for less time, or for less.')
    moment = acquisition_reasons.shown(max(min(starts), terms.span.start).replace(microsecond=0))
    others = f'other leases have {len(starts)} of them'
    way_out = 'Ask for an earlier end, or for less.'
    return texts.Text(f'{runs}; {others} for a part of the time. {way_out}',
                      f'{runs}; {others} from {moment} on. {way_out}')


def counted(number, called):
    """Return the number and name of copies, such as "2 servers of flavor m1.small".

    :param called: the name of one copy, whose first word can become plural.
    """
    noun, space, details = called.partition(' ')
    return f'{number} {noun if number == 1 else texts.plural(noun)}{space}{details}'


def _nearest(core, connection, wishes, terms):
    """Return (the first moment at which all wishes fit or None, the first rounded one or None).

    For a running lease both are None, because it cannot start later.
    """
    if any(wish.must_keep for wish in wishes):
        return None, None
    wishes = _summed(wishes)
    if len(wishes) > _MOST_WISHES:
        return None, None
    whole = all(wish.need.demand.amount is selection.WHOLE for wish in wishes)
    span = terms.span
    try:
        window = interval.Interval(
            span.start, span.start + span.duration + (_AHEAD if whole else _SHARED_AHEAD))
        window.widened(terms.cleaning)
    except OverflowError:
        # The window ends beyond the last year of a datetime.
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


def _summed(wishes):
    """Return the Wishes; one Wish for the sum of the copies replaces equal Wishes."""
    sums = []
    for wish in wishes:
        demand = wish.need.demand
        for index, total in enumerate(sums):
            if _may_be_added(total.need, wish.need):
                sums[index] = total.demanding(at_least=total.need.demand.at_least + demand.at_least,
                                              at_most=total.need.demand.at_most + demand.at_most)
                break
        else:
            sums.append(wish)
    return sums


def _may_be_added(one, other):
    # Shared copies that must be together or apart are not added, because the rule holds for each
    # wish. Optional wishes are not added to others, because they do not delay a lease.
    return (_is_same(one, other) and one.optional == other.optional
            and (one.demand.spread is selection.Spread.ANY
                 or one.demand.amount is selection.WHOLE))
