# SPDX-License-Identifier: Apache-2.0
"""The trusts that were created for leases of this database."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0015'
down_revision = '0014'


def _moment():
    return (sa.DateTime(timezone=True)
            .with_variant(sa.DateTime(), 'sqlite')
            .with_variant(mysql.DATETIME(fsp=6), 'mysql'))


def _text(length):
    return sa.String(length).with_variant(
        mysql.VARCHAR(length, charset='utf8mb4', collation='utf8mb4_bin'), 'mysql')


def upgrade():
    trusts = op.create_table(
        'trusts',
        sa.Column('id', _text(36), nullable=False),
        sa.Column('lease_id', _text(36), nullable=False),
        sa.Column('trust_id', _text(36)),
        sa.Column('expires_at', _moment()),
        sa.Column('closing', sa.Boolean, nullable=False),
        sa.Column('created_at', _moment(), nullable=False),
        sa.PrimaryKeyConstraint('id', name='pk_trusts'),
        sa.Index('ix_trusts_created_at', 'created_at'),
        sa.Index('ix_trusts_trust_id', 'trust_id'),
        mysql_engine='InnoDB', mysql_charset='utf8mb4')
    leases = sa.table('leases', *map(sa.column, ('id', 'trust_id', 'created_at')))
    events = sa.table('events', *map(sa.column, ('lease_id', 'kind', 'status')))
    # The trusts of these leases never expire, and their leases have not dropped them.
    op.execute(sa.insert(trusts).from_select(
        ['id', 'lease_id', 'trust_id', 'closing', 'created_at'],
        sa.select(leases.c.id, leases.c.id, leases.c.trust_id, sa.false(), leases.c.created_at)
        .where(leases.c.trust_id.is_not(None), ~sa.exists().where(
            events.c.lease_id == leases.c.id, events.c.kind == 'drop_trust',
            events.c.status == 'DONE'))))
