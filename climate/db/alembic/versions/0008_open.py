# SPDX-License-Identifier: Apache-2.0
"""Indexes to find open leases, and the allocations of a reservation, among many ended ones."""
from alembic import op

revision = '0008'
down_revision = '0007'


def upgrade():
    op.create_index('ix_leases_deleted_at_state_created_at_id', 'leases',
                    ['deleted_at', 'state', 'created_at', 'id'])
    # First the new one: MariaDB wants one that begins with the foreign key at all times.
    op.create_index('ix_allocations_reservation_id_resource_id', 'allocations',
                    ['reservation_id', 'resource_id'])
    op.drop_index('ix_allocations_reservation_id', 'allocations')
