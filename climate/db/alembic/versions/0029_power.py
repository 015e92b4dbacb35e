# SPDX-License-Identifier: Apache-2.0
"""The power of resources: which sleep, and how they woke up."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0029'
down_revision = '0028'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def _id():
    return sa.BigInteger().with_variant(sa.Integer, 'sqlite')


def upgrade():
    op.create_table(
        'power_states',
        sa.Column('resource_id', _id(), nullable=False, autoincrement=False),
        sa.Column('state', _text(16), nullable=False),
        sa.Column('since', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('resource_id', name='pk_power_states'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'],
                                name='fk_power_states_resource_id'),
        sa.Index('ix_power_states_state', 'state'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_table(
        'power_changes',
        sa.Column('id', _id(), nullable=False, autoincrement=True),
        sa.Column('resource_id', _id(), nullable=False),
        sa.Column('kind', _text(16), nullable=False),
        sa.Column('at', _moment(), nullable=False),
        sa.Column('seconds', sa.Float),
        sa.PrimaryKeyConstraint('id', name='pk_power_changes'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'],
                                name='fk_power_changes_resource_id'),
        sa.Index('ix_power_changes_resource_id_at', 'resource_id', 'at'),
        sa.Index('ix_power_changes_at', 'at'),
        sqlite_autoincrement=True, mysql_engine='InnoDB', mysql_charset='utf8mb4')
