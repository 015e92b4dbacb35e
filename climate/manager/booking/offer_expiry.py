# SPDX-License-Identifier: Apache-2.0
"""Expire offers that were not taken in time: release their resources and wake the wait queue."""
import datetime

from oslo_log import log

from climate.db import offers
from climate.manager import core as cores
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# An expired offer is kept for this time, and reported as expired; later it is not found.
_KEPT = datetime.timedelta(hours=1)
# An upper bound for the time between the expiry of an offer and the release of its resources.
_RELEASED_WITHIN = datetime.timedelta(minutes=1)


def freed_resources(core, now):
    """Expire offers; return True if a plan begun at `now` may have missed released resources."""
    expire(core, now)
    # Another manager may have released resources while the plan was made.
    with core.database.reader() as connection:
        return offers.any_expired(connection, now - _RELEASED_WITHIN, now)


def expire(core, now):
    """Release the resources of expired offers; return how many offers held resources.

    Any number of managers may do this at the same time.
    """
    with core.database.reader() as connection:
        ids = offers.expired(connection, now, now - _KEPT)
    count = 0
    for offer_id in ids:
        with cores.isolated('Offer %s', offer_id):
            count += _expire(core, offer_id, now)
    if count:
        core.notify()
    return count


@cores.again_after_a_race
def _expire(core, offer_id, now):
    """Release or delete one expired offer; return 1 if it held resources, else 0."""
    with core.database.writer() as connection:
        locked = offers.lock(connection, [offer_id])
        held = [each for each in locked if each.allocations]
        offers.delete(connection, [each for each in locked if each.held_until <= now - _KEPT])
        offers.release(connection, [each for each in locked if each.held_until > now - _KEPT])
        if held:
            wakeups.wake(connection, now)
    for each in held:
        LOG.info('Offer %s of project %s: expired', each.id, each.project_id)
    return len(held)
