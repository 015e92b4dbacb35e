# SPDX-License-Identifier: Apache-2.0
"""Reports of members that a resource, which seems to work, does not."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0033'
down_revision = '0032'


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    op.create_table(
        'swap_reports',
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('resource_id', sa.BigInteger().with_variant(sa.Integer, 'sqlite'),
                  nullable=False, autoincrement=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('until', sa.DateTime(timezone=True).with_variant(sa.DateTime(), 'sqlite')
                  .with_variant(mysql.DATETIME(fsp=6), 'mysql'), nullable=False),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE',
                                name='fk_swap_reports_lease_id'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'], ondelete='CASCADE',
                                name='fk_swap_reports_resource_id'),
        sa.PrimaryKeyConstraint('lease_id', 'resource_id', name='pk_swap_reports'),
        sa.Index('ix_swap_reports_resource_id_until', 'resource_id', 'until'),
        sa.Index('ix_swap_reports_project_id_until', 'project_id', 'until'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
