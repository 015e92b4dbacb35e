# SPDX-License-Identifier: Apache-2.0
"""The occurrences of a series: the rule, the local start and the time zone determine them.

Each occurrence starts at the same local time. A local time that the clocks skip is moved forward by
the length of the gap. A local time that the clocks show twice means the first time.
"""
import collections.abc
import dataclasses
import datetime
import itertools
import zoneinfo

from climate import errors
from climate.domain import interval
from climate.domain import recurrence_rule
from climate.domain.series import rule_words

_FIELD = 'repeat'
_YEAR_DAYS = 366
# After this year the calendar has no space for the search of occurrences.
_LAST_CHECKED_YEAR = datetime.MAXYEAR - 60
_ORDER = ('FREQ', 'INTERVAL', '', 'WKST', 'UNTIL', 'COUNT')
_BY_PARTS = _ORDER.index('')
_LAST_SECOND = datetime.time(23, 59, 59, 999999)


@dataclasses.dataclass(frozen=True)
class SeriesLimits:
    """The limits of a series: its length in years, and its number of occurrences."""

    years: int
    occurrences: int


@dataclasses.dataclass(frozen=True)
class Timing:
    """The times of a series.

    :ivar rule: a normalised RRULE, see `timing`.
    :ivar start: the local time of the first start, without a zone.
    :ivar seconds: the duration of each occurrence.
    :ivar time_zone: the name of the zone in the database of IANA.
    """

    rule: str
    start: datetime.datetime
    seconds: int
    time_zone: str


def timing(text: str, start: datetime.datetime, seconds: int, time_zone: str,
           limits: SeriesLimits) -> Timing:
    """Return the Timing of a new series. Its start is that of the first occurrence.

    :param text: a rule in the words of people, or an RRULE.
    :param start: the local time from which the rule counts, without a zone.
    :raises BadField: the rule or the zone cannot be used; the error says why.
    """
    zone(time_zone)
    try:
        parts = recurrence_rule.parts_of(rule_words.rule_of(text))
        recurrence_rule.refuse_malformed(parts, 'occurrence')
        checked = Timing(_normalised(parts), start, seconds, time_zone)
        _refuse_endless(parts, limits)
        local_starts = list(itertools.islice(_local_starts(checked), limits.occurrences + 1))
        _refuse_count(local_starts, start, limits)
        _refuse_unreached(parts, local_starts, limits)
    except recurrence_rule.BadRuleError as error:
        raise errors.BadField(field=_FIELD, reason=f'{error}.') from error
    try:
        _refuse_overlap(spans(checked))
    except OverflowError as error:
        raise errors.BadField(field='duration', reason=(
            f'an occurrence of {seconds} seconds would end after the year {datetime.MAXYEAR}: '
            'make it shorter.')) from error
    return dataclasses.replace(checked, start=local_starts[0])


