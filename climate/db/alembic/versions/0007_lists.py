# SPDX-License-Identifier: Apache-2.0
"""Indexes in the order in which leases are listed."""
from alembic import op

revision = '0007'
down_revision = '0006'

_NEW = (('project_id', 'deleted_at', 'created_at', 'id'),
        ('project_id', 'deleted_at', 'state', 'created_at', 'id'),
        ('deleted_at', 'created_at', 'id'),
        ('name', 'project_id', 'deleted_at'))
_OLD = (('project_id', 'state', 'end'), ('created_at', 'id'), ('name',), ('deleted_at',))


def upgrade():
    for columns in _NEW:
        op.create_index(_name(columns), 'leases', columns)
    for columns in _OLD:
        op.drop_index(_name(columns), 'leases')


def _name(columns):
    return f'ix_leases_{"_".join(columns)}'
