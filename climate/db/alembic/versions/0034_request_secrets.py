# SPDX-License-Identifier: Apache-2.0
"""The secret fields of requests in a column of their own, until the reservation is active."""
from alembic import op
import sqlalchemy as sa

revision = '0034'
down_revision = '0033'

_TYPE = 'virtual:stack'
_FIELDS = ('template', 'parameters', 'environment', 'files')
_RESERVATIONS = sa.table('reservations', sa.column('id'), sa.column('resource_type'),
                         sa.column('state'), sa.column('request', sa.JSON),
                         sa.column('secrets', sa.JSON(none_as_null=True)))
_OFFERS = sa.table('offers', sa.column('id'), sa.column('place'), sa.column('request', sa.JSON),
                   sa.column('secrets', sa.JSON(none_as_null=True)))
_OUTBOX = sa.table('outbox', sa.column('id'), sa.column('payload', sa.JSON))
# The tables are read in parts, because templates may be large.
_BATCH = 100


def upgrade():
    op.add_column('reservations', sa.Column('secrets', sa.JSON))
    op.add_column('offers', sa.Column('secrets', sa.JSON))
    connection = op.get_bind()
    for row in _rows(connection, _RESERVATIONS, _RESERVATIONS.c.resource_type == _TYPE):
        request, secrets = _apart(row.request)
        keeps = secrets if row.state in ('pending', 'error') else None
        _change(connection, _RESERVATIONS, row.id, request=request, secrets=keeps or None)
    for row in _rows(connection, _OFFERS):
        parts = {each['id']: _apart(each['request']) for each in row.request
                 if each['resource_type'] == _TYPE}
        keeps = {key: secrets for key, (_, secrets) in parts.items()
                 if secrets and row.place is not None}
        if parts:
            _change(connection, _OFFERS, row.id, secrets=keeps or None, request=[
                {**each, 'request': parts[each['id']][0]} if each['id'] in parts else each
                for each in row.request])
    for row in _rows(connection, _OUTBOX):
        told = [{**each, 'request': _apart(each.get('request') or {})[0]}
                if each.get('resource_type') == _TYPE else each
                for each in row.payload.get('reservations') or ()]
        if told and told != row.payload['reservations']:
            _change(connection, _OUTBOX, row.id, payload={**row.payload, 'reservations': told})


def _apart(request):
    """Return (a request without its secret fields, those that it has)."""
    return ({name: value for name, value in request.items() if name not in _FIELDS},
            {name: request[name] for name in _FIELDS if request.get(name) is not None})


def _rows(connection, table, *conditions):
    """Yield the rows of a table that meet conditions, a part at a time."""
    ids = list(connection.execute(sa.select(table.c.id).where(*conditions)).scalars())
    for first in range(0, len(ids), _BATCH):
        yield from connection.execute(sa.select(table).where(
            table.c.id.in_(ids[first:first + _BATCH]))).all()


def _change(connection, table, row_id, **values):
    connection.execute(sa.update(table).where(table.c.id == row_id).values(**values))
