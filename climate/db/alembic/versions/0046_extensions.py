# SPDX-License-Identifier: Apache-2.0
"""Extensions of leases: their number, their steps, and the notification that they are possible."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0046'
down_revision = '0045'


def upgrade():
    op.add_column('leases', sa.Column(
        'extended_count', sa.Integer(), nullable=False, server_default=sa.text('0')))
    op.add_column('leases', sa.Column('while_free_seconds', sa.Integer()))
    op.add_column('leases', sa.Column('extension_open_for', sa.DateTime(timezone=True)
                                      .with_variant(sa.DateTime(), 'sqlite')
                                      .with_variant(mysql.DATETIME(fsp=6), 'mysql')))
    op.add_column('later_asks', sa.Column(
        'in_steps', sa.Boolean(), nullable=False, server_default=sa.false()))
