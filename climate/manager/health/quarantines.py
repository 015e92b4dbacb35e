# SPDX-License-Identifier: Apache-2.0
"""Quarantines of resources that owners swapped, and the swap reports that lead to them."""
import dataclasses
import datetime

from climate import errors
from climate.db import health as stored
from climate.db import resources
from climate.db import swap_reports
from climate.domain import health
from climate.manager.health import blocking
from climate.manager.health import states

# The minutes for which a report counts if [health] quarantine_minutes is 0.
_MINUTES = 1440


def refuse_too_many(connection, conf, lease, now):
    """Refuse a swap if its report would exceed the maximum of the project.

    :raises TooManySwaps: the project has made the maximum number of reports.
    """
    most = conf.health.swaps_per_project
    ends = swap_reports.ends(connection, lease.project_id, now)
    if len(ends) >= most:
        # At this time, the number of reports drops below the maximum.
        after = f', or swap it after {ends[-most]:%Y-%m-%d %H:%M} UTC' if most else ''
        raise errors.TooManySwaps(lease_id=lease.id, most=most, minutes=_report_minutes(conf),
                                  after=after)


def report(connection, conf, lease, resource, user_id, now):
    """Store the report of a member about a locked Resource that seems to work.

    While the report counts, the lease does not get the resource again. Other leases can get it.

    :returns: whether enough projects and users report it, so that it must go into quarantine.
    """
    until = now + datetime.timedelta(minutes=_report_minutes(conf))
    swap_reports.put(connection, swap_reports.SwapReport(
        lease.id, resource.id, lease.project_id, user_id or '', until), now)
    # Galera refuses one of two concurrent reports only if both write the same row.
    resources.touch(connection, [resource.id], now)
    enough = conf.health.quarantine_projects
    return enough > 0 and min(swap_reports.reporters(connection, resource.id, now)) >= enough


def begin(connection, conf, resource, reason, now):
    """Put a locked Resource into quarantine."""
    minutes = conf.health.quarantine_minutes
    after = dataclasses.replace(
        stored.find(connection, [resource.id])[resource.id],
        quarantined_until=now + datetime.timedelta(minutes=minutes) if minutes else None,
        quarantined_since=now, quarantine_reason=reason)
    states.write(connection, conf, resource, after, now)
    # If it was not well before, block the share that the lease has just returned.
    blocking.fill(connection, conf, resource.id, now)


def confirmed(resource):
    """Return whether monitoring or an operator says that a Resource does not work."""
    return resource.health_state in (health.SICK, health.OUT_OF_ORDER)


def _report_minutes(conf):
    return conf.health.quarantine_minutes or _MINUTES
