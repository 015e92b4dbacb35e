# SPDX-License-Identifier: Apache-2.0
"""Columns whose values have one form for people and another for programs."""
import collections
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import textwrap
import typing

from cliff import columns
import yaml

from climate.client import times
from climate.client.commands import server_create

#: Fields of all reservations; the other fields are those of the request.
COMMON = ('id', 'lease_id', 'resource_type', 'status', 'missing_resources', 'resources_changed',
          'resources', 'created_at', 'updated_at')
#: The text instead of the times of a lease that waits for its resources.
NOT_KNOWN = 'not known yet'
# YAML is wrapped at this width, which keeps short mappings on one line.
_YAML_WIDTH = 120
# In a terminal that is narrower than the names of the fields, values have this width.
_LEAST_WIDTH = 20
_MOMENTS = ('not_after', 'next_at')


class Time(columns.FormattableColumn[str | None]):
    """A time; for people with "UTC", for programs as the service sends it."""

    def human_readable(self) -> str:
        return times.for_people(self._value)


class UnknownTime(Time):
    """The start or the end of a lease that waits for its resources: for people not known yet."""

    def human_readable(self) -> str:
        return NOT_KNOWN if self._value else ''


class HistoryTime(Time):
    """The time of an entry of a history; None stands for the present status."""

    def human_readable(self) -> str:
        return super().human_readable() if self._value else 'now'


class Steps(columns.FormattableColumn[int | None]):
    """The step by which a lease is extended, in words for people."""

    def human_readable(self) -> str:
        if not self._value:
            return ''
        step = times.in_words(datetime.timedelta(seconds=self._value))
        return f'goes on in steps of {step} while nobody else needs its resources'


class SharedName(columns.FormattableColumn[str]):
    """The name of a lease that another project has shared with the caller, marked for people."""

    def human_readable(self) -> str:
        return f'{self._value} (shared)'


class Shared(columns.FormattableColumn[Mapping[str, typing.Any] | None]):
    """The share by which the caller sees a lease of another project, in words for people."""

    def human_readable(self) -> str:
        if not self._value:
            return ''
        until = f' until {times.for_people(self._value["until"])}' if self._value['until'] else ''
        return f'by project {self._value["by"]}, as {self._value["role"]}{until}'


class AcquireColumn(columns.FormattableColumn[Mapping[str, typing.Any] | None]):
    """The acquisition of the resources of a lease: its type, fields and progress."""

    def human_readable(self) -> str:
        acquisition = dict(self._value or {})
        plan = acquisition.pop('plan', None)
        words = [str(acquisition.pop('type', '')), *(
            f'{name}={times.for_people(value) if name in _MOMENTS else value}'
            for name, value in acquisition.items() if value is not None)]
        return '\n'.join([' '.join(words), *_moves(plan or {})])


def fitted(names: Sequence[str], cells: Sequence[typing.Any], width: int) -> list[typing.Any]:
    """Return the values of a table of fields as people read them, with long lines wrapped.

    A part of a wrapped line is indented by two more spaces than the line.
    """
    width = max(_LEAST_WIDTH, width - borders(2) - max(map(len, names), default=0))
    return [_wrapped_cell(cell, width) for cell in cells]


def in_order(names: Mapping[str, typing.Any], first: Sequence[str]) -> list[str]:
    """Sort names by the alphabet; those in `first` come first."""
    return [*(name for name in first if name in names),
            *sorted(name for name in names if name not in first)]


def borders(number: int) -> int:
    """Return the width of the borders of a table with `number` columns."""
    return 3 * number + 1


def _wrapped_cell(cell: typing.Any, width: int) -> typing.Any:
    text = cell.human_readable() if isinstance(cell, columns.FormattableColumn) else cell
    if not isinstance(text, str):
        return text
    return '\n'.join(textwrap.fill(
        line, width, break_on_hyphens=False,
        subsequent_indent=' ' * (len(line) - len(line.lstrip()) + 2))
        for line in text.splitlines())


class Lines(columns.FormattableColumn[Sequence[typing.Any]]):
    """A list, with one line for each element."""

    def human_readable(self) -> str:
        return '\n'.join(self.line(element) for element in self._value)

    @classmethod
    def line(cls, element: typing.Any) -> str:
        return str(element)


