# SPDX-License-Identifier: Apache-2.0
"""Resources of all pools in the database, and their properties."""
import collections
import contextlib

from oslo_db import exception as db_exc
import sqlalchemy as sa

from climate import errors
from climate.db import among
from climate.db import tables
from climate.domain import agenda
from climate.domain import records

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
PROPERTIES = tables.PROPERTIES
VALUES = tables.PROPERTY_VALUES
_COLUMNS = tuple(RESOURCES.c[name] for name in (
    'id', 'pool', 'name', 'capacity', 'reservable', 'generation', 'held_by', 'lent_to',
    'created_at', 'updated_at'))

# The statements of each lease's life are built once: building one costs more than asking it.
_IDS = sa.bindparam('ids')
_HOLDER = sa.bindparam('holder')
_BY_ID = sa.select(*_COLUMNS).order_by(RESOURCES.c.id)
_ENROLLED = (sa.select(*_COLUMNS).where(RESOURCES.c.withdrawn_at.is_(None))
             .order_by(RESOURCES.c.pool, RESOURCES.c.id))
_THESE = among.Among(_BY_ID, RESOURCES.c.id)
_LOCK = among.Among(
    _BY_ID.where(RESOURCES.c.withdrawn_at.is_(None),
                 RESOURCES.c.reservable.is_(True)).with_for_update(), RESOURCES.c.id)
_ENROLLED_THESE = among.Among(_ENROLLED, RESOURCES.c.id)
_ENROLLED_HELD = among.Among(_ENROLLED, RESOURCES.c.held_by)
_TOUCH = among.Among(sa.update(RESOURCES).values(generation=RESOURCES.c.generation + 1),
                     RESOURCES.c.id)
_HOLD = among.Among(sa.update(RESOURCES).where(RESOURCES.c.held_by.is_(None)), RESOURCES.c.id)
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
                       RESERVATIONS.c.id == _HOLDER, EVENTS.c.kind == agenda.DELETE))
_VALUES = among.Among(
    sa.select(VALUES.c.resource_id, PROPERTIES.c.name, PROPERTIES.c.fact, VALUES.c.text)
    .join_from(VALUES, PROPERTIES, VALUES.c.property_id == PROPERTIES.c.id),
    VALUES.c.resource_id)


def add(connection, pool, name, capacity, now, **values):
    """Enrol a resource; returns its id. A name that is enrolled already fails as a duplicate.

    :param values: of further columns: reservable, lent_to.
    """
    return connection.execute(sa.insert(RESOURCES).values(
        pool=pool, name=name, enrolled_name=name, capacity=capacity, created_at=now, **values)
    ).inserted_primary_key[0]


def find(connection, pool, ids=None, after_id=None, limit=None):
    """The enrolled resources of a pool by id, whole."""
    statement = (sa.select(*_COLUMNS)
                 .where(RESOURCES.c.pool == pool, RESOURCES.c.withdrawn_at.is_(None))
                 .order_by(RESOURCES.c.id))
    if ids is not None:
        statement = statement.where(RESOURCES.c.id.in_(list(ids)))
    if after_id is not None:
        statement = statement.where(RESOURCES.c.id > after_id)
    if limit is not None:
        statement = statement.limit(limit)
    return _whole(connection, connection.execute(statement).all())


def get(connection, pool, resource_id):
    """One enrolled resource, whole.

    :raises HostNotFound: the pool has none of that id.
    """
    found = find(connection, pool, ids=[resource_id])
    if not found:
        raise errors.HostNotFound(host=resource_id)
    return found[0]


def with_ids(connection, ids):
    """Resources by their ids, in id order, withdrawn ones too; without properties."""
    rows = _THESE.execute(connection, list(ids))
    return [records.Resource(**row._mapping) for row in rows]


def enrolled(connection, ids):
    """Those of the resources that are enrolled, whole, by pool and id."""
    return _whole(connection, _ENROLLED_THESE.execute(connection, list(ids)).all())


def held(connection, reservation_ids):
    """The enrolled resources that reservations occupy, whole, by pool and id."""
    return _whole(connection, _ENROLLED_HELD.execute(connection, list(reservation_ids)).all())


def named(connection, pool, name):
    """The enrolled resource of that very name, or None."""
    rows = connection.execute(
        sa.select(*_COLUMNS).where(RESOURCES.c.pool == pool,
                                   RESOURCES.c.enrolled_name == name)).all()
    return _whole(connection, rows)[0] if rows else None


def lock(connection, ids):
    """Lock resources in id order until the transaction ends; returns them without properties.

    Withdrawn ones and those out of order are not among them.
    """
    rows = _LOCK.execute(connection, sorted(ids))
    return [records.Resource(**row._mapping) for row in rows]


def touch(connection, ids, now):
    """Raise the generation of resources."""
    _TOUCH.execute(connection, sorted(ids), {'updated_at': now})


def change(connection, resource_id, now, **values):
    """Write `values` (capacity, reservable) to a resource."""
    connection.execute(sa.update(RESOURCES).where(RESOURCES.c.id == resource_id)
                       .values(updated_at=now, **values))


def withdraw(connection, resource_id, now):
    """Take a resource out of its pool; its row stays, for the history of its leases."""
    connection.execute(
        sa.update(RESOURCES).where(RESOURCES.c.id == resource_id)
        .values(enrolled_name=None, reservable=False, withdrawn_at=now, updated_at=now))


def hold(connection, ids, reservation_id):
    """Let a reservation occupy resources; returns {id: holder} of those that another holds."""
    wanted = sorted(ids)
    done = _HOLD.execute(connection, wanted, {'held_by': reservation_id})
    if done.rowcount == len(wanted):
        return {}
    rows = connection.execute(_HOLDERS, {'ids': wanted, 'holder': reservation_id})
    return {resource_id: holder for resource_id, holder in rows}


