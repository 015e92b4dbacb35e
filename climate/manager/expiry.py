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
# No plan takes longer, so that what was let go of since it began expired no earlier.
_JUST_NOW = datetime.timedelta(minutes=1)


def has_made_room(core, now):
    """True where offers stood in the way of a plan that began at `now`, and do not any more."""
    expire(core, now)
    # Another manager may have let go of them while the plan was made.
    with core.database.reader() as connection:
        return offers.were_over(connection, now - _JUST_NOW, now)


@cores.again_after_a_race
def expire(core, now):
    """Let go of offers whose time is over; returns how many held something.

    Any number of managers may do it at once.
    """
    with core.database.reader() as connection:
        ids = offers.over(connection, now, now - _KNOWN)
    if not ids:
        return 0
    with core.database.writer() as connection:
        found = offers.lock(connection, ids)
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
