# SPDX-License-Identifier: Apache-2.0
"""Read the limit book from its document. Errors name the field, such as ``limits.3.most``."""
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import decimal
from typing import Any

from climate import errors
from climate.domain import book_fields
from climate.domain import durations
from climate.domain import peak_hours
from climate.domain import requirement
from climate.domain.limits import rules

ZoneOf = Callable[[str], datetime.tzinfo | None]

#: The maximum number of digits and decimals of a bound.
BOUND_DIGITS = 15
BOUND_DECIMALS = 6
_COMMON = frozenset({'name', 'measure', 'projects', 'users', 'resource_type', 'pool'})
_AMOUNT = frozenset({'most', 'unit', 'per', 'criteria', 'hours'})
_OF_LEASE = frozenset({'most', 'criteria'})
# {measure: its fields besides _COMMON}.
_FIELDS = {
    rules.Measure.RESOURCE_HOURS: _AMOUNT | {'window', 'period', 'timezone'},
    rules.Measure.RESOURCES: _AMOUNT,
    rules.Measure.POOL_SHARE: _AMOUNT,
    rules.Measure.OPEN_LEASES: frozenset({'most', 'per'}),
    rules.Measure.WAITING_LEASES: frozenset({'most', 'per'}),
    rules.Measure.HELD_OFFERS: frozenset({'most', 'per'}),
    rules.Measure.LEASE_LENGTH: _OF_LEASE,
    rules.Measure.AHEAD: _OF_LEASE,
    rules.Measure.NOTICE: frozenset({'least', 'criteria'}),
    rules.Measure.PAUSE: frozenset({'least', 'per', 'criteria'}),
    rules.Measure.ROLES: frozenset({'roles', 'criteria'}),
}
_ALL_PERCENT = decimal.Decimal(100)


def read(stored: rules.StoredLimitBook, zone_of: ZoneOf) -> rules.LimitBook:
    """Read a version of the limit book. Whether its pools and types exist is not checked.

    :param zone_of: the function that returns the time zone with a name, or None.
    :raises BadField: the document has an error; the error names the field.
    """
    document = stored.document
    limits = tuple(_limit(f'limits.{index}', limit, zone_of)
                   for index, limit in enumerate(document.get('limits', ())))
    extensions = tuple(_extension(f'extensions.{index}', extension)
                       for index, extension in enumerate(document.get('extensions', ())))
    for field, scoped in (('limits', limits), ('extensions', extensions)):
        _refuse_overlaps(field, scoped)
    return rules.LimitBook(stored.version, stored.valid_from, limits, extensions)


def _limit(field: str, document: Mapping[str, Any], zone_of: ZoneOf) -> rules.Limit:
    measure = _choice(field, document, 'measure', rules.Measure)
    _refuse_fields(field, document, measure)
    per = _choice(field, document, 'per', rules.Per, rules.Per.PROJECT)
    if document.get('users') and per is not rules.Per.USER and 'per' in _FIELDS[measure]:
        raise errors.BadField(field=f'{field}.users', reason=(
            'a limit for some users adds up the leases of each user: add "per: user".'))
    bound = 'least' if measure in rules.WITH_LEAST else 'most'
    of_duration = measure in rules.OF_DURATIONS
    return rules.Limit(
        **_scope(field, document), measure=measure, per=per,
        most=None if of_duration else _most(f'{field}.most', document, measure),
        duration=_duration(field, _required(field, document, bound), bound, 0)
        if of_duration else None,
        roles=frozenset(_required(field, document, 'roles'))
        if measure is rules.Measure.ROLES else frozenset(),
        unit=document.get('unit', rules.RESOURCES),
        criteria=_criteria(f'{field}.criteria', document.get('criteria')),
        hours=_hours(f'{field}.hours', document.get('hours'), zone_of),
        **_span(field, document, measure, zone_of))


def _most(field: str, document: Mapping[str, Any], measure: rules.Measure
          ) -> decimal.Decimal | None:
    if measure is rules.Measure.ROLES:
        return None
    value = _required(field.rpartition('.')[0], document, 'most')
    decimals = 0 if measure in rules.OF_COUNTS else BOUND_DECIMALS
    most = book_fields.number(field, value, decimals, 'a number', digits=BOUND_DIGITS)
    if measure is rules.Measure.POOL_SHARE and most > _ALL_PERCENT:
        raise errors.BadField(field=field, reason=f'{most} is more than 100 percent.')
    return most


def _span(field: str, document: Mapping[str, Any], measure: rules.Measure,
          zone_of: ZoneOf) -> dict[str, Any]:
    """Return the fields of a Limit for the time over which resource-hours are added up."""
    if measure is rules.Measure.POOL_SHARE and 'pool' not in document:
        raise errors.BadField(field=f'{field}.pool', reason=(
            'a share is a part of one pool: name the pool, such as "pool: host".'))
    if measure is not rules.Measure.RESOURCE_HOURS:
        return {}
    if ('window' in document) == ('period' in document):
        raise errors.BadField(field=f'{field}.window', reason=(
            'resource-hours are added up over a rolling window or a calendar period: write one of '
            '"window: 90d" and "period: quarter".'))
    if 'window' in document:
        if 'timezone' in document:
            raise errors.BadField(field=f'{field}.timezone', reason=(
                'a rolling window has no time zone: leave it out, or write a period.'))
        return {'window': _duration(field, document['window'], 'window')}
    return {'period': _choice(field, document, 'period', rules.Period),
            'zone': book_fields.zone(f'{field}.timezone', document.get('timezone', 'UTC'),
                                     zone_of)}


