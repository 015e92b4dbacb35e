# SPDX-License-Identifier: Apache-2.0
"""The names of properties that older managers wrote after 0039, in the composed form (NFC)."""
from alembic import op

revision = '0056'
# The contraction is the last revision. A new expansion goes before it.
down_revision = '0055'
phase = 'contract'


def upgrade():
    # Managers that read 0038 may have created properties since the conversion.
    scripts = op.get_context().environment_context.script
    scripts.get_revision('0039').module.upgrade()
