# SPDX-License-Identifier: Apache-2.0
"""The order of the wait queue: priority, share, age.

The highest priority is first. Among leases of the same priority, the smallest share of the project
is first, and then the oldest request. Without fair share all shares are 0.
"""
import sqlalchemy as sa

from climate.db import tables

_OWN = tables.ACQUISITIONS.c

#: The columns by which the queue is sorted.
COLUMNS = (_OWN.priority.desc(), _OWN.share, _OWN.created_at, _OWN.lease_id)


def behind(place):
    """Return the condition that an acquisition is behind an Acquisition or a QueuedLease."""
    condition = _OWN.lease_id > place.lease_id
    for column, value in ((_OWN.created_at, place.created_at), (_OWN.share, place.share)):
        condition = sa.or_(column > value, sa.and_(column == value, condition))
    return sa.or_(_OWN.priority < place.priority,
                  sa.and_(_OWN.priority == place.priority, condition))


def before(place):
    """Return the condition that an acquisition is before an Acquisition or a QueuedLease."""
    return sa.and_(~behind(place), _OWN.lease_id != place.lease_id)


def has_smaller_share(place):
    """Return the condition that an acquisition is before an Acquisition because of its share."""
    return sa.and_(_OWN.priority == place.priority, _OWN.share < place.share)
