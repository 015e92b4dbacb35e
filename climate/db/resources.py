# SPDX-License-Identifier: Apache-2.0
"""The resources of all pools in the database, with their properties."""
import collections

import sqlalchemy as sa

from climate import errors
from climate.db import absences
from climate.db import by_keys
from climate.db import pages
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import records
from climate.domain import utilisation

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
PROPERTIES = tables.PROPERTIES
VALUES = tables.PROPERTY_VALUES
_COLUMNS = tables.columns(RESOURCES, records.Resource, 'properties', 'facts', 'verdict',
                          'maintenances', 'power_state', 'power_since', 'leases')

# Statements of every lease's life are built once, because building one costs more than running it.
_IDS = sa.bindparam('ids')
_HOLDER = sa.bindparam('holder')
_BY_ID = sa.select(*_COLUMNS).order_by(RESOURCES.c.id)
_ENROLLED = (sa.select(*_COLUMNS).where(RESOURCES.c.withdrawn_at.is_(None))
             .order_by(RESOURCES.c.pool, RESOURCES.c.id))
_SIZE = (256 + pages.length(RESOURCES.c.capacity, RESOURCES.c.health_reason)
         + pages.of_others(VALUES.c.resource_id, RESOURCES.c.id, 64 + pages.length(VALUES.c.text)))
_THESE = by_keys.ByKeys(_BY_ID, RESOURCES.c.id)
_LOCK = by_keys.ByKeys(
    _BY_ID.where(RESOURCES.c.withdrawn_at.is_(None),
                 RESOURCES.c.reservable.is_(True)).with_for_update(), RESOURCES.c.id)
_LOCK_ENROLLED = by_keys.ByKeys(
    _BY_ID.where(RESOURCES.c.withdrawn_at.is_(None)).with_for_update(), RESOURCES.c.id)
_ENROLLED_THESE = by_keys.ByKeys(_ENROLLED, RESOURCES.c.id)
_ENROLLED_HELD = by_keys.ByKeys(_ENROLLED, RESOURCES.c.held_by)
_TOUCH = by_keys.ByKeys(sa.update(RESOURCES).values(generation=RESOURCES.c.generation + 1),
                        RESOURCES.c.id)
_HOLD = by_keys.ByKeys(sa.update(RESOURCES).where(RESOURCES.c.held_by.is_(None)), RESOURCES.c.id)
_HOLDERS = (
    sa.select(RESOURCES.c.id, RESOURCES.c.held_by)
    .where(RESOURCES.c.id.in_(_IDS),
           sa.or_(RESOURCES.c.held_by.is_(None), RESOURCES.c.held_by != _HOLDER)))
_RELEASE = sa.update(RESOURCES).where(RESOURCES.c.held_by == _HOLDER).values(held_by=None)
_RELEASE_OTHERS = _RELEASE.where(
    RESOURCES.c.id.not_in(
        sa.select(ALLOCATIONS.c.resource_id)
        .where(ALLOCATIONS.c.reservation_id == _HOLDER, ALLOCATIONS.c.released_at.is_(None))),
    ~sa.exists().where(EVENTS.c.lease_id == RESERVATIONS.c.lease_id,
                       RESERVATIONS.c.id == _HOLDER, EVENTS.c.kind == event_kinds.DELETE))
_VALUES = by_keys.ByKeys(
    sa.select(VALUES.c.resource_id, PROPERTIES.c.name, PROPERTIES.c.fact, VALUES.c.text)
    .join_from(VALUES, PROPERTIES, VALUES.c.property_id == PROPERTIES.c.id),
    VALUES.c.resource_id)


