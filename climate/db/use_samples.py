# SPDX-License-Identifier: Apache-2.0
"""The measured use of running reservations, by the hour."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import use_sampling

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
SAMPLES = tables.USE_SAMPLES

_KEY = (SAMPLES.c.reservation_id, SAMPLES.c.resource_id)
_FIGURES = (SAMPLES.c.seconds, SAMPLES.c.idle_seconds, SAMPLES.c.used_seconds)
#: The Sample of a time in which no sample was taken.
NONE = use_sampling.NO_SAMPLE
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_OWN = tables.columns(RESERVATIONS, records.Reservation, 'allocated', 'secrets')
# The present allocations of a reservation. A reservation without one stays in the result.
_HAS = sa.and_(ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id,
               ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.start <= _NOW,
               ALLOCATIONS.c.end > _NOW)
_RUNNING = (
    sa.select(*_OWN, LEASES.c.project_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.copies)
    .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
    .outerjoin(ALLOCATIONS, _HAS)
    .where(LEASES.c.deleted_at.is_(None), LEASES.c.state == lifecycle.ACTIVE,
           RESERVATIONS.c.state == lifecycle.RESERVATION_ACTIVE)
    .order_by(RESERVATIONS.c.id, ALLOCATIONS.c.resource_id))
_HERE = sa.and_(SAMPLES.c.hour == sa.bindparam('of_hour', type_=tables.UtcDateTime),
                SAMPLES.c.reservation_id == sa.bindparam('of_reservation'),
                SAMPLES.c.resource_id == sa.bindparam('of_resource'))
_ADD = sa.update(SAMPLES).where(_HERE).values({
    **{figure: figure + sa.bindparam(f'more_{figure.name}', type_=figure.type)
       for figure in _FIGURES},
    SAMPLES.c.used_until: sa.func.coalesce(
        sa.bindparam('more_used_until', type_=tables.UtcDateTime), SAMPLES.c.used_until)})


def rename(connection, new_ids):
    """Attribute the samples of reservations to other ones, {id: new id}."""
    connection.execute(
        sa.update(SAMPLES).where(SAMPLES.c.reservation_id == sa.bindparam('old_id'))
        .values(reservation_id=sa.bindparam('new_id')),
        [{'old_id': old_id, 'new_id': new_id} for old_id, new_id in new_ids.items()])


def running(connection, now):
    """Return the resources of running reservations of active leases at `now`.

    :returns: [(Reservation without its `allocated`, project id, resource id or None, copies)].
    """
    rows = connection.execute(_RUNNING, {'now': now}).all()
    # Two needs of a reservation may be served by one resource.
    copies, by_key = collections.Counter(), {}
    for row in rows:
        key = row.id, row.resource_id
        copies[key] += row.copies or 0
        by_key[key] = row
    return [(records.Reservation(*row[:len(_OWN)]), row.project_id, row.resource_id, copies[key])
            for key, row in by_key.items()]


def add(connection, hour, samples, until=None):
    """Add Samples to those of an hour.

    The caller has claimed a slot of this work in the same transaction; see ``managers.take_slot``.

    :param samples: {key: Sample}.
    :param until: the end of the samples; a sample with use had use until this moment.
    """
    stored = {tuple(row) for row in connection.execute(
        sa.select(*_KEY).where(SAMPLES.c.hour == hour))}
    figures = {key: {**vars(sample), 'used_until': until if sample.is_used else None}
               for key, sample in samples.items()}
    additions = [{'of_hour': hour, 'of_reservation': key[0], 'of_resource': key[1],
                  **{f'more_{name}': value for name, value in values.items()}}
                 for key, values in sorted(figures.items()) if key in stored]
    new = [{'hour': hour, 'reservation_id': key[0], 'resource_id': key[1], **values}
           for key, values in sorted(figures.items()) if key not in stored]
    if additions:
        connection.execute(_ADD, additions)
    if new:
        connection.execute(sa.insert(SAMPLES), new)


def since(connection, hour, reservation_ids=None):
    """Return {key: the sum of its Samples}, from the hour that begins at `hour` on.

    :param reservation_ids: only samples of these reservations; None: of all reservations.
    """
    statement = (sa.select(*_KEY, *(sa.func.sum(figure) for figure in _FIGURES))
                 .where(SAMPLES.c.hour >= hour).group_by(*_KEY))
    if reservation_ids is not None:
        statement = statement.where(SAMPLES.c.reservation_id.in_(sorted(reservation_ids)))
    rows = connection.execute(statement)
    return {(reservation_id, resource_id): use_sampling.Sample(int(seconds), int(idle), float(used))
            for reservation_id, resource_id, seconds, idle, used in rows}


def used(connection, reservation_ids, before):
    """Return the sampled hours before a moment, with the end of the use in each hour.

    :returns: {hour: the latest moment at which a resource may have been used; None: no use}.
    """
    rows = connection.execute(
        sa.select(SAMPLES.c.hour, SAMPLES.c.seconds > SAMPLES.c.idle_seconds, SAMPLES.c.used_until)
        .where(SAMPLES.c.reservation_id.in_(sorted(reservation_ids)), SAMPLES.c.hour < before))
    by_start = {}
    for hour, was_used, until in rows:
        until = (until or hour + use_sampling.HOUR) if was_used else None
        by_start[hour] = max(filter(None, (by_start.get(hour), until)), default=None)
    return by_start


def by_hour(connection, reservation_ids, start, end):
    """Return the samples of reservations in the hours that begin in [start, end), in order.

    :returns: [(reservation id, resource id, hour, Sample)].
    """
    rows = connection.execute(
        sa.select(*_KEY, SAMPLES.c.hour, *_FIGURES)
        .where(SAMPLES.c.reservation_id.in_(sorted(reservation_ids)), SAMPLES.c.hour >= start,
               SAMPLES.c.hour < end)
        .order_by(SAMPLES.c.hour, *_KEY))
    return [(row.reservation_id, row.resource_id, row.hour, use_sampling.Sample(*row[3:]))
            for row in rows]


def delete(connection, before, *conditions):
    """Delete the samples of hours that began before a moment, if they meet all conditions."""
    connection.execute(sa.delete(SAMPLES).where(SAMPLES.c.hour < before, *conditions))
