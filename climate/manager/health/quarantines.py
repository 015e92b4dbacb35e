# SPDX-License-Identifier: Apache-2.0
"""Quarantines of resources that owners swapped, and the reports that lead to them."""
import datetime

from climate import errors
from climate.db import health as stored
from climate.db import resources
from climate.db import swap_reports
from climate.domain import health
from climate.manager.health import blocking
from climate.manager.health import states

# The minutes for which reports count if quarantines last until an operator ends them.
_MINUTES = 1440


def refuse_too_many(connection, conf, lease, now):
    """Refuse another report of the project of a lease beyond the maximum.

    :raises TooManySwaps: the project has made the maximum.
    """
    most = conf.health.swaps_per_project
    ends = swap_reports.ends(connection, lease.project_id, now)
    if len(ends) >= most:
        # The number of reports drops below the maximum then.
        after = f', or swap it after {ends[-most]:%Y-%m-%d %H:%M} UTC' if most else ''
        raise errors.TooManySwaps(lease_id=lease.id, most=most, minutes=_counted(conf),
                                  after=after)


def report(connection, conf, lease, resource, user_id, now):
    """Store the report of a member about a locked Resource that seems to work.

    The lease does not get it again while the report counts. Other leases do, unless enough projects
    and users report it.

    :returns: whether enough report it, so that it must go into quarantine.
    """
    until = now + datetime.timedelta(minutes=_counted(conf))
    swap_reports.put(connection, swap_reports.SwapReport(
        lease.id, resource.id, lease.project_id, user_id or '', until), now)
    # The nodes of a Galera cluster compare written rows, so that two reports at a time are counted.
    resources.touch(connection, [resource.id], now)
    enough = conf.health.quarantine_projects
    return enough > 0 and min(swap_reports.reporters(connection, resource.id, now)) >= enough


def begin(connection, conf, resource, reason, now):
    """Put a locked Resource into quarantine."""
    known = stored.find(connection, [resource.id])[resource.id]
    states.write(connection, conf, resource, states.quarantined(known, conf, reason, now), now)
    # Also if it was not well before: the share of the lease is free now.
    blocking.fill(connection, conf, resource.id, now)


def confirmed(resource):
    """Return whether monitoring or an operator says that a Resource does not work."""
    return resource.health_state in (health.SICK, health.OUT_OF_ORDER)


def _counted(conf):
    """Return the minutes for which reports count."""
    return conf.health.quarantine_minutes or _MINUTES
