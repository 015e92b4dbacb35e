# SPDX-License-Identifier: Apache-2.0
"""Indexes for lists of leases that are sorted by name, start or end."""
from alembic import op

revision = '0049'
down_revision = '0048'


def upgrade():
    for key in ('name', 'start', 'end'):
        for columns in (('project_id', 'deleted_at', key, 'id'), ('deleted_at', key, 'id')):
            op.create_index(f'ix_leases_{"_".join(columns)}', 'leases', columns)
