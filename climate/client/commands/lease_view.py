# SPDX-License-Identifier: Apache-2.0
"""Tables of leases: a list, a single lease, and its history."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from climate.client import status_words
from climate.client import times
from climate.client.commands import columns
from climate.client.commands import server_create

Table = tuple[list[str], list[typing.Any]]

_NARROW = ['id', 'name', 'status', 'remaining']
_LIST = ['id', 'name', 'status', 'start', 'end']
_LONG = [*_LIST, 'before_end', 'status_reason', 'degraded', 'owner', 'project', 'project_id',
         'reservations']
_ALL = [*_LONG, 'remaining', 'user_id', 'user_name', 'project_name', 'created_at', 'started_at',
        'idle_since', 'reclaim_at', 'shared', 'series_id', 'parent_id', 'actions']
_IDLE = ['id', 'name', 'idle_since', 'reclaim_at', 'end']
_SHOW = ('id', 'name', 'status', 'status_reason', 'degraded', 'start', 'end', 'remaining',
         'before_end', 'while_free', 'extended_count', 'idle_since', 'reclaim_at', 'idle_exempt',
         'acquire', 'series_id', 'started_at',
         'ended_at', 'deleted_at', 'project_name', 'project_id',
         'user_name', 'user_id', 'shared', 'share_count', 'parent_name', 'parent_id', 'sub_leases',
         'has_trust', 'created_at', 'updated_at',
         'reservations', 'server_create', 'events', 'actions')
_OBSTACLES = {'own': 'another lease of the project', 'others': 'a lease of another project',
              'offer': 'a held offer', 'maintenance': 'maintenance',
              'out_of_order': 'out of service'}
# {column: the fields of a lease that it shows; the first one that the service tells}
_OWNERS = {'owner': ('user_name', 'user_id'), 'project': ('project_name', 'project_id')}
# A lease that waits for its resources has these only when it has got them.
_PLANNED = ('start', 'end', 'before_end')
_TIMES = ('start', 'end', 'before_end', 'idle_since', 'reclaim_at', 'started_at', 'ended_at',
          'deleted_at', 'created_at', 'updated_at')


@dataclasses.dataclass(frozen=True)
class Columns:
    """The choice of the columns of a list.

    :ivar narrow: for people: the time until the start or the end, instead of both moments.
    :ivar named: the caller chooses among all columns.
    :ivar idle: they are idle leases: with the columns about that.
    :ivar dates: the caller asks who has something when: with the owner and both moments.
    :ivar projects: the leases may belong to several projects: with the owner and the project.
    """

    long: bool = False
    narrow: bool = False
    named: bool = False
    idle: bool = False
    dates: bool = False
    projects: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        if self.named or self.long:
            return _ALL if self.named else _LONG
        names = _IDLE if self.idle else _NARROW if self.narrow and not self.dates else _LIST
        owner = [name for name, is_shown in (
            ('project', self.projects), ('owner', self.projects or self.dates)) if is_shown]
        place = names.index('name') + 1
        return [*names[:place], *owner, *names[place:]]


def rows(leases: Iterable[Mapping[str, typing.Any]], chosen: Columns) -> Table:
    """Make a table with a row for each lease, with the chosen Columns."""
    names = chosen.names
    return names, [tuple(_cell(name, _with_remaining(lease), columns.ReservationTypeLines)
                         for name in names) for lease in leases]


def shown(lease: Mapping[str, typing.Any], *, exists: bool = True) -> Table:
    """Make a table of all fields of a lease; unknown fields come last.

    :param exists: False for the result of a dry run, whose ids cannot be used to boot servers.
    """
    full = _with_remaining(lease)
    if exists:
        full['server_create'] = server_create.of_lease(lease)
    names = columns.in_order(full, _SHOW)
    reservations = (columns.WaitingReservationLines if lease['status'] == status_words.ACQUIRING
                    else columns.ReservationLines)
    return names, [_cell(name, full, reservations) for name in names]


def latest_end(found: Mapping[str, typing.Any]) -> Table:
    """Make a table of the answer to how far a lease can be extended."""
    groups: dict[str, list[str]] = {}
    for obstacle in found['obstacles']:
        groups.setdefault(_booking(obstacle), []).append(
            obstacle['resource_name'] or obstacle['resource_id'])
    return ['latest_end', 'limited', 'reason', 'opens_at', 'obstacles'], [
        columns.Time(found['end']), found['limited'], found['reason'] or '',
        columns.Time(found.get('opens_at')),
        columns.Lines([f'{booking}: {", ".join(names)}' for booking, names in groups.items()])]


def _booking(obstacle: Mapping[str, typing.Any]) -> str:
    """Return a booking that prevents a later end, in words."""
    who = (f'lease {obstacle["lease_name"]}' if obstacle['lease_name']
           else _OBSTACLES[obstacle['kind']])
    return f'{who} from {times.for_people(obstacle["start"])}'


def history(entries: Iterable[Mapping[str, typing.Any]], lease: Mapping[str, typing.Any]
            ) -> Table:
    """Make a table with a row for each entry of a history, and one for the present status."""
    lines = [(entry['at'], entry['who'], entry['what'], entry['why']) for entry in entries]
    lines.append((None, '', lease['status'], lease.get('status_reason')))
    return ['at', 'who', 'what', 'why'], [
        (columns.HistoryTime(at), who, what, why or '') for at, who, what, why in lines]


def _with_remaining(lease: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    # A lease without resources does not start or end at its dates.
    if lease['status'] == status_words.ACQUIRING:
        return {**lease}
    return {**lease, 'remaining': times.remaining(lease, times.utcnow())}


def _cell(name: str, lease: Mapping[str, typing.Any], reservations: type[columns.Lines]
          ) -> typing.Any:
    if name in _OWNERS:
        return next((lease[key] for key in _OWNERS[name] if lease.get(key)), '')
    value = lease.get(name)
    if name in _PLANNED and lease['status'] == status_words.ACQUIRING:
        return columns.UnknownTime(value)
    if name == 'remaining' and value is None:
        return columns.NOT_KNOWN
    if name in _TIMES:
        return columns.Time(value)
    if name == 'while_free':
        return columns.Steps(value)
    if name == 'reservations':
        return reservations(value or [])
    if name == 'server_create':
        return columns.ServerCreateLines(value or [])
    if name == 'name' and lease.get('shared'):
        return columns.SharedName(str(value))
    if name == 'shared':
        return columns.Shared(value)
    if name == 'sub_leases':
        return columns.SubLeaseLines(value or [])
    if name == 'acquire':
        return columns.AcquireColumn(value)
    if name == 'actions':
        return columns.Words(value or [])
    if name == 'price':
        return columns.PriceLines(value)
    if name == 'events':
        return columns.EventLines(sorted(value or [], key=lambda event: event['time']))
    return '' if value is None else value
