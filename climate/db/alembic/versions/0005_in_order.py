# SPDX-License-Identifier: Apache-2.0
"""The first free resources of a pool are found without reading all of them."""
from alembic import op

revision = '0005'
down_revision = '0004'


def upgrade():
    op.create_index('ix_resources_pool_id', 'resources', ['pool', 'id'])