def add(connection, pool, name, capacity, now, **values):
    """Enrol a resource; return its id.

    :param values: values of further columns: reservable, lent_to.
    :raises Duplicate: the name is enrolled already.
    """
    key = connection.execute(sa.insert(RESOURCES).values(
        pool=pool, name=name, enrolled_name=name, capacity=capacity, created_at=now,
        available_since=now, **values)).inserted_primary_key[0]
    # A resource that is lent to a lease is in use.
    if not values.get('reservable', True) and values.get('lent_to') is None:
        absences.begin(connection, key, utilisation.OUT_OF_ORDER, now)
    return key


def find(connection, pool, ids=None):
    """Return the enrolled resources of a pool with their properties, by id."""
    statement = _BY_ID.where(RESOURCES.c.pool == pool, RESOURCES.c.withdrawn_at.is_(None))
    if ids is not None:
        statement = statement.where(RESOURCES.c.id.in_(list(ids)))
    return _whole(connection, connection.execute(statement).all())


def page(connection, pool, after_id=None, limit=None, most_bytes=None, *, search=None, ids=None):
    """Return (a page of the enrolled resources of a pool, by id; its end as in ``pages.read``).

    :param search: only resources whose names contain this text, in small or capital letters.
    :param ids: only resources with these ids, in order; None: with any id.
    """
    statement = _BY_ID.where(RESOURCES.c.pool == pool, RESOURCES.c.withdrawn_at.is_(None))
    if search is not None:
        statement = statement.where(RESOURCES.c.name.icontains(search, autoescape=True))
    if ids is not None:
        statement = statement.where(RESOURCES.c.id.in_(ids))
    if after_id is not None:
        statement = statement.where(RESOURCES.c.id > after_id)
    rows, end = pages.read(connection, statement.limit(limit), _SIZE, most_bytes)
    return _whole(connection, rows), end


def ids(connection, pool, after_id=None, limit=None):
    """Return the ids of the enrolled resources of a pool, in order."""
    statement = (sa.select(RESOURCES.c.id)
                 .where(RESOURCES.c.pool == pool, RESOURCES.c.withdrawn_at.is_(None))
                 .order_by(RESOURCES.c.id).limit(limit))
    if after_id is not None:
        statement = statement.where(RESOURCES.c.id > after_id)
    return list(connection.execute(statement).scalars())


def names(connection, pools):
    """Return triples (id, pool, name) of the enrolled resources of these pools, by id."""
    return [tuple(row) for row in connection.execute(
        sa.select(RESOURCES.c.id, RESOURCES.c.pool, RESOURCES.c.name)
        .where(RESOURCES.c.pool.in_(list(pools)), RESOURCES.c.withdrawn_at.is_(None))
        .order_by(RESOURCES.c.id))]


def get(connection, pool, resource_id):
    """Return one enrolled resource with its properties.

    :raises ResourceNotFound: the pool has no enrolled resource with that id.
    """
    for resource in find(connection, pool, ids=[resource_id]):
        return resource
    raise errors.ResourceNotFound(pool=pool, resource=resource_id)


def with_ids(connection, ids):
    """Return resources by their ids, withdrawn ones too, without properties, sorted by id."""
    return [records.Resource(*row) for row in _THESE.execute(connection, list(ids))]


def enrolled(connection, ids):
    """Return the enrolled resources with these ids, with properties, by pool and id."""
    return _whole(connection, _ENROLLED_THESE.execute(connection, list(ids)).all())


def ever_enrolled(connection, ids):
    """Return resources by their ids, withdrawn ones too, with properties, sorted by id."""
    return _whole(connection, _THESE.execute(connection, list(ids)).all())


def held(connection, reservation_ids):
    """Return the enrolled resources that reservations hold, with properties, by pool and id."""
    return _whole(connection, _ENROLLED_HELD.execute(connection, list(reservation_ids)).all())


def named(connection, pool, name):
    """Return the enrolled resource of exactly that name, or None."""
    rows = connection.execute(
        sa.select(*_COLUMNS).where(RESOURCES.c.pool == pool,
                                   RESOURCES.c.enrolled_name == name)).all()
    return _whole(connection, rows)[0] if rows else None


