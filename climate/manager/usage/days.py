# SPDX-License-Identifier: Apache-2.0
"""Close the days that are over: write their usage down, so that no later question reads their rows.

Days are closed in order, each in one transaction that claims it. So any number of managers may
close days at once, and a manager that dies leaves a day whole or not closed.
"""
import datetime

from oslo_log import log

from climate.db import engine
from climate.db import usage_days
from climate.db import usage_rows
from climate.domain import usage_figures
from climate.manager.usage import counts

LOG = log.getLogger(__name__)

#: The pause between two looks whether a day is over.
PAUSE_SECONDS = 300
# A transaction that began before midnight may end after it; so may a slot of samples.
_MARGIN = datetime.timedelta(hours=1)
# After a long outage, so many days are closed in one run.
_AT_ONCE = 31


def close(database, now, most=_AT_ONCE):
    """Close the days that are over at `now` and not closed yet, the first ones first.

    :param most: how many days at most; None: all.
    :returns: how many days were closed by this call.
    """
    closed = 0
    while most is None or closed < most:
        with database.reader() as connection:
            day = next_day(connection)
            if day is None or not _is_over(day, now):
                break
            tally, hours = counts.day(connection, day, now)
        try:
            with database.writer() as connection:
                mine = usage_days.close(connection, day, tally, hours)
        except engine.Duplicate:
            break
        if mine:
            closed += 1
            LOG.info('Usage of %s: closed, %d sums', f'{usage_figures.moment(day):%Y-%m-%d}',
                     len(tally))
    return closed


def next_day(connection):
    """Return the first second of the first day that is not closed; None: there is no usage."""
    until = usage_days.closed_until(connection)
    if until is not None:
        return until
    first = usage_rows.first_moment(connection)
    return None if first is None else usage_figures.day_of(usage_figures.second(first))


def _is_over(day, now):
    return usage_figures.moment(day + usage_figures.DAY_SECONDS) + _MARGIN <= now
