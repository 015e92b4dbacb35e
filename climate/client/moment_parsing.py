# SPDX-License-Identifier: Apache-2.0
"""Parsing of moments as people write them on the clock of their time zone: "tomorrow 9:00".

A text that people could read in two ways is refused, and the message names both. For durations see
``climate.moments``.
"""
import dataclasses
import datetime
import re
import typing

from climate import moments
from climate.client import time_zones

MOMENT_HELP = ('"tomorrow 9:00", 17:00, "next monday", "in 2h", now, +2h, "2030-05-01 08:00" (in '
               'your time zone) or 2030-05-01T08:00:00Z')

_LONGEST_TEXT = 100
_DAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_MONTHS = ('january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september',
           'october', 'november', 'december')
_NEAR = {'yesterday': -1, 'today': 0, 'tomorrow': 1, 'day after tomorrow': 2}
_WEEKDAY = ('mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|'
            'sat(?:urday)?|sun(?:day)?')
_MONTH = ('jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|'
          'sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?')
_NUMBER = r'\d{1,2}(?:st|nd|rd|th)?'
_DAY = (r'(?:the )?(?P<near>today|tomorrow|yesterday|day after tomorrow)'
        rf'|(?:(?P<which>next|this) )?(?P<weekday>{_WEEKDAY})'
        rf'|(?:(?P<stated>{_WEEKDAY}),? )?(?P<date>\d{{4}}-\d{{1,2}}-\d{{1,2}}'
        rf'|(?:{_NUMBER} (?:{_MONTH})|(?:{_MONTH}) {_NUMBER})(?:,? \d{{4}})?)')
_TIME = (r'(?P<time>noon|(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d))?)? ?'
         r'(?P<half>am|pm)?)')
_FORMS = tuple(re.compile(form, re.ASCII) for form in (
    rf'(?:on )?(?:{_DAY})(?:,? (?P<at>at )?{_TIME})?',
    rf'(?P<at>at )?{_TIME}(?:,? (?:on )?(?:{_DAY}))?'))
_FROM_NOW = re.compile(r'(?i:in) (.+)|(.+) (?i:from now)', re.ASCII)
_AGO = re.compile(r'(.+) (?i:ago)', re.ASCII)
_ABBREVIATION = re.compile(r'.*\d ([A-Z]{2,5})', re.ASCII)
_MANY_DAYS = re.compile(r'(?:next|this) (week|weekend|month|year)', re.ASCII)
_NUMERIC_DATE = re.compile(r'.*\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b.*', re.ASCII)


@dataclasses.dataclass(frozen=True)
class Understood:
    """The moment that a text means.

    :ivar at: in UTC.
    :ivar wire: what is sent to the service: ISO text, or "now" or "+7200s", which its clock reads.
    :ivar exact: whether the text leaves nothing to understand, as "now" or 2030-05-01T08:00:00Z.
    :ivar note: a sentence about the choice between two moments; '' if there was none.
    """

    at: datetime.datetime
    wire: str
    exact: bool = False
    note: str = ''


def understand(text: str, now: datetime.datetime, zone: time_zones.Zone,
               after: datetime.datetime | None = None) -> Understood:
    """Understand a moment.

    :param after: the moment that a time of day or a weekday follows, such as the start for an end;
        None: `now`.
    :raises NotUnderstoodError: `text` is no moment, or people could read it in two ways.
    """
    words = ' '.join(text.split())
    if len(words) > _LONGEST_TEXT or not words.isascii():
        raise moments.NotUnderstoodError(f'write {MOMENT_HELP}')
    try:
        found = _relative(words, now) or _absolute(words, _Clock(now, zone, after))
        found.at.astimezone(zone)
        return found
    except (moments.OutOfCalendarError, OverflowError, OSError) as error:
        raise moments.NotUnderstoodError(f'the year must be from {moments.YEARS[0]} to '
                                         f'{moments.YEARS[-1]}') from error


class _Clock(typing.NamedTuple):
    """The moment at which a text is read, and the wall clock that it is about."""

    now: datetime.datetime
    zone: time_zones.Zone
    after: datetime.datetime | None

    @property
    def today(self) -> datetime.date:
        return self.now.astimezone(self.zone).date()

    @property
    def first_day(self) -> datetime.date:
        return (self.after or self.now).astimezone(self.zone).date()


def _relative(text: str, now: datetime.datetime) -> Understood | None:
    """Understand a text that does not depend on a zone; None: it does."""
    later, earlier = (form.fullmatch(text) for form in (_FROM_NOW, _AGO))
    if earlier:
        moment = now - datetime.timedelta(seconds=moments.seconds(earlier[1]))
        return Understood(moment, moments.iso(moment))
    plain = f'+{later[1] or later[2]}' if later else text
    if moments.is_now(plain) or moments.is_relative(plain):
        moment = moments.moment(plain, now)
        return Understood(moment, moments.on_the_wire(plain, now), exact=not later)
    return None


def _absolute(text: str, clock: _Clock) -> Understood:
    """Understand a text that has a date, a weekday or a time of day."""
    try:
        written = moments.written(text, clock.now)
    except ValueError:
        pass
    else:
        if written.tzinfo is None:
            return _at(written, clock.zone)
        time_zones.check_offset(written)
        moment = moments.in_utc(written)
        return Understood(moment, moments.iso(moment), exact=True)
    rest, zone = time_zones.split(text)
    if zone:
        return _absolute(rest, clock._replace(zone=zone))
    match = next((found for form in _FORMS if (found := form.fullmatch(text.lower()))), None)
    if match is None:
        raise moments.NotUnderstoodError(_way_out(text))
    time = _time(match)
    if match['near']:
        day = clock.today + datetime.timedelta(days=_NEAR[match['near']])
    elif match['date']:
        day = _date(match, clock)
    elif match['weekday']:
        day = _weekday(match, clock, time)
    else:
        return _next(time, clock)
    return _at(datetime.datetime.combine(day, time), clock.zone)