def release(connection, reservation_id, ids=None):
    """The reservation occupies nothing any more (none of `ids`, where given)."""
    statement = _RELEASE
    if ids is not None:
        statement = statement.where(RESOURCES.c.id.in_(sorted(ids)))
    connection.execute(statement, {'holder': reservation_id})


def release_others(connection, reservation_id):
    """The reservation occupies no resource any more that is not promised to it.

    One whose lease is being deleted keeps them to its end: all promises to it are void.
    """
    connection.execute(_RELEASE_OTHERS, {'holder': reservation_id})


def lent(connection, reservation_ids=None):
    """The enrolled resources that are lent to these reservations (to any), without properties."""
    statement = sa.select(*_COLUMNS).where(RESOURCES.c.withdrawn_at.is_(None))
    if reservation_ids is None:
        statement = statement.where(RESOURCES.c.lent_to.is_not(None))
    else:
        statement = statement.where(RESOURCES.c.lent_to.in_(list(reservation_ids)))
    return [records.Resource(**row._mapping)
            for row in connection.execute(statement.order_by(RESOURCES.c.id))]


def set_values(connection, pool, resource_id, values, now, fact=False):
    """Give a resource property values; None takes one away.

    :param values: {name: text or None}; a name that is new to the pool is added to it.
    """
    ids = _property_ids(connection, pool, values, now, fact)
    connection.execute(sa.delete(VALUES).where(VALUES.c.resource_id == resource_id,
                                               VALUES.c.property_id.in_(list(ids.values()))))
    rows = [{'resource_id': resource_id, 'property_id': ids[name], 'text': text,
             'number': _number(text)} for name, text in values.items() if text is not None]
    if rows:
        connection.execute(sa.insert(VALUES), rows)


def properties(connection, pool):
    """What operators said of a pool's resources: Property records by name, with their values.

    A property that no resource has a value of is not among them.
    """
    rows = connection.execute(
        sa.select(PROPERTIES, VALUES.c.text)
        .join_from(PROPERTIES, VALUES, VALUES.c.property_id == PROPERTIES.c.id)
        .join(RESOURCES, RESOURCES.c.id == VALUES.c.resource_id)
        .where(PROPERTIES.c.pool == pool, PROPERTIES.c.fact.is_(False),
               RESOURCES.c.withdrawn_at.is_(None))
        .distinct().order_by(PROPERTIES.c.name, VALUES.c.text))
    found = {}
    for row in rows:
        known = found.setdefault(row.name, (row, []))
        known[1].append(row.text)
    return [_property(row, values) for row, values in found.values()]


def property_named(connection, pool, name):
    """One property of a pool, an unused one too, or None; facts are not among them."""
    row = connection.execute(
        sa.select(PROPERTIES).where(PROPERTIES.c.pool == pool, PROPERTIES.c.name == name,
                                    PROPERTIES.c.fact.is_(False))).one_or_none()
    return _property(row, ()) if row else None


def set_private(connection, property_id, private, now):
    """Show a property to everybody, or to admins only."""
    connection.execute(sa.update(PROPERTIES).where(PROPERTIES.c.id == property_id)
                       .values(private=private, updated_at=now))


def names(connection, pool):
    """The names of all properties and facts of a pool, as two sets: (public, private)."""
    rows = connection.execute(
        sa.select(PROPERTIES.c.name, PROPERTIES.c.private).where(PROPERTIES.c.pool == pool)).all()
    return ({row.name for row in rows if not row.private},
            {row.name for row in rows if row.private})


def values_of(connection, pool, names_wanted, ids=None):
    """{resource id: {name: text}} of the properties and facts of those names."""
    found = collections.defaultdict(dict)
    if not names_wanted:
        return found
    statement = (sa.select(VALUES.c.resource_id, PROPERTIES.c.name, VALUES.c.text)
                 .join_from(VALUES, PROPERTIES, VALUES.c.property_id == PROPERTIES.c.id)
                 .where(PROPERTIES.c.pool == pool, PROPERTIES.c.name.in_(list(names_wanted))))
    if ids is not None:
        statement = statement.where(VALUES.c.resource_id.in_(list(ids)))
    for resource_id, name, text in connection.execute(statement):
        found[resource_id][name] = text
    return found


def _property_ids(connection, pool, names_wanted, now, fact):
    def known():
        rows = connection.execute(
            sa.select(PROPERTIES.c.name, PROPERTIES.c.id)
            .where(PROPERTIES.c.pool == pool, PROPERTIES.c.name.in_(list(names_wanted))))
        return {name: property_id for name, property_id in rows}
    for name in sorted(set(names_wanted) - set(known())):
        # Another writer may add the same name; whoever comes second waits and then reads it.
        with contextlib.suppress(db_exc.DBDuplicateEntry), connection.begin_nested():
            connection.execute(sa.insert(PROPERTIES).values(
                pool=pool, name=name, fact=fact, created_at=now))
    return known()


def _whole(connection, rows):
    ids = [row.id for row in rows]
    if not ids:
        return []
    said = collections.defaultdict(lambda: ({}, {}))
    for resource_id, name, fact, text in _VALUES.execute(connection, ids):
        said[resource_id][fact][name] = text
    return [records.Resource(**row._mapping, properties=said[row.id][False],
                             facts=said[row.id][True]) for row in rows]


def _property(row, values):
    return records.Property(id=row.id, pool=row.pool, name=row.name, private=row.private,
                            values=tuple(values), created_at=row.created_at,
                            updated_at=row.updated_at)


def _number(text):
    try:
        number = float(text)
    except ValueError:
        return None
    # NaN and the infinities are words to an operator, and no database compares them alike.
    return number if number - number == 0 else None
