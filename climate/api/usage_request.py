# SPDX-License-Identifier: Apache-2.0
"""Parse the queries of usage, utilisation and energy."""
import datetime
import unicodedata

from climate import errors
from climate.api import body
from climate.api import times
from climate.domain import energy
from climate.domain import interval
from climate.domain import usage_groups
from climate.domain import utilisation

USAGE = ('start', 'end', 'group_by', 'project_id', 'all_projects', 'format')
UTILISATION = ('start', 'end', 'step', 'pool', 'format')
ENERGY = ('start', 'end', 'pool')
FORMATS = ('json', 'csv')

_DAY = datetime.timedelta(days=1)
_HOUR = datetime.timedelta(hours=1)
_LONGEST = datetime.timedelta(days=3660)
# Future days are limited, because each is counted from all leases. Past days are stored as sums.
_FURTHEST_DAY = datetime.timedelta(days=366)
# The default spans.
_USAGE_SPAN = 30 * _DAY
_UTILISATION_SPAN = 7 * _DAY
_MOST_STEPS = 2_000
# The default step is the first one with which the span has at most _FEW_STEPS steps.
_STEPS = tuple(hours * _HOUR for hours in (1, 3, 6, 12, 24, 7 * 24, 30 * 24))
_FEW_STEPS = 200
_MOST_PROPERTIES = 5


def usage(request, now, project_id, hidden):
    """Parse the query of GET /v1/usage, as a ``usage_groups.UsageQuery``.

    :param project_id: the project that may be seen; None: all.
    :param hidden: whether private properties and facts may be groups.
    :raises BadRequest: a field is wrong; the error names it.
    """
    end = _moment(request, 'end', now, now)
    start = _moment(request, 'start', now, _back(end, _USAGE_SPAN))
    groups = _groups(request)
    if 'day' in groups and end > now + _FURTHEST_DAY:
        raise errors.BadField(field='end', reason=(
            f'by day, it may be at most {_FURTHEST_DAY.days} days from now: ask for an earlier '
            'end, or leave "day" out of group_by.'))
    start, end = _span(start, end, _DAY)
    return usage_groups.UsageQuery(start, end, groups, project_id, hidden)


def pool_steps(request, now):
    """Parse the query of GET /v1/utilisation, as a ``utilisation.UtilisationQuery``.

    :raises BadRequest: a field is wrong; the error names it.
    """
    start = _moment(request, 'start', now, now)
    end = _moment(request, 'end', now, start + _UTILISATION_SPAN)
    start, end = _span(start, end, _HOUR)
    step = _step(request, start, end)
    return utilisation.UtilisationQuery(start, end, step // datetime.timedelta(seconds=1),
                                        request.GET.get('pool'))


def energy_of(request, now):
    """Parse the query of GET /v1/energy, as an ``energy.EnergyQuery``.

    :raises BadRequest: a field is wrong; the error names it.
    """
    end = _moment(request, 'end', now, now)
    start = _moment(request, 'start', now, _back(end, _USAGE_SPAN))
    _refuse_span(start, end)
    return energy.EnergyQuery(start, end, request.GET.get('pool'))


def _moment(request, name, now, default):
    return times.asked(name, request.GET[name], now) if name in request.GET else default


def _span(start, end, grain):
    """Return a span widened to full days or hours.

    :raises BadField: the end is not after the start, or the span is too long.
    """
    _refuse_span(start, end)
    first = interval.rounded_up(start, grain)
    return first if first == start else first - grain, interval.rounded_up(end, grain)


def _refuse_span(start, end):
    """Refuse a span that is too long, or whose end is not after its start."""
    if end <= start:
        raise errors.BadField(field='end', reason=(
            f'it must be after the start, {start:%Y-%m-%d %H:%M:%S} UTC.'))
    if end - start > _LONGEST:
        raise errors.BadField(field='end', reason=(
            f'the span has {(end - start).days} days, and a response has at most '
            f'{_LONGEST.days}: ask for a later start or an earlier end.'))


def _groups(request):
    """Return the words of group_by, which may have commas and may be repeated in the query."""
    # Names of properties are stored in the Unicode form NFC.
    words = [word for text in request.GET.getall('group_by')
             for word in unicodedata.normalize('NFC', text).split(',')]
    for word in words:
        body.refuse_unprintable(word, 'group_by', 1)
        named = word.startswith(usage_groups.PROPERTY) and word != usage_groups.PROPERTY
        if not named and word not in usage_groups.GROUPS:
            raise errors.BadField(field='group_by', reason=(
                f'"{word[:80]}" is not a group; the groups are {", ".join(usage_groups.GROUPS)} '
                f'and {usage_groups.PROPERTY}NAME.'))
        if words.count(word) > 1:
            raise errors.BadField(field='group_by', reason=f'"{word[:80]}" is given twice.')
    if sum(word.startswith(usage_groups.PROPERTY) for word in words) > _MOST_PROPERTIES:
        raise errors.BadField(field='group_by', reason=(
            f'it has more than {_MOST_PROPERTIES} properties.'))
    return tuple(words)


def _step(request, start, end):
    """Return the step of the query, or the default for its span.

    :raises BadField: the step is not a number of full hours, or the span has too many steps.
    """
    span = end - start
    if 'step' not in request.GET:
        return next((step for step in _STEPS if span <= step * _FEW_STEPS), _STEPS[-1])
    step = datetime.timedelta(seconds=times.seconds('step', _number(request.GET['step'])))
    if step % _HOUR:
        raise errors.BadField(field='step', reason=(
            f'"{request.GET["step"][:40]}" is not a number of full hours: write "1h", "6h", "1d".'))
    if -(-span // step) > _MOST_STEPS:
        raise errors.BadField(field='step', reason=(
            f'it makes {-(-span // step)} steps, and a response has at most {_MOST_STEPS}: '
            'ask for a longer step or a shorter span.'))
    return step


def _number(text):
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text


def _back(moment, span):
    """Return the moment a span earlier, but not before the year 1970."""
    first = times.moment('start', '1970-01-01 00:00')
    return max(first, moment - span) if moment > first else moment
