# SPDX-License-Identifier: Apache-2.0
"""The newest audit of the managers."""
from climate.db import audits


def find(core):
    """Return the ``audit.Result`` of the newest audit; None: no manager has made one."""
    with core.database.reader() as connection:
        return audits.newest(connection)
