# SPDX-License-Identifier: Apache-2.0
"""The connection of alembic to the database: the one that migrate.py opened."""
from alembic import context

from climate.db import tables

context.configure(connection=context.config.attributes['connection'],
                  target_metadata=tables.METADATA)
context.run_migrations()
