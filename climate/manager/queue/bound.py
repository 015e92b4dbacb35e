# SPDX-License-Identifier: Apache-2.0
"""The bound of what the pools can have free from now on, read with two statements for each pool.

It says of any number of leases in the wait queue that they cannot get their resources now. That
costs far less than a plan for each.
"""
import datetime

from climate.db import free_resources
from climate.domain import minimum_need


class Bound:
    """What leases that would begin now can get at most. Each pool is read once, when it matters."""

    def __init__(self, connection, conf, now, own=()):
        """Make a bound for the moment `now`; nothing is read yet.

        :param own: ids of the reservations whose allocations do not count.
        """
        self._connection = connection
        self._cleaning = datetime.timedelta(minutes=conf.manager.cleaning_minutes)
        self._now = now
        self._own = own
        self._groups = {}

    def shortage(self, needed, until):
        """Return a least.Shortage if a lease cannot get what it needs now, or else None.

        :param needed: what ``minimum_need.of`` returned for its needs; None: not known.
        :param until: the end of the lease if it begins now.
        """
        if not needed:
            return None
        for pool in needed:
            if pool not in self._groups:
                self._groups[pool] = free_resources.groups(
                    self._connection, pool, self._now, self._cleaning, self._own)
        return minimum_need.shortage(needed, self._groups, until + self._cleaning)
