# SPDX-License-Identifier: Apache-2.0
"""Resources that owners return: waiting leases are tried before any other lease gets them."""
import datetime

from oslo_log import log

from climate.db import given_back as stored
from climate.db import wait_queue
from climate.manager import core as cores
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


def keep(connection, conf, given, now):
    """Keep the resources of released Allocations for waiting leases, if there are any.

    Call it in the transaction that has released them, and wakes the queue.
    """
    waiting = wait_queue.who_waits(connection)
    given = [each for each in given if each.end > now]
    if given and (waiting.leases or waiting.occurrences):
        stored.keep(connection, given, now + datetime.timedelta(
            seconds=conf.acquire.given_back_seconds))


def expire(core, now):
    """Release the returned resources that no waiting lease took; return their number."""
    with core.database.reader() as connection:
        ids = stored.over(connection, now)
    count = 0
    for block_id in ids:
        with cores.isolated('Resources that were returned (%s)', block_id):
            count += _release(core, block_id, now)
    if count:
        LOG.info('Resources that were returned are free for all leases')
        core.notify()
    return count


@cores.again_after_a_race
def _release(core, block_id, now):
    with core.database.writer() as connection:
        if not stored.release(connection, block_id):
            return 0
        wakeups.wake(connection, now)
    return 1
