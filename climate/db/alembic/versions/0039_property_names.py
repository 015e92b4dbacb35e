# SPDX-License-Identifier: Apache-2.0
"""The names of properties in the composed form of Unicode (NFC), in which criteria name them."""
import unicodedata

from alembic import op
import sqlalchemy as sa

revision = '0039'
down_revision = '0038'

_LONGEST_NAME = 64
_BATCH = 500
_PROPERTIES = sa.table('properties', sa.column('id'), sa.column('pool'), sa.column('name'),
                       sa.column('private', sa.Boolean), sa.column('fact', sa.Boolean))
_VALUES = sa.table('property_values', sa.column('resource_id'), sa.column('property_id'))
_PRICE_BOOKS = sa.table('price_books', sa.column('version'), sa.column('document', sa.JSON))
_BILLS = sa.table('bills', sa.column('lease_id'), sa.column('properties', sa.JSON))


def upgrade():
    connection = op.get_bind()
    rows = connection.execute(sa.select(_PROPERTIES).where(_PROPERTIES.c.fact.is_(False))
                              .order_by(_PROPERTIES.c.id)).all()
    ids = {(row.pool, row.name): row.id for row in rows}
    renamed = False
    for row in rows:
        name = _composed(row.name)
        # A few characters are longer in this form.
        if name == row.name or len(name) > _LONGEST_NAME:
            continue
        renamed = True
        if (row.pool, name) in ids:
            _merge(connection, row, ids[row.pool, name])
        else:
            connection.execute(sa.update(_PROPERTIES).where(_PROPERTIES.c.id == row.id)
                               .values(name=name))
            ids[row.pool, name] = row.id
    if renamed:
        _rename_in_price_books(connection)
        _rename_in_bills(connection)


def _composed(name):
    return unicodedata.normalize('NFC', name)


def _merge(connection, row, into):
    """Merge a property into another one, whose values win; it is private if one of both is."""
    def resources_with(property_id):
        return set(connection.execute(sa.select(_VALUES.c.resource_id).where(
            _VALUES.c.property_id == property_id)).scalars())

    missing = sorted(resources_with(row.id) - resources_with(into))
    for first in range(0, len(missing), _BATCH):
        connection.execute(sa.update(_VALUES).values(property_id=into).where(
            _VALUES.c.property_id == row.id,
            _VALUES.c.resource_id.in_(missing[first:first + _BATCH])))
    connection.execute(sa.delete(_VALUES).where(_VALUES.c.property_id == row.id))
    connection.execute(sa.delete(_PROPERTIES).where(_PROPERTIES.c.id == row.id))
    if row.private:
        connection.execute(sa.update(_PROPERTIES).where(_PROPERTIES.c.id == into)
                           .values(private=True))


def _rename_in_price_books(connection):
    for version, document in connection.execute(sa.select(_PRICE_BOOKS)).all():
        rates = [{**rate, 'properties': _renamed(rate['properties'])} if 'properties' in rate
                 else rate for rate in document.get('rates', ())]
        # Two rates of a book must not become equal: then it stays as it is.
        if rates != document.get('rates', []) and _distinct(rates) == _distinct(document['rates']):
            connection.execute(sa.update(_PRICE_BOOKS).where(_PRICE_BOOKS.c.version == version)
                               .values(document={**document, 'rates': rates}))


def _distinct(rates):
    """Return for each rate how many conditions it has, and the number of distinct rates."""
    conditions = [(rate.get('resource_type'), rate.get('pool'),
                   frozenset(rate.get('properties', {}).items())) for rate in rates]
    return [len(properties) for _, _, properties in conditions], len(set(conditions))


def _rename_in_bills(connection):
    for lease_id, properties in connection.execute(sa.select(_BILLS)).all():
        renamed = {key: _renamed(values) for key, values in properties.items()}
        if renamed != properties:
            connection.execute(sa.update(_BILLS).where(_BILLS.c.lease_id == lease_id)
                               .values(properties=renamed))


def _renamed(values):
    """Return {name: value} with composed names; a value that has such a name already wins."""
    own = {name: value for name, value in values.items()
           if name == _composed(name) and value is not None}
    return {**{_composed(name): value for name, value in values.items()}, **own}
