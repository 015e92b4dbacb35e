# SPDX-License-Identifier: Apache-2.0
"""Block resources that are not well, so that no lease gets them in the next hours."""
import datetime

from climate.db import blocks
from climate.db import health as stored
from climate.db import resources
from climate.domain import health
from climate.domain import interval
from climate.manager import core as cores

# A block is longer than necessary, so that not every pass has to prolong it.
_LONGER = 1.25


def ahead(conf):
    """Return how far ahead a resource that is not well is blocked, as a timedelta."""
    return datetime.timedelta(hours=conf.health.heal_hours)


def prolong(core, now):
    """Prolong the blocks of all resources that are not well."""
    with core.database.reader() as connection:
        ids = stored.sick_ids(connection)
        incomplete = blocks.incomplete(connection, {
            (health.block_of(key), key): interval.Interval(now, now + ahead(core.conf))
            for key in ids}) if ids else ()
    for _, resource_id in sorted(incomplete):
        with cores.isolated('Resource %s', resource_id):
            _fill(core, resource_id, now)


@cores.again_after_a_race
def _fill(core, resource_id, now):
    with core.database.writer() as connection:
        if resources.lock_enrolled(connection, [resource_id]) and (
                resource_id in stored.sick_ids(connection)):
            fill(connection, core.conf, resource_id, now)


def fill(connection, conf, resource_id, now):
    """Block a locked resource from now on, except while leases have it."""
    span = interval.Interval(now, now + _LONGER * ahead(conf))
    blocks.fill(connection, {(health.block_of(resource_id), resource_id): span})
    # Galera refuses a concurrent transaction only if both write the same row.
    resources.touch(connection, [resource_id], now)


def clear(connection, resource_ids):
    """Remove the blocks of locked resources; return whether there were any."""
    return blocks.delete(connection, [health.block_of(key) for key in resource_ids]) > 0
