# SPDX-License-Identifier: Apache-2.0
"""The moment at which a lease was asked for as it started, which short notice is measured from."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0032'
down_revision = '0031'


def upgrade():
    op.add_column('leases', sa.Column('asked_at', sa.DateTime(timezone=True)
                                      .with_variant(sa.DateTime(), 'sqlite')
                                      .with_variant(mysql.DATETIME(fsp=6), 'mysql')))
