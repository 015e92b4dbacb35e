# SPDX-License-Identifier: Apache-2.0
"""Which managers there are, and which of them live."""
from climate.db import managers
from climate.domain import heartbeat


def find(core):
    """The Services by their ids; one that stopped in good order is not among them."""
    now = core.clock()
    with core.database.reader() as connection:
        found = managers.all_of_them(connection)
    return heartbeat.judged(found, now, core.conf.manager.claim_seconds)