def _at(shown: datetime.datetime, zone: time_zones.Zone) -> Understood:
    """Return the first moment at which a wall clock shows a time.

    :raises NotUnderstoodError: the clock skips the time.
    """
    found = time_zones.moments_at(shown, zone)
    if not found:
        early, late = time_zones.beside_gap(shown, zone)
        raise moments.NotUnderstoodError(
            f'{shown:%H:%M} does not exist on {shown:%Y-%m-%d}, because the clocks are put forward '
            f'over it; write {early:%H:%M} or {late:%H:%M}')
    note = '' if len(found) == 1 else (
        f'The clocks show {shown:%H:%M} twice then. This is the first time; the second is '
        f'"{time_zones.words(found[1], zone)}".')
    return Understood(found[0], moments.iso(found[0]), note=note)


def _way_out(text: str) -> str:
    """Return what to write instead of a text that is no moment."""
    abbreviation, low = _ABBREVIATION.fullmatch(text), text.lower()
    if abbreviation and abbreviation[1] not in ('AM', 'PM'):
        return (f'"{abbreviation[1]}" may be several time zones; write a name such as '
                'Europe/Berlin, or UTC+1')
    if 'midnight' in low:
        return 'midnight may be either end of a day; write the day that begins then, and 0:00'
    if many := _MANY_DAYS.fullmatch(low):
        return f'a {many[1]} has many moments; write a day, such as "next monday"'
    if _NUMERIC_DATE.fullmatch(low):
        return 'day and month could be exchanged; write the date as 2030-05-01'
    try:
        moments.seconds(text)
    except ValueError:
        return f'write {MOMENT_HELP}'
    return f'it is a duration; write "in {text}" to count from now'


def _time(match: re.Match[str]) -> datetime.time:
    """Return the time of day of a match; midnight if it has none."""
    if match['time'] is None:
        return datetime.time()
    if match['time'] == 'noon':
        return datetime.time(12)
    hour, half = int(match['hour']), match['half']
    if half and not 1 <= hour <= 12:
        raise moments.NotUnderstoodError(f'an hour with {half} is from 1 to 12')
    hour = hour % 12 + (12 if half == 'pm' else 0) if half else hour
    try:
        time = datetime.time(hour, int(match['minute'] or 0), int(match['second'] or 0))
    except ValueError:
        raise moments.NotUnderstoodError('a time of day is from 0:00 to 23:59:59') from None
    if match['minute'] is None and not (half or match['at'] or match['near']):
        raise moments.NotUnderstoodError(f'write the time of day as {hour}:00')
    return time


def _date(match: re.Match[str], clock: _Clock) -> datetime.date:
    """Return the date of a match; without a year, the next one."""
    words = re.findall(r'[a-z]{3,}|\d+', match['date'])
    try:
        if '-' in match['date']:
            date = datetime.date(*map(int, words))
        else:
            month = next(_place(word, _MONTHS) + 1 for word in words if word.isalpha())
            day, *year = (int(word) for word in words if word.isdigit())
            date = datetime.date(year[0] if year else clock.first_day.year, month, day)
            if not year and date < clock.first_day:
                date = date.replace(year=date.year + 1)
    except ValueError:
        raise moments.NotUnderstoodError('there is no such day in the calendar') from None
    if match['stated'] and _place(match['stated'], _DAYS) != date.weekday():
        raise moments.NotUnderstoodError(f'{date} is a {_DAYS[date.weekday()].capitalize()}')
    return date


def _weekday(match: re.Match[str], clock: _Clock, time: datetime.time) -> datetime.date:
    """Return the next day with the weekday of a match."""
    wanted, which = _place(match['weekday'], _DAYS), match['which']
    today = clock.today if which or not clock.after else clock.first_day
    name, ahead = _DAYS[wanted].capitalize(), (wanted - today.weekday()) % 7
    coming, later = (today + datetime.timedelta(days=days) for days in (ahead, ahead + 7))
    is_this_week = wanted >= today.weekday()
    if which == 'next' and ahead and is_this_week:
        raise moments.NotUnderstoodError(f'"next {name}" may be {coming} or {later}; write '
                                         f'"{name}" for the first, or the date')
    if which == 'this' and not is_this_week:
        raise moments.NotUnderstoodError(f'{name} of this week is over; write "next {name}" or a '
                                         'date')
    if which == 'this' or (ahead and not (which == 'next' and clock.after)):
        return coming
    if which == 'next' and not (ahead and clock.after):
        return later
    if clock.after:
        same = time_zones.moments_at(datetime.datetime.combine(coming, time), clock.zone)
        return coming if same and same[-1] > clock.after else later
    raise moments.NotUnderstoodError(f'today is {name}; write "today" or "next {name}"')


def _next(time: datetime.time, clock: _Clock) -> Understood:
    """Return the first moment with a time of day that follows."""
    today, tomorrow = (datetime.datetime.combine(
        clock.first_day + datetime.timedelta(days=days), time) for days in (0, 1))
    found, first = time_zones.moments_at(today, clock.zone), clock.after or clock.now
    if len(found) == 2 and found[0] <= first < found[1]:
        # The clocks are put back today, and show the time once more.
        return Understood(found[1], moments.iso(found[1]))
    # A time that the clock skips today is over after the gap.
    is_over = found[-1] <= first if found else today.time() < first.astimezone(clock.zone).time()
    return _at(tomorrow if is_over else today, clock.zone)


def _place(name: str, names: tuple[str, ...]) -> int:
    return next(place for place, full in enumerate(names) if full.startswith(name[:3]))