class Words(columns.FormattableColumn[Sequence[str]]):
    """A list of words, in one line."""

    def human_readable(self) -> str:
        return ', '.join(self._value)


class Pairs(columns.FormattableColumn[Mapping[str, typing.Any]]):
    """A mapping, with one line for each name and value."""

    def human_readable(self) -> str:
        return '\n'.join(f'{name}={value}' for name, value in sorted(self._value.items()))


class PriceColumn(columns.FormattableColumn[Mapping[str, typing.Any] | None]):
    """A price: the amount with its currency; empty without a price."""

    def human_readable(self) -> str:
        return f'{self._value["amount"]} {self._value["currency"]}' if self._value else ''


class PriceLines(PriceColumn):
    """A price with one line for each charge below it."""

    def human_readable(self) -> str:
        lines = self._value['lines'] if self._value else ()
        return '\n'.join([super().human_readable(), *map(self._line, lines)])

    @staticmethod
    def _line(line: Mapping[str, typing.Any]) -> str:
        words = [f'  {line["amount"]}', line['kind']]
        if 'hours' in line:
            words.append(f'{line["hours"]} h of {line["pool"]} at {line["rate"]}')
        if 'percent' in line:
            words.append(f'x {line["percent"]} %')
        return ' '.join(words)


class Nested(columns.FormattableColumn[typing.Any]):
    """A mapping, or a list of mappings, as YAML."""

    def human_readable(self) -> str:
        text = yaml.safe_dump(self._value, sort_keys=False, default_flow_style=None,
                              width=_YAML_WIDTH)
        return str(text).rstrip('\n')


class ReservationLines(Lines):
    #: The words before the ids of the resources.
    had = 'has'

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        """Format a reservation: id, type, status, the request and the resources."""
        fields = [f'{name}={",".join(value) if name == "depends_on" else value}'
                  for name, value in element.items()
                  if name not in COMMON and value not in (None, '', [], {})]
        words = [element['id'], element['resource_type'], element['status'], *fields]
        if element.get('resources'):
            counts = collections.Counter(element['resources'])
            words.append(f'{cls.had} ' + ','.join(
                f'{resource} ({count} times)' if count > 1 else str(resource)
                for resource, count in counts.items()))
        for flag in ('missing_resources', 'resources_changed'):
            if element.get(flag):
                words.append(flag.replace('_', ' '))
        return ' '.join(words)


class WaitingReservationLines(ReservationLines):
    """The reservations of a lease that waits; the resources held back for it cannot be used yet."""

    had = 'held back:'


class ReservationTypeLines(Lines):
    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return f'{element["resource_type"]} {element["status"]}'


class ServerCreateLines(Lines):
    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return server_create.line(element)


class SubLeaseLines(Lines):
    """The sub-leases of a lease, one on each line: its name, project and end."""

    @classmethod
    def line(cls, element: typing.Any) -> str:
        project = element['project_name'] or element['project_id']
        return f'{element["name"]} of project {project} until {times.for_people(element["end"])}'


class EventLines(Lines):
    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return f'{times.for_people(element["time"])} {element["type"]} {element["status"]}'


class AllocationLines(Lines):
    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        """Format an allocation of a resource: the period, the lease and its owner."""
        start = element.get('start')
        end = element.get('end') or element.get('end_date')
        count = element.get('count', 1)
        times_taken = f', {count} times' if count > 1 else ''
        owner = element.get('user_name') or element.get('user_id')
        project = element.get('project_name') or element.get('project_id')
        facts = {'lease': element.get('lease_name') or element.get('lease_id'),
                 'owner': owner, 'project': project, 'reservation': element['id']}
        return '\n'.join([
            f'{times.for_people(start)} to {times.for_people(end)}{times_taken}',
            *(f'  {name} {value}' for name, value in facts.items() if value)])


def _moves(plan: Mapping[str, typing.Any]) -> list[str]:
    """Format the progress of each host of a plan, and of each server if the service shows it."""
    lines = []
    for host in plan.get('hosts', ()):
        lines.append(f'{host.get("host", "a host")}, {host["state"]}: {host["moved"]} of '
                     f'{host["servers"]} servers moved')
        lines += [f'  server {move["server_id"]} to {move["to"]}, {move["state"]}'
                  for move in host.get('moves', ())]
    return lines
