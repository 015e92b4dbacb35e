# SPDX-License-Identifier: Apache-2.0
"""Usage of each day and utilisation of each hour, and when resources were out of order."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0021'
down_revision = '0020'


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
    options = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4', 'sqlite_autoincrement': True}
    op.create_table(
        'usage_days',
        sa.Column('id', _id(), autoincrement=True, nullable=False),
        sa.Column('day', _moment(), nullable=False),
        sa.Column('project_id', _text(255), nullable=False),
        sa.Column('user_id', _text(255), nullable=False),
        sa.Column('resource_type', _text(66), nullable=False),
        sa.Column('pool', _text(32), nullable=False),
        sa.Column('resource_id', _id(), nullable=False),
        sa.Column('amount', sa.Text().with_variant(
            mysql.TEXT(charset='utf8mb4', collation='utf8mb4_bin'), 'mysql'), nullable=False),
        sa.Column('reason', _text(64), nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False)
          for name in ('allocated', 'occupied', 'idle', 'refused')),
        sa.PrimaryKeyConstraint('id', name='pk_usage_days'),
        sa.Index('ix_usage_days_day', 'day'),
        sa.Index('ix_usage_days_project_id_day', 'project_id', 'day'), **options)
    op.create_table(
        'pool_hours',
        sa.Column('hour', _moment(), nullable=False),
        sa.Column('pool', _text(32), nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False)
          for name in ('capacity', 'allocated', 'occupied', 'out_of_order', 'asleep')),
        sa.Column('units', sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint('hour', 'pool', name='pk_pool_hours'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    op.create_table(
        'resource_absences',
        sa.Column('id', _id(), autoincrement=True, nullable=False),
        sa.Column('resource_id', _id(), nullable=False),
        sa.Column('kind', _text(16), nullable=False),
        sa.Column('start', _moment(), nullable=False),
        sa.Column('end', _moment()),
        sa.PrimaryKeyConstraint('id', name='pk_resource_absences'),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id'], ondelete='CASCADE',
                                name='fk_resource_absences_resource_id'),
        sa.Index('ix_resource_absences_resource_id_kind_end', 'resource_id', 'kind', 'end'),
        sa.Index('ix_resource_absences_end', 'end'), **options)
    op.create_index('ix_leases_ended_at_end', 'leases', ['ended_at', 'end'])
    op.create_index('ix_refusals_end_start', 'refusals', ['end', 'start'])
    # A resource that is out of use now was changed last when it became so, as far as is known.
    # One that is lent to a lease is not out of order.
    resources = sa.table('resources', *(sa.column(name) for name in (
        'id', 'reservable', 'withdrawn_at', 'lent_to', 'updated_at', 'created_at')))
    absences = sa.table('resource_absences', *(sa.column(name) for name in (
        'resource_id', 'kind', 'start')))
    op.execute(absences.insert().from_select(['resource_id', 'kind', 'start'], sa.select(
        resources.c.id, sa.literal('out_of_order'),
        sa.func.coalesce(resources.c.updated_at, resources.c.created_at)).where(
            resources.c.reservable.is_(sa.false()), resources.c.withdrawn_at.is_(None),
            resources.c.lent_to.is_(None))))
