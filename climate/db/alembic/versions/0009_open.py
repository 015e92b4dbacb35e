# SPDX-License-Identifier: Apache-2.0
"""The leases that are not over, and a promise to a reservation, are found beside all history."""
from alembic import op

revision = '0009'
down_revision = '0006'


def upgrade():
    op.create_index('ix_leases_deleted_at_state_created_at_id', 'leases',
                    ['deleted_at', 'state', 'created_at', 'id'])
    # First the new one: MariaDB wants one that begins with the foreign key at all times.
    op.create_index('ix_allocations_reservation_id_resource_id', 'allocations',
                    ['reservation_id', 'resource_id'])
    op.drop_index('ix_allocations_reservation_id', 'allocations')
