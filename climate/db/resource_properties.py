# SPDX-License-Identifier: Apache-2.0
"""The properties of resources and their values; a fact is a property that the cloud reports."""
import collections
import contextlib
import json

from oslo_db import exception as db_exc
import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

PROPERTIES = tables.PROPERTIES
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES


def set_values(connection, pool, resource_id, values, now, fact=False):
    """Set property values of a resource.

    :param values: {name: text, or None to remove the value}; names new to the pool are added to it.
    :param fact: whether the properties are facts.
    """
    if not values:
        return
    ids = _property_ids(connection, pool, values, now, fact)
    connection.execute(sa.delete(VALUES).where(VALUES.c.resource_id == resource_id,
                                               VALUES.c.property_id.in_(list(ids.values()))))
    rows = [{'resource_id': resource_id, 'property_id': ids[name], 'text': text,
             'number': _number(text)} for name, text in values.items() if text is not None]
    if rows:
        connection.execute(sa.insert(VALUES), rows)


def find(connection, pool):
    """Return the Properties that operators set on a pool's resources, by name, with their values.

    A property without a value on any resource is left out.
    """
    rows = connection.execute(
        sa.select(PROPERTIES, VALUES.c.text)
        .join_from(PROPERTIES, VALUES, VALUES.c.property_id == PROPERTIES.c.id)
        .join(RESOURCES, RESOURCES.c.id == VALUES.c.resource_id)
        .where(PROPERTIES.c.pool == pool, PROPERTIES.c.fact.is_(False),
               RESOURCES.c.withdrawn_at.is_(None))
        .distinct().order_by(PROPERTIES.c.name, VALUES.c.text))
    by_name = {}
    for row in rows:
        by_name.setdefault(row.name, (row, []))[1].append(row.text)
    return [_property(row, values) for row, values in by_name.values()]


def named(connection, pool, name):
    """Return a property of a pool, even if unused; None if it does not exist or is a fact."""
    row = connection.execute(
        sa.select(PROPERTIES).where(PROPERTIES.c.pool == pool, PROPERTIES.c.name == name,
                                    PROPERTIES.c.fact.is_(False))).one_or_none()
    return _property(row, ()) if row else None


def set_private(connection, property_id, private, now):
    """Set whether only administrators may see a property."""
    connection.execute(sa.update(PROPERTIES).where(PROPERTIES.c.id == property_id)
                       .values(private=private, updated_at=now))


def names(connection, pool):
    """Return the names of a pool's properties and facts: (set of public, set of private)."""
    rows = connection.execute(
        sa.select(PROPERTIES.c.name, PROPERTIES.c.private).where(PROPERTIES.c.pool == pool)).all()
    return ({row.name for row in rows if not row.private},
            {row.name for row in rows if row.private})


def capacity_classes(connection):
    """Return {pool: names of the classes of capacity that its enrolled resources have}."""
    capacity = sa.cast(RESOURCES.c.capacity, sa.Text)
    classes = collections.defaultdict(set)
    for pool, text in connection.execute(
            sa.select(RESOURCES.c.pool, capacity).where(RESOURCES.c.withdrawn_at.is_(None))
            .distinct()):
        classes[pool] |= json.loads(text).keys()
    return classes


def private_names(connection, wanted):
    """Return the set of those of some names that are private properties of any pool."""
    if not wanted:
        return frozenset()
    return frozenset(connection.execute(sa.select(PROPERTIES.c.name).where(
        PROPERTIES.c.private.is_(True), PROPERTIES.c.name.in_(sorted(wanted)))).scalars())


def values_of(connection, pool, names_wanted, ids=None):
    """Return {resource id: {name: text}} of the properties and facts with these names."""
    by_resource = collections.defaultdict(dict)
    if not names_wanted:
        return by_resource
    statement = (sa.select(VALUES.c.resource_id, PROPERTIES.c.name, VALUES.c.text)
                 .join_from(VALUES, PROPERTIES, VALUES.c.property_id == PROPERTIES.c.id)
                 .where(PROPERTIES.c.pool == pool, PROPERTIES.c.name.in_(list(names_wanted))))
    if ids is not None:
        statement = statement.where(VALUES.c.resource_id.in_(list(ids)))
    for resource_id, name, text in connection.execute(statement):
        by_resource[resource_id][name] = text
    return by_resource


def _property_ids(connection, pool, names_wanted, now, fact):
    def stored():
        rows = connection.execute(
            sa.select(PROPERTIES.c.name, PROPERTIES.c.id)
            .where(PROPERTIES.c.pool == pool, PROPERTIES.c.name.in_(list(names_wanted))))
        return {name: property_id for name, property_id in rows}
    known = stored()
    missing = sorted(set(names_wanted) - set(known))
    if not missing:
        return known
    for name in missing:
        # Another transaction may add the same name. The later one waits, and then reads its row.
        with contextlib.suppress(db_exc.DBDuplicateEntry), connection.begin_nested():
            connection.execute(sa.insert(PROPERTIES).values(
                pool=pool, name=name, fact=fact, created_at=now))
    return stored()


def _property(row, values):
    return records.Property(id=row.id, pool=row.pool, name=row.name, private=row.private,
                            values=tuple(values), created_at=row.created_at,
                            updated_at=row.updated_at)


def _number(text):
    try:
        number = float(text)
    except ValueError:
        return None
    # NaN and infinities count as text, because databases compare them differently.
    return number if number - number == 0 else None
