# SPDX-License-Identifier: Apache-2.0
"""The shares of leases."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0051'
down_revision = '0050'


def _moment():
    return (sa.DateTime(timezone=True).with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('leases', sa.Column('shared', sa.Boolean, nullable=False,
                                      server_default=sa.false()))
    op.create_table(
        'shares',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('project_id', _text(255)),
        sa.Column('user_id', _text(255)),
        sa.Column('receiver_name', _text(255)),
        sa.Column('role', _text(16), nullable=False),
        sa.Column('until', _moment()),
        sa.Column('on_withdrawal', _text(16), nullable=False),
        sa.Column('notice_seconds', sa.Integer, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('created_by', _text(255), nullable=False),
        sa.Column('withdrawn_at', _moment()),
        sa.Column('cleared_at', _moment()),
        sa.PrimaryKeyConstraint('id', name='pk_shares'),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE',
                                name='fk_shares_lease_id'),
        sa.Index('ix_shares_lease_id_created_at', 'lease_id', 'created_at'),
        sa.Index('ix_shares_project_id_withdrawn_at', 'project_id', 'withdrawn_at'),
        sa.Index('ix_shares_user_id_withdrawn_at', 'user_id', 'withdrawn_at'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
