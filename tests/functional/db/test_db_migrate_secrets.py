# SPDX-License-Identifier: Apache-2.0
"""An upgrade moves the secrets of requests to a column of their own, or deletes them."""
import dataclasses

import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows

from climate.db import journal
from climate.db import leases
from climate.db import migrate
from climate.db import reservations
from climate.db import tables

NOON = db_rows.NOON


@pytest.mark.proof
@pytest.mark.parametrize(('state', 'kept'), [('pending', True), ('active', False),
                                             ('deleted', False), ('error', True)])
def test_secrets_of_requests_move_to_their_column_if_a_start_needs_them(database, state, kept):
    request = {'on_end': 'delete', 'template': {'a': 1}, 'parameters': {'word': 'secret'}}
    builders.drop_everything(database)
    migrate.upgrade(database, '0033')
    lease = db_rows.a_lease(reservations=0)
    stack = dataclasses.replace(db_rows.a_reservation(lease.id, request, state=state),
                                resource_type='virtual:stack')
    db_rows.saved_in_old_tables(database, dataclasses.replace(lease, reservations=(stack,)))
    with database.writer(counted=False) as connection:
        journal.publish(connection, NOON, 'lease.create', [{'lease_id': lease.id, 'reservations': [
            {'resource_type': 'virtual:stack', 'request': request}]}, {'reservations': None}])
    migrate.upgrade(database)
    with database.reader() as connection:
        [reservation] = leases.get(connection, lease.id).reservations
        secrets = reservations.secrets_of(connection, [reservation.id])[reservation.id]
        payloads = connection.execute(
            sa.select(tables.OUTBOX.c.payload).order_by(tables.OUTBOX.c.id)).scalars().all()
    assert reservation.request == {'on_end': 'delete'}
    assert secrets == ({'template': {'a': 1}, 'parameters': {'word': 'secret'}} if kept else {})
    assert [payload['reservations'] for payload in payloads] == [
        [{'resource_type': 'virtual:stack', 'request': {'on_end': 'delete'}}], None]
