# SPDX-License-Identifier: Apache-2.0
"""The time that a plan looks at."""
import datetime

from climate import errors
from climate.domain import interval

LONGEST = datetime.timedelta(days=366)


def window(start, end, now):
    """Return the Interval of a plan.

    :raises BadField: the start is in the past, the end is not after the start, or too far away.
    """
    if start < now - datetime.timedelta(minutes=1):
        raise errors.BadField(field='start', reason=(
            f'it is in the past; now it is {now:%Y-%m-%d %H:%M:%S} UTC.'))
    start = max(start, now)
    return checked(start, end, 'end')


def checked(start, end, field):
    """Return the Interval of two moments.

    :raises BadField: the end is not after the start, or too far away; the error names `field`.
    """
    if end <= start:
        raise errors.BadField(field=field, reason=(
            f'it must be after the start, {start:%Y-%m-%d %H:%M:%S} UTC.'))
    if end - start > LONGEST:
        raise errors.BadField(field=field, reason=(
            f'a plan looks at {LONGEST.days} days at most.'))
    return interval.Interval(start, end)
