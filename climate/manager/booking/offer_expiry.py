# SPDX-License-Identifier: Apache-2.0
"""Expire offers that nobody took in time: release their resources and wake the wait queue."""
import datetime

from oslo_log import log

from climate.db import offers
from climate.manager import core as cores
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# The time after its end for which an offer is reported as expired; after that as not found.
_KNOWN = datetime.timedelta(hours=1)
# An upper bound for the duration of a plan: an offer that was released while a plan was made
# expired no earlier than this before the plan began.
_JUST_NOW = datetime.timedelta(minutes=1)


def freed_resources(core, now):
    """Expire offers; return True if a plan begun at `now` did not see all freed resources."""
    expire(core, now)
    # Another manager may have expired the offers while the plan was made.
    with core.database.reader() as connection:
        return offers.any_expired(connection, now - _JUST_NOW, now)


def expire(core, now):
    """Release the resources of offers that have expired; return how many offers held any.

    Any number of managers may do it at once.
    """
    with core.database.reader() as connection:
        ids = offers.expired(connection, now, now - _KNOWN)
    count = 0
    for offer_id in ids:
        with cores.isolated('Offer %s', offer_id):
            count += _expire(core, offer_id, now)
    if count:
        core.notify()
    return count


@cores.again_after_a_race
def _expire(core, offer_id, now):
    """Release or forget one offer that has expired; return how many offers held anything."""
    with core.database.writer() as connection:
        locked = offers.lock(connection, [offer_id])
        held = [each for each in locked if each.allocations]
        offers.delete(connection, [each for each in locked if each.held_until <= now - _KNOWN])
        offers.release(connection, [each for each in locked if each.held_until > now - _KNOWN])
        if held:
            wakeups.wake(connection, now)
    for each in held:
        LOG.info('Offer %s of project %s: expired', each.id, each.project_id)
    return len(held)
