# SPDX-License-Identifier: Apache-2.0
"""The managers of this Climate, and which of them are alive."""
from climate.db import managers
from climate.domain import heartbeat


def find(core):
    """Return the Services, ordered by id, without managers that were stopped cleanly."""
    now = core.clock()
    with core.database.reader() as connection:
        known = managers.every(connection)
    return heartbeat.judged(known, now, core.conf.manager.claim_seconds)
