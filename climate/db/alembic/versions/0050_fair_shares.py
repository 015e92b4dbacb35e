# SPDX-License-Identifier: Apache-2.0
"""Shares of projects in the wait queue."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0050'
down_revision = '0049'


def upgrade():
    op.create_table(
        'project_shares',
        sa.Column('project_id', sa.String(255).with_variant(
            mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql'),
            nullable=False),
        sa.Column('share', sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint('project_id', name='pk_project_shares'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.add_column('acquisitions', sa.Column(
        'share', sa.Integer(), nullable=False, server_default=sa.text('0')))
    op.create_index('ix_acquisitions_waits_for_priority_share_created_at', 'acquisitions',
                    ['waits_for', 'priority', 'share', 'created_at'])
    op.drop_index('ix_acquisitions_waits_for_priority_created_at', 'acquisitions')
