# SPDX-License-Identifier: Apache-2.0
"""Ownership of a claimed event: how long this manager may act, and the check in a transaction."""
import dataclasses

from climate import errors
from climate.db import lease_claims
from climate.db import leases
from climate.domain import due_events

# The share of a claim's duration in which this manager may start cloud calls. The remaining time is
# reserved for a call that is running, and for differences between clocks.
_USED = 0.9


class ClaimLost(Exception):
    """Another manager may have claimed the event, so this manager must stop working on it."""


class Ownership:
    """The time during which this manager surely owns a claim.

    :param monotonic: returns a number of seconds that also grows while this process is stopped.
    :param began: the value of `monotonic` before the claim was written.
    :param seconds: the duration of the claim.
    :ivar must_hand_back: True if this manager is stopping and must hand back the event.
    """

    def __init__(self, monotonic, began, seconds):
        self._monotonic = monotonic
        self._seconds = seconds * _USED
        self._until = began + self._seconds
        self.must_hand_back = False

    def prolong(self, began):
        """Prolong the claim, whose new end was written to the database after `began`."""
        self._until = began + self._seconds

    def end(self, must_hand_back=False):
        """Make the thread that works under the claim stop before its next cloud call."""
        self._until = float('-inf')
        self.must_hand_back = must_hand_back

    def check(self):
        """Raise ClaimLost unless this manager surely still owns the claim.

        :raises ClaimLost: the claim ended, or was not prolonged in time.
        """
        if self._monotonic() >= self._until:
            raise ClaimLost()


class Withdrawn(Exception):
    """The lease is being deleted and gets no more resources; nothing was written."""


def refuse_overtaken(connection, lease):
    """Lock a claimed lease, and raise ClaimLost unless its claim is the latest.

    Call it after resources are locked, as every booking does, and before the lease is written.

    :returns: True if nobody else has changed the lease since it was read.
    :raises ClaimLost: another manager has claimed an event of the lease since it was read.
    """
    generation = lease_claims.lock(connection, [lease]).get(lease.id)
    if generation is None:
        raise ClaimLost()
    return generation == lease.generation


def current(connection, lease):
    """Lock a claimed lease and return its current state.

    Call it after resources are locked, and before the lease is written.

    :raises ClaimLost: another manager has taken the lease over.
    :raises Withdrawn: the lease is being deleted.
    """
    refuse_overtaken(connection, lease)
    locked = leases.get(connection, lease.id)
    if due_events.deletion_ordered(locked):
        raise Withdrawn()
    return locked


def reread(connection, lease):
    """Return the lease of a claim with its reservations as they are in the database now.

    :raises StillBusy: the deletion of the lease was ordered after the claim.
    """
    stored = leases.get(connection, lease.id)
    if due_events.deletion_ordered(stored):
        raise errors.StillBusy.plain('Climate', 'the lease is being deleted.')
    return dataclasses.replace(lease, reservations=stored.reservations)
