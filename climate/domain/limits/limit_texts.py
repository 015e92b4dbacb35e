# SPDX-License-Identifier: Apache-2.0
"""Limits and refusals in words, and their figures for programs."""
from collections.abc import Mapping
from collections.abc import Set
import datetime
import decimal
import fractions
import math
from typing import Any

from climate import moments
from climate.domain import requirement
from climate.domain import texts
from climate.domain.limits import fitting
from climate.domain.limits import holdings
from climate.domain.limits import measures
from climate.domain.limits import rules

_COUNTED = {
    rules.Measure.OPEN_LEASES: ('open lease', 'open leases'),
    rules.Measure.WAITING_LEASES: ('waiting lease', 'waiting leases'),
    rules.Measure.HELD_OFFERS: ('held offer', 'held offers'),
}
_REMEDIES = {
    rules.Measure.OPEN_LEASES: 'End or delete a lease, or wait until one ends.',
    rules.Measure.WAITING_LEASES: 'Delete a waiting lease, or wait until one gets its resources.',
    rules.Measure.HELD_OFFERS: 'Take or release an offer, or wait until one expires.',
}


def description(limit: rules.Limit, private: Set[str] = frozenset()) -> str:
    """Return the rule of a limit in words, such as "at most 4 open leases".

    :param private: the names of properties that the reader may not see.
    """
    words = _rule(limit)
    if limit.resource_type is not None and limit.pool is None:
        words += f', of the type {limit.resource_type}'
    elif limit.pool is not None and (
            limit.measure not in rules.OF_AMOUNTS or limit.unit != rules.RESOURCES):
        words += f', of {texts.plural(limit.pool)}'
    if limit.criteria != requirement.NOTHING:
        hides_criteria = limit.property_names & private
        words += ', for some resources' if hides_criteria else f', with {limit.criteria}'
    if limit.hours is not None:
        words += ', within certain hours of the week'
    return f'{words}, for each user' if limit.per is rules.Per.USER else words


def _rule(limit: rules.Limit) -> str:
    most, length = limit.most or decimal.Decimal(0), limit.duration or datetime.timedelta(0)
    match limit.measure:
        case rules.Measure.RESOURCE_HOURS:
            per = (f'within any {moments.span(limit.window)}' if limit.window
                   else f'in a {limit.period}')
            return f'at most {shown(most)} {unit_name(limit, 1).removesuffix("s")}-hours {per}'
        case rules.Measure.RESOURCES:
            return f'at most {shown(most)} {unit_name(limit, most)} at one moment'
        case rules.Measure.POOL_SHARE:
            return f'at most {shown(most)} % of all {unit_name(limit, 2)}'
        case rules.Measure.LEASE_LENGTH:
            return f'leases of at most {moments.span(length)}'
        case rules.Measure.AHEAD:
            return f'a start at most {moments.span(length)} ahead'
        case rules.Measure.NOTICE:
            return f'a start at least {moments.span(length)} ahead'
        case rules.Measure.PAUSE:
            return f'a pause of at least {moments.span(length)} between two leases'
        case rules.Measure.ROLES:
            return f'only with the role {" or ".join(sorted(limit.roles))}'
        case _:
            return f'at most {shown(most)} {_COUNTED[limit.measure][most != 1]}'


def unit_name(limit: rules.Limit, count: Any) -> str:
    """Return the unit of an amount in words, such as "hosts" or "vcpus"."""
    if limit.unit != rules.RESOURCES:
        return limit.unit
    noun = limit.pool or 'resource'
    return noun if count == 1 else texts.plural(noun)


def sentence(breach: measures.Breach, request: holdings.Request, fit: fitting.Fit,
             private: Set[str] = frozenset()) -> str:
    """Return the refusal of a request: the rule, what is used, what is left, what would fit.

    :param private: the names of properties that the reader may not see.
    """
    facts = f'{_facts(breach, request)} {_remedy(breach, fit)}'.rstrip()
    return f'Limit "{breach.limit.name}" ({description(breach.limit, private)}): {facts}'


