# SPDX-License-Identifier: Apache-2.0
"""Parsing of recurrence rules as people write them: "every monday until 2030-03-31"."""
import datetime
import re

from climate.domain import recurrence_rule

#: The forms that are accepted, for messages and help texts.
HELP = ('"every monday until 2030-03-31", "every weekday for 10 times", "every 2 weeks on tuesday '
        'and thursday until 2030-03-31", "every month on the last day for 6 times", "every month '
        'on the first monday until 2030-12-31", or an RRULE such as '
        '"FREQ=WEEKLY;BYDAY=MO;UNTIL=20300331"')

_UNITS = {'day': 'DAILY', 'week': 'WEEKLY', 'month': 'MONTHLY', 'year': 'YEARLY'}
_ADVERBS = {'daily': 'every day', 'weekly': 'every week', 'monthly': 'every month',
            'yearly': 'every year'}
_DAYS = ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
_WORKDAYS = 'MO,TU,WE,TH,FR'
_WEEKEND = 'SA,SU'
_DAY = (r'(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|'
        r'sat(?:urday)?|sun(?:day)?)s?')
_DAYS_LIST = rf'{_DAY}(?:(?:,? and |, ?| ){_DAY})*'
_PLACES = {'first': 1, 'second': 2, 'third': 3, 'fourth': 4, 'last': -1}
_END = (r'(?: until (?P<until>\d{4}-\d{1,2}-\d{1,2})'
        r'|(?: for|,)? (?P<count>\d{1,4}) times?)?')
_FORM = re.compile(
    rf'every (?:(?P<days>{_DAYS_LIST}|weekday|working day|weekend)'
    r'|(?:(?P<number>\d{1,4}|other) )?(?P<unit>day|week|month|year)s?'
    r'(?: on (?:(?:the )?(?P<last>last) day'
    r'|(?:the |day )?(?P<date>\d{1,2})(?:st|nd|rd|th)?'
    rf'|(?:the )?(?P<place>first|second|third|fourth|last) (?P<placed>{_DAY})'
    rf'|(?P<on>{_DAYS_LIST}|weekdays)))?){_END}', re.ASCII)


def rule_of(text: str) -> str:
    """Return the RRULE that a text means; an RRULE is returned as it is.

    :raises BadRuleError: the text has none of the accepted forms.
    """
    words = ' '.join(text.lower().split())
    if '=' in words:
        return text.strip()
    for adverb, form in _ADVERBS.items():
        if words == adverb or words.startswith((f'{adverb} ', f'{adverb},')):
            words = form + words[len(adverb):]
    match = _FORM.fullmatch(words) if words.isascii() and len(words) <= 200 else None
    if match is None:
        raise recurrence_rule.BadRuleError(f'"{text[:80]}" is not understood: write {HELP}')
    return ';'.join([*_frequency(match), *_day_parts(match), *_end(match)])


def _frequency(match: re.Match[str]) -> list[str]:
    if match['days']:
        return ['FREQ=WEEKLY']
    number = '2' if match['number'] == 'other' else match['number']
    return [f'FREQ={_UNITS[match["unit"]]}', *([f'INTERVAL={int(number)}'] if number else [])]


def _day_parts(match: re.Match[str]) -> list[str]:
    """Return the parts of a rule that choose its days.

    :raises BadRuleError: the days do not belong to the unit.
    """
    unit = match['unit']
    if match['days'] or match['on']:
        if unit not in (None, 'week'):
            raise recurrence_rule.BadRuleError(
                f'weekdays repeat each week: write "every week on {match["on"]}", or "every month '
                'on the first monday"')
        return [f'BYDAY={_weekdays(match["days"] or match["on"])}']
    if not (match['last'] or match['date'] or match['place']):
        return []
    if unit != 'month':
        raise recurrence_rule.BadRuleError(
            f'a day of the month repeats each month: write "every month on …", not "every {unit} '
            'on …"')
    if match['place']:
        return [f'BYDAY={_PLACES[match["place"]]:+d}{_weekdays(match["placed"])}'.replace('+', '')]
    return [f'BYMONTHDAY={-1 if match["last"] else int(match["date"])}']


def _weekdays(text: str) -> str:
    """Return days of the week as an RRULE has them, from Monday on."""
    if text in ('weekday', 'weekdays', 'working day'):
        return _WORKDAYS
    if text == 'weekend':
        return _WEEKEND
    places = {next(place for place, day in enumerate(_DAYS) if day.startswith(word[:3]))
              for word in re.findall('[a-z]+', text) if word != 'and'}
    return ','.join(_DAYS[place][:2].upper() for place in sorted(places))


def _end(match: re.Match[str]) -> list[str]:
    if match['until']:
        try:
            return [f'UNTIL={datetime.date(*map(int, match["until"].split("-"))):%Y%m%d}']
        except ValueError as error:
            raise recurrence_rule.BadRuleError(
                f'"{match["until"]}" is no day of the calendar') from error
    return [f'COUNT={int(match["count"])}'] if match['count'] else []
