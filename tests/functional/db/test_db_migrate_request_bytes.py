# SPDX-License-Identifier: Apache-2.0
"""An upgrade counts the bytes of the requests of leases that are not over, and of offers."""
import dataclasses

from support import builders
from support import db_rows

from climate.db import leases
from climate.db import migrate
from climate.db import request_sizes as sizes
from climate.db import tables
from climate.domain import records
from climate.domain import request_sizes

NOON = db_rows.NOON


def test_an_upgrade_counts_what_a_new_lease_would_count(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0034')
    made = db_rows.a_lease()
    stack = db_rows.a_reservation(made.id, {'on_end': 'delete'},
                                  secrets=records.Secrets({'files': {'a': 'x' * 5_000}}))
    made = dataclasses.replace(made, reservations=(stack, *made.reservations), events=())
    over = db_rows.a_lease(ended_at=NOON)
    for lease in (made, over):
        db_rows.saved_in_old_tables(database, lease)
    with database.writer(counted=False) as connection:
        db_rows.write_in_old_table(connection, tables.OFFERS, {
            'id': 'o', 'project_id': 'other', 'user_id': 'u', 'place': 1, 'start': NOON,
            'end': NOON, 'request': [{'id': 'r', 'request': {'a': 'x' * 3_000}}],
            'held_until': NOON, 'created_at': NOON})
    migrate.upgrade(database)
    with database.reader() as connection:
        counted = leases.get(connection, made.id).request_bytes
        assert abs(counted - request_sizes.of_lease(made)) < 100
        assert sizes.of_project(connection, 'demo', NOON) == counted
        assert leases.get(connection, over.id).request_bytes == 0
        assert 3_000 < sizes.of_project(connection, 'other', NOON) < 3_200
