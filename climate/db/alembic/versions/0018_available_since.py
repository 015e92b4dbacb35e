# SPDX-License-Identifier: Apache-2.0
"""A resource says when it was enrolled or became reservable again; existing ones were enrolled."""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = '0018'
down_revision = '0017'


def upgrade():
    op.add_column('resources', sa.Column(
        'available_since', sa.DateTime(timezone=True)
        .with_variant(sa.DateTime(), 'sqlite')
        .with_variant(mysql.DATETIME(fsp=6), 'mysql')))
    op.execute('UPDATE resources SET available_since = created_at')
