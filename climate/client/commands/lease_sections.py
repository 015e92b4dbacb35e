# SPDX-License-Identifier: Apache-2.0
"""A lease as text in sections: what it is, its resources, how to boot servers, its events."""
from collections.abc import Iterable
from collections.abc import Mapping
import json
import shlex
import textwrap
import typing

from climate.client import status_words
from climate.client import times
from climate.client.commands import columns
from climate.client.commands import server_create

# Fields that the reservation line shows itself, or that say nothing to people.
_OF_LINE = (*columns.COMMON, 'min', 'max', 'resource_properties', 'hypervisor_properties')
_RECORD = ('id', 'project_id', 'user_id', 'has_trust', 'created_at', 'updated_at', 'deleted_at')
_APART = ('reservations', 'server_create', 'events', *_RECORD)
_EVENTS = {'start_lease': 'start', 'before_end_lease': 'reminder before the end',
           'end_lease': 'end'}
_DONE = {'done': 'done', 'undone': 'planned'}
_OPERATORS = {'==': '='}

#: {(id of a reservation, id of a resource): resource}.
_Resources = Mapping[tuple[str, str], Mapping[str, typing.Any]]


def text(lease: Mapping[str, typing.Any], cells: Mapping[str, str],
         resources: Iterable[Mapping[str, typing.Any]], width: int | None) -> str:
    """Format a lease for people.

    :param cells: the texts of all fields of the lease; empty ones are left out.
    :param resources: the resources of the lease with their names and health; others have ids.
    :param width: the width of the terminal; None: lines are as long as they must be.
    """
    by_id = {(each['reservation_id'], each['id']): each for each in resources}
    sections = [
        (f'Lease {lease["name"]}', _pairs(cells, [name for name in cells if name not in _APART
                                                  and name != 'name'])),
        ('Reservations', [line for reservation in lease['reservations']
                          for line in _reservation(lease, reservation, by_id)]),
        ('Boot a server with this lease', _commands(lease) if 'server_create' in cells else []),
        ('Events', [_event(event) for event in sorted(
            lease.get('events') or (), key=lambda event: str(event['time']))]),
        ('Record', _pairs(cells, _RECORD))]
    return '\n\n'.join('\n'.join([heading, *(_wrapped(line, width) for line in lines)])
                       for heading, lines in sections if lines) + '\n'


def criteria_text(criteria: typing.Any) -> str:
    """Format criteria as the conditions of --require, such as "vcpus>=16 and gpu=A100"."""
    if isinstance(criteria, str):
        try:
            criteria = json.loads(criteria)
        except ValueError:
            return str(criteria)
    if not isinstance(criteria, list) or not criteria:
        return str(criteria)
    operator, *rest = criteria
    if operator in ('and', 'or'):
        return f' {operator} '.join(
            f'({criteria_text(part)})' if part and part[0] in ('and', 'or') else criteria_text(part)
            for part in rest)
    if len(rest) == 2 and str(rest[0]).startswith('$') and not isinstance(rest[1], list):
        return f'{rest[0][1:]}{_OPERATORS.get(operator, operator)}{rest[1]}'
    return json.dumps(criteria)


def _pairs(cells: Mapping[str, str], names: Iterable[str]) -> list[str]:
    present = {name: cells[name] for name in names if cells.get(name) not in ('', 'False', None)}
    indent = max(map(len, present), default=0) + 4
    return [line for name, cell in present.items()
            for line in _hanging(f'  {name}'.ljust(indent), cell)]


def _hanging(name: str, cell: str) -> list[str]:
    first, *others = cell.splitlines()
    return [f'{name}{first}', *(f'{"":{len(name)}}{line}' for line in others)]


def _reservation(lease: Mapping[str, typing.Any], reservation: Mapping[str, typing.Any],
                 by_id: _Resources) -> list[str]:
    """Format a reservation: type, status and resources; then one line for each fact."""
    resources = reservation.get('resources') or ()
    held = 'held back: ' if lease['status'] == status_words.ACQUIRING else ''
    got = held + ', '.join(_resource(reservation, resource, by_id)
                           for resource in dict.fromkeys(resources))
    head = f'  {reservation["resource_type"]}, {reservation["status"]}'
    facts = [_count(reservation), *(
        f'{name.replace("_", " ")}: {_value(value)}' for name, value in reservation.items()
        if name not in _OF_LINE and value not in (None, '', [], {}, 'default'))]
    criteria = [criteria_text(reservation[name])
                for name in ('resource_properties', 'hypervisor_properties')
                if reservation.get(name)]
    if criteria:
        facts.append(f'that meet {" and ".join(criteria)}')
    facts += [flag.replace('_', ' ') for flag in ('missing_resources', 'resources_changed')
              if reservation.get(flag)]
    facts += [line for resource in dict.fromkeys(resources)
              if (reservation['id'], resource) in by_id
              for line in _trouble(lease, by_id[reservation['id'], resource])]
    return [f'{head}: {got}' if resources else head,
            *(f'    {fact}' for fact in facts if fact), f'    id {reservation["id"]}']


def _resource(reservation: Mapping[str, typing.Any], resource: str, by_id: _Resources) -> str:
    count = list(reservation['resources']).count(resource)
    known = by_id.get((reservation['id'], resource), {})
    name = _name(known.get('name'), resource)
    return f'{name} ({count} times)' if count > 1 else name


def _name(name: str | None, resource: str) -> str:
    """Return the name of a resource, or the text for one whose name the caller may not see."""
    return name or (f'number {resource}' if str(resource).isdecimal() else str(resource))


def _trouble(lease: Mapping[str, typing.Any], resource: Mapping[str, typing.Any]) -> list[str]:
    """Return lines about a resource that does not work, and how to swap it; [] if it works."""
    health = resource['health']
    if health['state'] == 'well':
        return []
    words = f'{_name(resource["name"], resource["id"])} is '
    words += status_words.of_resource(health['state'])
    if health.get('since'):
        words += f' since {times.for_people(health["since"])}'
    if health.get('reason'):
        words += f': {health["reason"]}'
    if lease['status'] != 'active':
        return [words]
    swap = shlex.join(['lease', 'swap', lease['name'], resource['name'] or resource['id']])
    return [words, f'to swap it: climate {swap}']


def _count(reservation: Mapping[str, typing.Any]) -> str:
    fewest, most = reservation.get('min'), reservation.get('max')
    if fewest is None or most is None:
        return ''
    return f'{most} wanted' if fewest == most else f'{fewest} to {most} wanted'


def _value(value: typing.Any) -> str:
    return ', '.join(map(str, value)) if isinstance(value, list) else str(value)


def _commands(lease: Mapping[str, typing.Any]) -> list[str]:
    lines = []
    for record in server_create.of_lease(lease):
        if 'arguments' in record:
            if not record['usable']:
                lines.append('  not before the lease is active:')
            # Two lines, so that the command can be copied from a narrow terminal.
            lines += [f'  {line}' for line in server_create.command(
                record['arguments'], ' \\\n    ').splitlines()]
        else:
            lines.append(f'  {server_create.line(record)}')
    return lines


def _event(event: Mapping[str, typing.Any]) -> str:
    status = _DONE.get(event['status'], event['status'])
    return (f'  {times.for_people(event["time"])}  '
            f'{_EVENTS.get(event["type"], event["type"])}, {status}')


def _wrapped(line: str, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    indent = len(line) - len(line.lstrip()) + 4
    return textwrap.fill(line, width, subsequent_indent=' ' * indent, break_on_hyphens=False)
