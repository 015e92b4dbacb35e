# SPDX-License-Identifier: Apache-2.0
"""The dates of Blazar: UTC without a time zone, and sometimes outside the calendar of Climate."""
import datetime

from climate import moments
from climate.db.blazar import source as sources

#: The date of all that Blazar dates later than the last year of Climate.
LATEST = datetime.datetime(moments.YEARS[-1], 12, 31, 23, 59, tzinfo=datetime.UTC)


def moment(value):
    """Return a date of Blazar as a moment, at most LATEST; None if it is missing or no date."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return None
    if value is None or value.year < moments.YEARS[0]:
        return None
    return min(value.replace(tzinfo=datetime.UTC), LATEST)


def with_length(row):
    """Return the row of a lease, with an end after its start.

    Blazar counts in minutes, and a lease can end in the minute of its start.
    """
    start, end = moment(row['start_date']), moment(row['end_date'])
    if start is None or end is None or end > start:
        return row
    return sources.Row(row, end_date=start + datetime.timedelta(minutes=1))
