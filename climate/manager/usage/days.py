# SPDX-License-Identifier: Apache-2.0
"""Count usage from the rows of leases, and store the sums of each day that is over.

A day is closed when its sums are stored. Reports do not read the rows of closed days. Days are
closed in order, each in one transaction that also claims the day. So several managers may close
days at the same time, and a crash leaves no day half closed.
"""
import datetime

from oslo_log import log

from climate.db import engine
from climate.db import refusals
from climate.db import usage_days
from climate.db import usage_rows
from climate.domain import usage_figures
from climate.domain import utilisation

LOG = log.getLogger(__name__)

#: The pause between two checks whether a day is over.
PAUSE_SECONDS = 300
# A day is closed this long after its end, because transactions and samples may end after it.
_MARGIN = datetime.timedelta(hours=1)
# The greatest number of days that one run closes after a long outage.
_AT_ONCE = 31


def close(database, now, most=_AT_ONCE):
    """Close the days that are over at `now` and not closed yet, in order.

    :param most: the greatest number of days; None means all.
    :returns: the number of days that this call closed.
    """
    closed = 0
    while most is None or closed < most:
        with database.reader() as connection:
            day = next_day(connection)
            if day is None or not _is_over(day, now):
                break
            end = day + usage_figures.DAY_SECONDS
            tally = count_usage(connection, day, end, now)
            hours = count_hours(connection, day, end, now)
        try:
            with database.writer() as connection:
                is_claimed = usage_days.close(connection, day, tally, hours)
        except engine.Duplicate:
            break
        if is_claimed:
            closed += 1
            LOG.info('Usage of %s: closed, %d sums', f'{usage_figures.moment(day):%Y-%m-%d}',
                     len(tally))
    return closed


def closed_part_ends(connection, start, end):
    """Return the second between `start` and `end` at which the closed days end.

    Call it before rows are read, so that no day is counted both from its sums and from its rows.
    """
    return min(max(usage_days.closed_until(connection) or start, start), end)


def count_usage(connection, start, end, now, project_id=None, by_day=True):
    """Return {Key: Seconds} between two seconds, counted from rows.

    :param now: occupied and idle time is counted up to this moment.
    :param project_id: count only this project; None means all projects.
    :param by_day: whether to count each day separately.
    """
    span = usage_figures.moment(start), usage_figures.moment(end)
    return usage_figures.tally(
        usage_rows.shares(connection, *span, now, project_id=project_id),
        refusals.counted_between(connection, *span, project_id=project_id), start, end, by_day)


def count_hours(connection, start, end, now, pool=None):
    """Return the PoolSteps of the hours between two full hours, counted from rows.

    :param now: occupied time is counted up to this moment.
    :param pool: count only this pool; None means all pools.
    """
    span = usage_figures.moment(start), usage_figures.moment(end)
    return utilisation.by_hour(usage_rows.enrolments(connection, *span, pool),
                               usage_rows.shares(connection, *span, now, pool), start, end)


def next_day(connection):
    """Return the first second of the first day that is not closed; None if there is no usage."""
    until = usage_days.closed_until(connection)
    if until is not None:
        return until
    first = usage_rows.first_moment(connection)
    return None if first is None else usage_figures.day_of(usage_figures.second(first))


def _is_over(day, now):
    return usage_figures.moment(day + usage_figures.DAY_SECONDS) + _MARGIN <= now
