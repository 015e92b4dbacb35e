# SPDX-License-Identifier: Apache-2.0
"""The health of resources, and maintenance."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0028'
down_revision = '0027'

_ID = sa.BigInteger().with_variant(sa.Integer, 'sqlite')
_MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _long_text():
    return sa.Text().with_variant(mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.add_column('resources', sa.Column('health_state', _text(16), nullable=False,
                                         server_default='well'))
    op.add_column('resources', sa.Column('health_reason', _long_text()))
    op.create_index('ix_resources_health_state', 'resources', ['health_state'])
    op.create_table(
        'resource_health',
        sa.Column('resource_id', _ID, nullable=False, autoincrement=False),
        sa.Column('state', _text(16), nullable=False),
        sa.Column('since', _moment()),
        sa.Column('reason', _long_text()),
        sa.Column('source', _text(64)),
        sa.Column('changing_since', _moment()),
        sa.Column('looked_at', _moment()),
        sa.Column('out_of_order', _long_text()),
        sa.Column('out_of_order_since', _moment()),
        sa.Column('quarantined_until', _moment()),
        sa.Column('quarantined_since', _moment()),
        sa.Column('quarantine_reason', _long_text()),
        sa.PrimaryKeyConstraint('resource_id', name='pk_resource_health'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'], ondelete='CASCADE',
                                name='fk_resource_health_resource_id'),
        **_MYSQL)
    _maintenances()


def _maintenances():
    op.create_table(
        'maintenances',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('pool', _text(32), nullable=False),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment(), nullable=False),
        sa.Column('reason', _long_text(), nullable=False),
        sa.Column('running', _text(8), nullable=False),
        sa.Column('notice_minutes', sa.Integer, nullable=False),
        sa.Column('rule', sa.Text),
        sa.Column('expanded_to', _moment()),
        sa.Column('user_id', _text(255)),
        sa.Column('created_at', _moment(), nullable=False),
        sa.Column('closing', sa.Boolean, nullable=False),
        sa.Column('over', sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_maintenances'),
        sa.Index('ix_maintenances_over_start', 'over', 'start'),
        **_MYSQL)
    op.create_table(
        'maintenance_resources',
        sa.Column('maintenance_id', _text(36), nullable=False),
        sa.Column('resource_id', _ID, nullable=False),
        sa.PrimaryKeyConstraint('maintenance_id', 'resource_id', name='pk_maintenance_resources'),
        sa.ForeignKeyConstraint(['maintenance_id'], ['maintenances.id'], ondelete='CASCADE',
                                name='fk_maintenance_resources_maintenance_id'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'], ondelete='CASCADE',
                                name='fk_maintenance_resources_resource_id'),
        sa.Index('ix_maintenance_resources_resource_id', 'resource_id'),
        **_MYSQL)
    op.create_table(
        'maintenance_windows',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('maintenance_id', _text(36), nullable=False),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment(), nullable=False),
        sa.Column('state', _text(16), nullable=False),
        sa.Column('claim_owner', _text(255)),
        sa.Column('claim_no', sa.Integer, nullable=False),
        sa.Column('claimed_until', _moment()),
        sa.PrimaryKeyConstraint('id', name='pk_maintenance_windows'),
        sa.ForeignKeyConstraint(['maintenance_id'], ['maintenances.id'], ondelete='CASCADE',
                                name='fk_maintenance_windows_maintenance_id'),
        sa.UniqueConstraint('maintenance_id', 'start',
                            name='uq_maintenance_windows_maintenance_id_start'),
        sa.Index('ix_maintenance_windows_state_start', 'state', 'start'),
        **_MYSQL)
