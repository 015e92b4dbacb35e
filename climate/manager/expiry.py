# SPDX-License-Identifier: Apache-2.0
"""Offers that nobody took in time: what they hold is free again, and who waits for it is woken."""
import datetime

from oslo_log import log

from climate.db import offers
from climate.manager import core as cores
from climate.manager.acquire import line

LOG = log.getLogger(__name__)

# So long whoever comes late is told that the offer has expired, and not that there was none.
_KNOWN = datetime.timedelta(hours=1)


@cores.again_after_a_race
def expire(core, now):
    """Let go of offers whose time is over; returns how many held something.

    Any number of managers may do it at once. One that is being taken at this moment is left.
    """
    with core.database.reader() as connection:
        ids = offers.over(connection, now, now - _KNOWN)
    if not ids:
        return 0
    with core.database.writer() as connection:
        found = offers.lock_free(connection, ids)
        late = [each for each in found if each.promises]
        offers.delete(connection, [each for each in found if each.held_until <= now - _KNOWN])
        offers.let_go(connection, [each for each in found if each.held_until > now - _KNOWN])
        if late:
            line.wake(connection, now)
    for each in late:
        LOG.info('Offer %s of project %s: expired', each.id, each.project_id)
    if late:
        core.wake()
    return len(late)
