# SPDX-License-Identifier: Apache-2.0
"""The transfers of leases."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0053'
down_revision = '0052'


def _moment():
    return (sa.DateTime(timezone=True).with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('reservations', sa.Column('billed_as', _text(36)))
    op.create_table(
        'transfers',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('from_project', _text(255), nullable=False),
        sa.Column('project_id', _text(255)),
        sa.Column('receiver_name', _text(255)),
        sa.Column('key_hash', _text(64)),
        sa.Column('hosts', sa.Integer),
        sa.Column('on_withdrawal', _text(16), nullable=False),
        sa.Column('notice_seconds', sa.Integer, nullable=False),
        sa.Column('status', _text(16), nullable=False),
        sa.Column('expires_at', _moment(), nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('created_by', _text(255), nullable=False),
        sa.Column('decided_at', _moment()),
        sa.Column('decided_by', _text(255)),
        sa.Column('new_lease_id', _text(36)),
        sa.PrimaryKeyConstraint('id', name='pk_transfers'),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE',
                                name='fk_transfers_lease_id'),
        sa.Index('ix_transfers_lease_id_created_at', 'lease_id', 'created_at'),
        sa.Index('ix_transfers_project_id_status', 'project_id', 'status'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