def lock(connection, ids):
    """Lock reservable resources in id order until the transaction ends.

    Withdrawn resources and those that are not reservable are left out.

    :returns: the locked Resources, without properties.
    """
    return [records.Resource(*row) for row in _LOCK.execute(connection, sorted(ids))]


def lock_enrolled(connection, ids):
    """Lock enrolled resources in id order, reservable or not; return their ids."""
    return [row.id for row in _LOCK_ENROLLED.execute(connection, sorted(ids))]


def touch(connection, ids, now):
    """Increase the generation of resources."""
    _TOUCH.execute(connection, sorted(ids), {'updated_at': now})


def available_again(connection, ids, now):
    """Record that locked resources can be leased from now on, as if they were enrolled now."""
    _TOUCH.execute(connection, sorted(ids), {'available_since': now, 'updated_at': now})


def change(connection, resource_id, now, **values):
    """Update a resource with `values` (capacity, reservable)."""
    if values.get('reservable'):
        connection.execute(
            sa.update(RESOURCES)
            .where(RESOURCES.c.id == resource_id, RESOURCES.c.reservable.is_(False))
            .values(available_since=now))
    connection.execute(sa.update(RESOURCES).where(RESOURCES.c.id == resource_id)
                       .values(updated_at=now, **values))
    if 'reservable' in values:
        record = absences.end if values['reservable'] else absences.begin
        record(connection, resource_id, utilisation.OUT_OF_ORDER, now)


def withdraw(connection, resource_id, now):
    """Withdraw a resource from its pool. Its row stays for the history of its leases."""
    connection.execute(
        sa.update(RESOURCES).where(RESOURCES.c.id == resource_id)
        .values(enrolled_name=None, reservable=False, withdrawn_at=now, updated_at=now))


def hold(connection, ids, reservation_id):
    """Hold resources for a reservation.

    :returns: {resource id: reservation id} of the resources that another reservation holds.
    """
    sorted_ids = sorted(ids)
    done = _HOLD.execute(connection, sorted_ids, {'held_by': reservation_id})
    if done.rowcount == len(sorted_ids):
        return {}
    rows = connection.execute(_HOLDERS, {'ids': sorted_ids, 'holder': reservation_id})
    return {resource_id: holder for resource_id, holder in rows}


def release(connection, reservation_id, ids=None):
    """Release the resources that a reservation holds, or only those in `ids`."""
    statement = _RELEASE
    if ids is not None:
        statement = statement.where(RESOURCES.c.id.in_(sorted(ids)))
    connection.execute(statement, {'holder': reservation_id})


def release_others(connection, reservation_id):
    """Release the resources that a reservation holds without an allocation.

    A lease that is being deleted keeps its resources, although its allocations are void already.

    :returns: the number of released resources.
    """
    return connection.execute(_RELEASE_OTHERS, {'holder': reservation_id}).rowcount


def lent(connection, reservation_ids=None):
    """Return the enrolled resources that are lent to these reservations, without properties.

    :param reservation_ids: None: any reservation.
    """
    statement = sa.select(*_COLUMNS).where(RESOURCES.c.withdrawn_at.is_(None))
    if reservation_ids is None:
        statement = statement.where(RESOURCES.c.lent_to.is_not(None))
    else:
        statement = statement.where(RESOURCES.c.lent_to.in_(list(reservation_ids)))
    return [records.Resource(*row)
            for row in connection.execute(statement.order_by(RESOURCES.c.id))]


def _whole(connection, rows):
    ids = [row.id for row in rows]
    if not ids:
        return []
    values = collections.defaultdict(lambda: ({}, {}))
    for resource_id, name, fact, text in _VALUES.execute(connection, ids):
        values[resource_id][fact][name] = text
    return [records.Resource(*row, properties=values[row.id][False], facts=values[row.id][True])
            for row in rows]
