# SPDX-License-Identifier: Apache-2.0
"""Series of leases, and their occurrences."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0052'
down_revision = '0051'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def upgrade():
    op.create_table(
        'series',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('name', _text(80), nullable=False),
        sa.Column('request', sa.JSON, nullable=False),
        sa.Column('secrets', sa.JSON),
        sa.Column('start', _text(26), nullable=False),
        sa.Column('seconds', sa.BigInteger, nullable=False),
        sa.Column('rule', _text(500), nullable=False),
        sa.Column('time_zone', _text(64), nullable=False),
        sa.Column('mode', _text(16), nullable=False),
        sa.Column('same_resources', sa.Boolean, nullable=False),
        sa.Column('resources', sa.JSON),
        sa.Column('hidden_criteria', sa.Boolean, nullable=False),
        sa.Column('status', _text(16), nullable=False),
        sa.Column('booked_until', _moment()),
        sa.Column('extend_at', _moment()),
        sa.Column('trust_id', _text(36)),
        sa.Column('generation', sa.Integer, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('updated_at', _moment()),
        sa.PrimaryKeyConstraint('id', name='pk_series'),
        sa.Index('ix_series_project_id_created_at_id', 'project_id', 'created_at', 'id'),
        sa.Index('ix_series_created_at_id', 'created_at', 'id'),
        sa.Index('ix_series_status_extend_at', 'status', 'extend_at'),
        sa.Index('ix_series_trust_id', 'trust_id'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_table(
        'series_occurrences',
        sa.Column('series_id', _text(36), nullable=False),
        sa.Column('number', sa.Integer, nullable=False, autoincrement=False),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment(), nullable=False),
        sa.Column('status', _text(16), nullable=False),
        sa.Column('lease_id', _text(36)),
        sa.Column('changed', sa.Boolean, nullable=False),
        sa.Column('due_at', _moment()),
        sa.Column('problem', sa.Text),
        sa.Column('owner_problem', sa.Text),
        sa.PrimaryKeyConstraint('series_id', 'number', name='pk_series_occurrences'),
        sa.ForeignKeyConstraint(['series_id'], ['series.id'], ondelete='CASCADE',
                                name='fk_series_occurrences_series_id'),
        sa.Index('ix_series_occurrences_due_at', 'due_at'),
        sa.Index('ix_series_occurrences_status_due_at', 'status', 'due_at'),
        sa.Index('ix_series_occurrences_lease_id', 'lease_id'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.add_column('leases', sa.Column('series_id', _text(36)))
    op.create_index('ix_leases_series_id', 'leases', ['series_id'])
