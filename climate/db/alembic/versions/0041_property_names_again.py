# SPDX-License-Identifier: Apache-2.0
"""An empty revision: 0056 does its former work, because expansions come before contractions."""
revision = '0041'
down_revision = '0040'


def upgrade():
    """Change nothing."""
