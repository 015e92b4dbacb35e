# SPDX-License-Identifier: Apache-2.0
"""Until when something ran in an hour of samples, so that a lease is idle from then on."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0037'
down_revision = '0036'


def upgrade():
    op.add_column('use_samples', sa.Column('used_until', sa.DateTime(timezone=True)
                                           .with_variant(sa.DateTime(), 'sqlite')
                                           .with_variant(mysql.DATETIME(fsp=6), 'mysql')))
