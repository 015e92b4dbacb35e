# SPDX-License-Identifier: Apache-2.0
"""Delete refusals that are too old for any forecast."""
import datetime

from oslo_log import log

from climate.db import refusals
from climate.db import usage_days

LOG = log.getLogger(__name__)

#: The pause between two runs.
PAUSE_SECONDS = 3600
_AT_ONCE = 1000


def forget(core, now):
    """Delete old refusals, some at once; those that the usage is not counted from yet stay.

    Any number of managers may do so at once, because what one has deleted the others do not find.
    """
    days = core.conf.forecast.refusals_days
    if not days:
        return
    before = now - datetime.timedelta(days=days)
    with core.database.reader() as connection:
        before = min(before, usage_days.counted_until(connection) or before)
    total, count = 0, _AT_ONCE
    while count == _AT_ONCE:
        with core.database.writer() as connection:
            count = refusals.purge(connection, before, _AT_ONCE)
        total += count
    if total:
        LOG.info('Deleted %d refusals from before %s', total, f'{before:%Y-%m-%d}')
