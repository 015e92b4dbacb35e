# SPDX-License-Identifier: Apache-2.0
"""How leases look: as rows of a list, and one with all it has."""
from collections.abc import Iterable
from collections.abc import Mapping
import typing

from climate.client import statuses
from climate.client import times
from climate.client.commands import columns
from climate.client.commands import server_create

Table = tuple[list[str], list[typing.Any]]

_LIST = ['id', 'name', 'status', 'start', 'end']
_LONG = [*_LIST, 'before_end', 'status_reason', 'degraded', 'project_id', 'reservations']
_SHOW = ('id', 'name', 'status', 'status_reason', 'degraded', 'start', 'end', 'remaining',
         'before_end', 'acquire', 'ended_at', 'deleted_at', 'project_id', 'user_id', 'created_at',
         'updated_at', 'reservations', 'server_create', 'events')
_TIMES = ('start', 'end', 'before_end', 'ended_at', 'deleted_at', 'created_at', 'updated_at')


def rows(leases: Iterable[Mapping[str, typing.Any]], *, long: bool) -> Table:
    """Names of columns, and a row for each lease."""
    names = _LONG if long else _LIST
    return names, [tuple(_cell(name, lease.get(name), columns.ReservationTypes)
                         for name in names) for lease in leases]


def shown(lease: Mapping[str, typing.Any], *, exists: bool = True) -> Table:
    """Names and values of all that a lease has; names we do not know come last.

    :param exists: False for the answer to a dry run, with whose ids nothing can be booted.
    """
    full = {**lease}
    if lease['status'] != statuses.SOUGHT:
        # What is still looked for neither starts nor ends at its moments.
        full['remaining'] = times.remaining(lease, times.utcnow())
    if exists:
        full['server_create'] = server_create.of_lease(lease)
    names = [*(name for name in _SHOW if name in full),
             *sorted(name for name in full if name not in _SHOW)]
    return names, [_cell(name, full[name], columns.Reservations) for name in names]


def story(history: Iterable[Mapping[str, typing.Any]], lease: Mapping[str, typing.Any]) -> Table:
    """Names of columns, and a row for each thing that happened; the last is how it stands."""
    told = [(line['at'], line['who'], line['what'], line['why']) for line in history]
    told.append((None, '', lease['status'], lease.get('status_reason')))
    return ['at', 'who', 'what', 'why'], [
        (columns.Told(at), who, what, why or '') for at, who, what, why in told]


def _cell(name: str, value: typing.Any, reservations: type[columns.Lines]) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    if name == 'reservations':
        return reservations(value or [])
    if name == 'server_create':
        return columns.ServerCreate(value)
    if name == 'acquire':
        return columns.Acquire(value)
    if name == 'events':
        return columns.Events(sorted(value or [], key=lambda event: event['time']))
    return '' if value is None else value