def zone(name: str) -> zoneinfo.ZoneInfo:
    """Return the time zone of a name.

    :raises BadField: there is no such zone.
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise errors.BadField(field='time_zone', reason=(
            f'"{name[:40]}" is not a time zone: write a name such as Europe/Berlin, or UTC.'
        )) from error


def moment_at(local: datetime.datetime, time_zone: str) -> datetime.datetime:
    """Return the moment, in UTC, at which the clocks of a zone show a local time.

    :param local: a time without a zone. For skipped and repeated times see this module.
    """
    # With fold=0 Python applies the offset before a change of the clocks, which is this rule.
    return local.replace(tzinfo=zone(time_zone), fold=0).astimezone(datetime.UTC)


def local_of(moment: datetime.datetime, time_zone: str) -> datetime.datetime:
    """Return the local time, without a zone, that the clocks of a zone show at a moment."""
    return moment.astimezone(zone(time_zone)).replace(tzinfo=None)


def spans(planned: Timing) -> list[interval.Interval]:
    """Return the Intervals of all occurrences, in order."""
    length = datetime.timedelta(seconds=planned.seconds)
    return [interval.Interval(start, start + length) for start in (
        moment_at(local, planned.time_zone) for local in _local_starts(planned))]


def ended_before(planned: Timing, number: int) -> Timing:
    """Return a Timing that has only the occurrences before a number, which is 2 or more."""
    parts = recurrence_rule.parts_of(planned.rule)
    return dataclasses.replace(planned, rule=_normalised(
        {**_endless(parts), 'COUNT': str(number - 1)}))


def beginning_with(planned: Timing, number: int) -> Timing:
    """Return a Timing that has only the occurrences from a number on."""
    local_starts = list(_local_starts(planned))
    parts = recurrence_rule.parts_of(planned.rule)
    count = len(local_starts) - number + 1
    # INTERVAL counts weeks or months from the start, so the new start must be an occurrence.
    return dataclasses.replace(
        planned, start=local_starts[number - 1],
        rule=_normalised({**_endless(parts), 'COUNT': str(count)}))


def _local_starts(planned: Timing) -> collections.abc.Iterator[datetime.datetime]:
    parts = recurrence_rule.parts_of(planned.rule)
    # A stored rule has an end, so the bound only ends the search of a rule that never occurs.
    bound = (planned.start + recurrence_rule.CHECKED
             if planned.start.year < _LAST_CHECKED_YEAR else datetime.datetime.max)
    return recurrence_rule.starts(parts, planned.start, recurrence_rule.count_of(parts),
                                  _local_end(parts, planned.time_zone), bound)


def _local_end(parts: recurrence_rule.Parts, time_zone: str) -> datetime.datetime | None:
    """Return the last local time at which an occurrence may start, or None."""
    until = recurrence_rule.until_of(parts)
    if until is None:
        return None
    if not isinstance(until, datetime.datetime):
        return datetime.datetime.combine(until, _LAST_SECOND)
    if until.tzinfo is None:
        return until
    try:
        return local_of(until, time_zone)
    except OverflowError as error:
        raise recurrence_rule.BadRuleError(
            f'UNTIL={parts["UNTIL"]} is outside the calendar of {time_zone}') from error


def _normalised(parts: recurrence_rule.Parts) -> str:
    """Return the text of a rule with its parts in a fixed order."""
    known = {name: text for name, text in parts.items()
             if (name, text) != ('INTERVAL', '1')}
    return ';'.join(f'{name}={known[name]}' for name in sorted(
        known, key=lambda name: (_ORDER.index(name) if name in _ORDER else _BY_PARTS, name)))


def _endless(parts: recurrence_rule.Parts) -> dict[str, str]:
    return {name: text for name, text in parts.items() if name not in ('COUNT', 'UNTIL')}


def _refuse_endless(parts: recurrence_rule.Parts, limits: SeriesLimits) -> None:
    """Refuse a rule without an end, or with one that is too late.

    :raises BadRuleError: the text says what to write.
    """
    if 'COUNT' not in parts and 'UNTIL' not in parts:
        raise recurrence_rule.BadRuleError(
            'it has no end: add "until 2030-03-31" or "for 10 times", or UNTIL or COUNT to an '
            f'RRULE; a series lasts at most {limits.years} years')


def _refuse_count(local_starts: collections.abc.Sequence[datetime.datetime],
                  start: datetime.datetime, limits: SeriesLimits) -> None:
    """Refuse a rule that has no occurrence, too many, or one that is too late.

    :raises BadRuleError: the text says why.
    """
    if not local_starts:
        raise recurrence_rule.BadRuleError(
            f'it has no occurrence from {start:%Y-%m-%d %H:%M} on; check its days and its end')
    if len(local_starts) > limits.occurrences:
        raise recurrence_rule.BadRuleError(
            f'it has more than {limits.occurrences} occurrences: end it earlier, or make several '
            'series')
    if local_starts[-1] - start > limits.years * datetime.timedelta(days=_YEAR_DAYS):
        raise recurrence_rule.BadRuleError(
            f'its last occurrence is on {local_starts[-1]:%Y-%m-%d}, but a series lasts at most '
            f'{limits.years} years: end it earlier')


def _refuse_unreached(parts: recurrence_rule.Parts,
                      local_starts: collections.abc.Sequence[datetime.datetime],
                      limits: SeriesLimits) -> None:
    """Refuse a rule whose COUNT is greater than the number of occurrences that were found.

    :raises BadRuleError: the other occurrences are too late.
    """
    count = recurrence_rule.count_of(parts)
    if count is not None and len(local_starts) < count:
        raise recurrence_rule.BadRuleError(
            f'only {len(local_starts)} of its {count} occurrences begin within the next decades, '
            f'but a series lasts at most {limits.years} years: repeat more often, or end it '
            'earlier')


def _refuse_overlap(intervals: collections.abc.Iterable[interval.Interval]) -> None:
    """Refuse occurrences that overlap each other.

    :raises BadField: the error names the first two.
    """
    for one, following in itertools.pairwise(intervals):
        if one.end > following.start:
            raise errors.BadField(field=_FIELD, reason=(
                f'its occurrences overlap: one lasts until {one.end:%Y-%m-%d %H:%M} UTC, and the '
                f'next starts at {following.start:%Y-%m-%d %H:%M} UTC; make them shorter, or '
                'repeat less often.'))