def _extension(field: str, document: Mapping[str, Any]) -> rules.Extension:
    bounds = ('within', 'most', 'times', 'total')
    if not any(name in document for name in bounds):
        raise errors.BadField(field=field, reason=(
            f'it restricts nothing: write one of {", ".join(bounds)} at least.'))
    if 'total_from' in document and 'total' not in document:
        raise errors.BadField(field=f'{field}.total_from', reason=(
            'it tells from when "total" is measured: add "total", such as "total: 30d".'))
    return rules.Extension(
        **_scope(field, document), **_within(field, document),
        most=_optional_duration(field, document, 'most'),
        total=_optional_duration(field, document, 'total'),
        total_from=_choice(field, document, 'total_from', rules.TotalFrom, rules.TotalFrom.START),
        times=int(book_fields.number(f'{field}.times', document['times'], 0, 'a number'))
        if 'times' in document else None)


def _within(field: str, document: Mapping[str, Any]) -> dict[str, Any]:
    value = document.get('within')
    if not (isinstance(value, str) and value.endswith('%')):
        return {'within': _optional_duration(field, document, 'within')}
    percent = book_fields.number(f'{field}.within', value[:-1].strip(),
                                 book_fields.PERCENT_DECIMALS, 'a percentage')
    if not 0 < percent <= _ALL_PERCENT:
        raise errors.BadField(field=f'{field}.within', reason=(
            f'{percent} percent is no part of a lease: write more than 0 % and at most 100 %.'))
    return {'within_percent': percent}


def _scope(field: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Scoped."""
    if document.get('projects') and document.get('users'):
        raise errors.BadField(field=f'{field}.users', reason=(
            'a rule is for projects or for users: write two rules.'))
    name = document['name']
    if not name.strip() or not name.isprintable():
        raise errors.BadField(field=f'{field}.name', reason=(
            f'{ascii(name)[:80]} cannot be shown in refusals: write printable characters, and not '
            'only spaces.'))
    return {'name': name, 'projects': frozenset(document.get('projects', ())),
            'users': frozenset(document.get('users', ())),
            'resource_type': document.get('resource_type'), 'pool': document.get('pool')}


def _criteria(field: str, value: Any) -> requirement.Requirement:
    try:
        return requirement.parse(value)
    except errors.MalformedRequirement as error:
        raise errors.BadField(field=field, reason=(
            f'{error.kwargs["part"]} cannot be read: {error.kwargs["reason"]}')) from error


def _hours(field: str, document: Mapping[str, Any] | None,
           zone_of: ZoneOf) -> peak_hours.PeakHours | None:
    if document is None:
        return None
    zone = book_fields.zone(f'{field}.timezone', document.get('timezone', 'UTC'), zone_of)
    return peak_hours.PeakHours(zone, (book_fields.window(field, document, _ALL_PERCENT),))


def _required(field: str, document: Mapping[str, Any], name: str) -> Any:
    if document.get(name) is None:
        raise errors.BadField(field=f'{field}.{name}', reason=(
            f'the measure "{document["measure"]}" needs it.'))
    return document[name]


def _duration(field: str, value: Any, name: str, at_least: int = 1) -> datetime.timedelta:
    return datetime.timedelta(seconds=durations.seconds(f'{field}.{name}', value, at_least))


def _optional_duration(field: str, document: Mapping[str, Any], name: str
                       ) -> datetime.timedelta | None:
    # A bound of zero refuses every extension, but a window of zero would be a mistake.
    if name not in document:
        return None
    return _duration(field, document[name], name, 1 if name == 'within' else 0)


def _choice(field: str, document: Mapping[str, Any], name: str, kinds: Any,
            default: Any = None) -> Any:
    if name not in document and default is not None:
        return default
    value = document.get(name)
    if value not in list(kinds):
        raise errors.BadField(field=f'{field}.{name}', reason=(
            f'"{str(value)[:80]}" is unknown: choose from {", ".join(kinds)}.'))
    return kinds(value)


def _refuse_fields(field: str, document: Mapping[str, Any], measure: rules.Measure) -> None:
    """Refuse fields that the measure does not have."""
    known: Collection[str] = _COMMON | _FIELDS[measure]
    for name in document:
        if name not in known:
            raise errors.BadField(field=f'{field}.{str(name)[:80]}', reason=(
                f'the measure "{measure}" has no such field; its fields are '
                f'{", ".join(sorted(known))}.'))


def _refuse_overlaps(field: str, scoped_rules: Sequence[rules.Scoped]) -> None:
    """Refuse two rules with one name, and two of a group that apply to the same owner.

    :raises BadField: the error names both rules.
    """
    names: dict[str, int] = {}
    groups: dict[Any, list[tuple[int, rules.Scoped]]] = {}
    for index, rule in enumerate(scoped_rules):
        if rule.name in names:
            raise errors.BadField(field=f'{field}.{index}.name', reason=(
                f'"{rule.name[:80]}" is the name of {field}.{names[rule.name]}, too: give each a '
                'name of its own.'))
        names[rule.name] = index
        for other_index, other in groups.setdefault(rule.group, []):
            if rule.shares_scope_with(other):
                raise errors.BadField(field=f'{field}.{index}', reason=(
                    f'it overlaps {field}.{other_index} ("{other.name[:80]}"): both restrict the '
                    'same for the same projects or users. Remove one of them, or change its '
                    'projects or users.'))
        groups[rule.group].append((index, rule))
