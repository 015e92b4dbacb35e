# SPDX-License-Identifier: Apache-2.0
"""The table of the names of users and projects."""
import sqlalchemy as sa

from climate.db.tables import base

# The names that callers had at their last change of a lease, so that no list needs Keystone.
OWNER_NAMES = sa.Table(
    'owner_names', base.METADATA,
    # "user" or "project".
    sa.Column('kind', base.text(16), primary_key=True),
    sa.Column('id', base.text(255), primary_key=True),
    sa.Column('name', base.text(255), nullable=False),
    sa.Index(None, 'name', 'kind'),
    **base.MYSQL)
