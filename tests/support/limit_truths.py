# SPDX-License-Identifier: Apache-2.0
"""The limits that are exceeded according to the rows of the database, found by brute force.

Nothing is shared with the code that checks limits: each sum is computed for each moment or window.
"""
import collections
import dataclasses
import datetime
import json

import sqlalchemy as sa

from climate.db import tables
from climate.domain import lifecycle

_HOUR = datetime.timedelta(hours=1)
_NO_TIME = datetime.timedelta(0)


@dataclasses.dataclass(frozen=True)
class Part:
    """An allocation of an owner."""

    lease_id: str
    start: datetime.datetime
    end: datetime.datetime
    copies: int
    pool: str
    capacity: dict
    properties: dict


def excesses(database, limits, project_id, now, chains=0):
    """Return texts about the limits, as a limit book has them, that a project exceeds.

    Only limits for everybody, per project, are known here.

    :param chains: the number of pairs of leases that may be too near each other, because one of
        them became shorter.
    """
    with database.reader() as connection:
        parts, leases, offers = _parts(connection, project_id, now), *_owned(
            connection, project_id, now)
        enrolled = connection.execute(sa.select(sa.func.count()).where(
            tables.RESOURCES.c.withdrawn_at.is_(None))).scalar()
    found = []
    for limit in limits:
        value = _MEASURES[limit['measure']](limit, parts, leases, offers)
        most = limit.get('most', 0)
        if limit['measure'] == 'pool_share':
            most = most * enrolled / 100
        if limit['measure'] == 'pause':
            most = chains
        if value > most:
            found.append(f'{limit["name"]}: {value} of {most}')
    return found


def _parts(connection, project_id, now):
    """Return the Parts of leases and of offers that are held, from plain queries."""
    allocated = tables.ALLOCATIONS
    reservations = {row.id: row.lease_id for row in connection.execute(
        sa.select(tables.RESERVATIONS.c.id, tables.RESERVATIONS.c.lease_id)
        .join(tables.LEASES, tables.LEASES.c.id == tables.RESERVATIONS.c.lease_id)
        .where(tables.LEASES.c.project_id == project_id))}
    for row in connection.execute(sa.select(tables.OFFERS).where(
            tables.OFFERS.c.project_id == project_id, tables.OFFERS.c.place.is_not(None),
            tables.OFFERS.c.held_until > now)):
        reservations.update({part['id']: row.id for part in row.request})
    resources = {row.id: row for row in connection.execute(sa.select(tables.RESOURCES))}
    properties = collections.defaultdict(dict)
    for row in connection.execute(
            sa.select(tables.PROPERTY_VALUES.c.resource_id, tables.PROPERTIES.c.name,
                      tables.PROPERTY_VALUES.c.text)
            .join(tables.PROPERTIES,
                  tables.PROPERTIES.c.id == tables.PROPERTY_VALUES.c.property_id)):
        properties[row.resource_id][row.name] = row.text
    return [Part(reservations[row.reservation_id], row.start, row.end, row.copies,
                 resources[row.resource_id].pool, resources[row.resource_id].capacity,
                 properties[row.resource_id])
            for row in connection.execute(sa.select(allocated))
            if row.reservation_id in reservations and row.start < row.end
            and (row.released_at is None or row.released_at >= row.end)]


def _owned(connection, project_id, now):
    leases = connection.execute(sa.select(tables.LEASES).where(
        tables.LEASES.c.project_id == project_id, tables.LEASES.c.ended_at.is_(None))).all()
    offers = connection.execute(sa.select(tables.OFFERS.c.id).where(
        tables.OFFERS.c.project_id == project_id, tables.OFFERS.c.place.is_not(None),
        tables.OFFERS.c.held_until > now)).all()
    return leases, offers


def _counted(limit, parts):
    if 'criteria' not in limit:
        return parts
    [_sign, name, value] = json.loads(limit['criteria'])
    return [part for part in parts if part.properties.get(name.removeprefix('$')) == value]


def _amount(limit, part):
    unit = limit.get('unit')
    return part.copies if unit is None else part.copies * part.capacity[unit]


def _peak(limit, parts, _leases, _offers):
    counted = _counted(limit, parts)
    return max((sum(_amount(limit, other) for other in counted
                    if other.start <= part.start < other.end) for part in counted), default=0)


def _hours(limit, parts, _leases, _offers):
    counted = _counted(limit, parts)
    if 'window' in limit:
        length = datetime.timedelta(hours=int(limit['window'].removesuffix('h')))
        windows = [(part.start, part.start + length) for part in counted]
        windows += [(part.end - length, part.end) for part in counted]
    else:
        windows = {_month(moment) for part in counted for moment in (part.start, part.end)}
    return max((sum(_amount(limit, part) * max(
        min(part.end, end) - max(part.start, start), _NO_TIME) / _HOUR for part in counted)
        for start, end in windows), default=0)


def _month(moment):
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return start, (start + datetime.timedelta(days=32)).replace(day=1)


def chains(database, limits, project_id, now):
    """Return the number of pairs of leases that are too near each other for a limit of pauses."""
    with database.reader() as connection:
        parts = _parts(connection, project_id, now)
    return sum(_pause(limit, parts, (), ()) for limit in limits if limit['measure'] == 'pause')


def _pause(limit, parts, _leases, _offers):
    """Return the number of pairs of leases that are a chain."""
    least = datetime.timedelta(hours=int(limit['least'].removesuffix('h')))
    spans = {}
    for part in parts:
        start, end = spans.get(part.lease_id, (part.start, part.end))
        spans[part.lease_id] = min(start, part.start), max(end, part.end)
    return sum(first[0] < second[0] < first[1] + least and second[1] > first[1]
               for first in spans.values() for second in spans.values())


_MEASURES = {
    'open_leases': lambda limit, parts, leases, offers: len(leases),
    'waiting_leases': lambda limit, parts, leases, offers: sum(
        row.state == lifecycle.ACQUIRING for row in leases),
    'held_offers': lambda limit, parts, leases, offers: len(offers),
    'resources': _peak,
    'pool_share': _peak,
    'resource_hours': _hours,
    'pause': _pause,
}
