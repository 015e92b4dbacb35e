# SPDX-License-Identifier: Apache-2.0
"""Tables of a series."""
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import times
from climate.client.commands import columns

Table = tuple[list[str], list[typing.Any]]

_FIRST = ('id', 'name', 'status', 'repeat', 'start', 'time_zone', 'duration', 'duration_text',
          'mode', 'same_resources', 'booked_until', 'project_name', 'project_id', 'user_name',
          'user_id', 'created_at', 'updated_at', 'reservations', 'occurrences')
_TIMES = ('booked_until', 'created_at', 'updated_at')
# A series that is only planned has none of these.
_OF_EXISTING = ('id', 'status', *_TIMES)


class OccurrenceLines(columns.Lines):
    """The occurrences of a series, or what each would get."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        """Format an occurrence: its number, its times, its status, its lease and the problem."""
        words = [f'{element["number"]}: {times.for_people(element["start"])}']
        if 'fits' in element:
            words.append(_got(element) if element['fits'] else 'does not fit')
        else:
            words.append(element['status'])
            if element['lease_id']:
                words.append(f'lease {element["lease_id"]}')
            if element['changed']:
                words.append('changed alone')
        if element.get('problem'):
            words.append(element['problem'])
        if element.get('nearest'):
            words.append(f'nearest start: {times.for_people(element["nearest"])}')
        return ', '.join(words)


class SeriesReservationLines(columns.Lines):
    """The reservations of each lease: the type and the request."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        fields = [f'{name}={value}' for name, value in element.items()
                  if name != 'resource_type' and value not in (None, '', [], {})]
        return ' '.join([element['resource_type'], *fields])


def shown(series: Mapping[str, typing.Any], *, exists: bool = True) -> Table:
    """Make a table of all fields of a series; unknown fields come last.

    :param exists: False for the result of a dry run.
    """
    names = [name for name in columns.in_order(series, _FIRST)
             if exists or name not in _OF_EXISTING]
    return names, [cell(name, series[name]) for name in names]


def cell(name: str, value: typing.Any) -> typing.Any:
    """Return the cell of a field of a series."""
    if name in _TIMES:
        return columns.Time(value)
    column = {'occurrences': OccurrenceLines, 'reservations': SeriesReservationLines}.get(name)
    if column is not None:
        return column(value)
    return '' if value is None else value


def _got(element: Mapping[str, typing.Any]) -> str:
    """Return the resources that an occurrence would get, in words."""
    names: Sequence[Sequence[str]] | None = element.get('resources')
    if names:
        return f'fits on {", ".join(name for group in names for name in group)}'
    return 'fits'
