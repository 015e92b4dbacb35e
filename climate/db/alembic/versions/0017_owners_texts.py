# SPDX-License-Identifier: Apache-2.0
"""The reasons of leases, and their history, have a version for the owner beside that for operators.

Rows that exist have none: their owners read a neutral sentence with the id of the lease.
"""
from alembic import op
import sqlalchemy as sa

revision = '0017'
down_revision = '0016'


def upgrade():
    op.add_column('leases', sa.Column('owner_reason', sa.Text))
    op.add_column('history', sa.Column('owner_why', sa.Text))
