# SPDX-License-Identifier: Apache-2.0
"""Count usage and utilisation from the rows of leases, for the time that no closed day covers."""
from climate.db import usage_refusals
from climate.db import usage_rows
from climate.domain import usage_figures
from climate.domain import utilisation


def usage(connection, start, end, now, project_id=None, by_day=True):
    """Return {Key: Seconds} between two seconds, counted from rows.

    :param now: up to this moment occupied and idle are counted.
    :param project_id: only this project; None: all.
    :param by_day: whether to count each day alone.
    """
    span = usage_figures.moment(start), usage_figures.moment(end)
    return usage_figures.tally(
        usage_rows.shares(connection, *span, now, project_id=project_id),
        usage_refusals.between(connection, *span, project_id=project_id), start, end, by_day)


def hours(connection, start, end, now, pool=None):
    """Return the PoolSteps of the hours between two full hours, counted from rows.

    :param now: up to this moment occupied is counted.
    :param pool: only this pool; None: all.
    """
    span = usage_figures.moment(start), usage_figures.moment(end)
    return utilisation.by_hour(usage_rows.enrolments(connection, *span, pool),
                               usage_rows.shares(connection, *span, now, pool), start, end)


def day(connection, first, now):
    """Return ({Key: Seconds}, [PoolStep of each hour]) of the day that begins at a second."""
    end = first + usage_figures.DAY_SECONDS
    return usage(connection, first, end, now), hours(connection, first, end, now)