def _facts(breach: measures.Breach, request: holdings.Request) -> str:
    limit = breach.limit
    used, more = shown(breach.used, up=True), shown(breach.value - breach.used, up=True)
    left = shown(breach.remaining)
    match limit.measure:
        case rules.Measure.RESOURCE_HOURS:
            return (f'{used} are used {_span(breach)}, and this request adds {more}, but {left} '
                    f'of {shown(breach.bound)} are left.')
        case rules.Measure.RESOURCES | rules.Measure.POOL_SHARE:
            return (f'{used} are held {_span(breach)}, and this request adds {more}, but {left} '
                    f'of {shown(breach.bound)} are left.')
        case rules.Measure.LEASE_LENGTH:
            return f'this lease would last {_length(breach)}.'
        case rules.Measure.AHEAD | rules.Measure.NOTICE:
            if breach.value == 0:
                return 'this lease would start as soon as it has its resources.'
            return f'this lease would start {_length(breach)} from now.'
        case rules.Measure.PAUSE:
            other = breach.other.id if breach.other is not None else ''
            if _overlaps(breach, request):
                return f'this lease overlaps {other}, and neither is within the time of the other.'
            return f'the pause between this lease and {other} would be {_length(breach)}.'
        case rules.Measure.ROLES:
            return 'you do not have this role.'
        case _:
            one, many = _COUNTED[limit.measure]
            return f'there {"is" if breach.used == 1 else "are"} ' + texts.counted(
                int(breach.used), one, many) + '.'


def _overlaps(breach: measures.Breach, request: holdings.Request) -> bool:
    """Return whether a lease overlaps the other lease of a Breach of a pause."""
    if breach.span is None or request.after is None:
        return False
    return request.after.start < breach.span[1] and breach.span[0] < request.after.end


def _length(breach: measures.Breach) -> str:
    """Return the value of a limit of durations in words."""
    return moments.span(datetime.timedelta(seconds=float(breach.value)))


def _span(breach: measures.Breach) -> str:
    if breach.span is None:
        return 'then'
    start, end = breach.span
    return f'from {moment(start)} to {moment(end)}'


def _remedy(breach: measures.Breach, fit: fitting.Fit) -> str:
    if breach.limit.measure is rules.Measure.ROLES:
        return 'Ask your operator for it, or ask for other resources.'
    if breach.limit.measure in _REMEDIES:
        return _REMEDIES[breach.limit.measure]
    options = [f'{word} {moment(at)}' for word, at in (
        ('an end until', fit.latest_end), ('a start from', fit.earliest_start),
        ('a start until', fit.latest_start)) if at is not None]
    if fit.units:
        options.insert(0, f'{fit.units} {unit_name(breach.limit, fit.units)}')
    if not options:
        return 'Ask for less, or for another time.'
    return f'Ask for {", or for ".join(options)}.'


def moment(at: datetime.datetime) -> str:
    """Return a moment in words, with seconds only if it has any."""
    return f'{at:%Y-%m-%d %H:%M} UTC' if not at.second else f'{at:%Y-%m-%d %H:%M:%S} UTC'


def shown(amount: Any, up: bool = False) -> str:
    """Return an amount as text with at most two decimals, rounded down, or up."""
    number = figure(amount, up)
    return f'{number:,}'


def figure(amount: Any, up: bool = False) -> int | float:
    """Return an amount as a number with at most two decimals, rounded down, or up."""
    exact = fractions.Fraction(amount) * 100
    hundredths = math.ceil(exact) if up else math.floor(exact)
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def details(breach: measures.Breach, request: holdings.Request, fit: fitting.Fit
            ) -> Mapping[str, Any]:
    """Return the figures of a refusal, ready for JSON."""
    limit = breach.limit
    bound = 'least' if limit.measure in rules.WITH_LEAST else 'most'
    would_fit = {name: value for name, value in (
        ('end', fit.latest_end and moments.iso(fit.latest_end)),
        ('start', fit.earliest_start and moments.iso(fit.earliest_start)),
        ('latest_start', fit.latest_start and moments.iso(fit.latest_start)),
        ('resources', fit.units)) if value is not None}
    figures: dict[str, Any] = {'limit': limit.name, 'measure': str(limit.measure)}
    if limit.measure is rules.Measure.ROLES:
        return {**figures, 'roles': sorted(limit.roles), 'would_fit': {}}
    figures |= {bound: figure(breach.bound), 'value': figure(breach.value, up=bound == 'most')}
    if limit.measure not in rules.OF_DURATIONS:
        figures |= {'used': figure(breach.used, up=True), 'remaining': figure(breach.remaining)}
    until = breach.span[1] if breach.span is not None else _first_end(breach, request)
    return {**figures, 'until': until and moments.iso(until), 'would_fit': would_fit}


def _first_end(breach: measures.Breach, request: holdings.Request) -> datetime.datetime | None:
    """Return the moment at which the first counted lease ends or offer expires, or None."""
    if breach.limit.measure not in rules.OF_COUNTS:
        return None
    kinds = ({holdings.Kind.OFFER} if breach.limit.measure is rules.Measure.HELD_OFFERS
             else {holdings.Kind.LEASE})
    return min((each.held_until or each.end for each in request.others_of(breach.limit)
                if each.kind in kinds and each.may_count(breach.limit)), default=None)
