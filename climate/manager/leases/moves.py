# SPDX-License-Identifier: Apache-2.0
"""Move a lease that is to come from some of its resources to others, or tell that nothing fits."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.booking import booking
from climate.manager.booking import substitutes
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Occasion:
    """Why a lease leaves resources.

    :ivar lost: the ids of the resources that it leaves.
    :ivar avoid: the ids of all resources that it may not get instead.
    :ivar because: why, for its history: a ``texts.Text`` that begins a sentence.
    :ivar what: what its history and its notification are called if nothing else fits.
    :ivar since: since when that is so; None: that is not known.
    """

    lost: frozenset
    avoid: frozenset
    because: texts.Text
    what: str
    since: datetime.datetime | None = None


class _ChangedMeanwhile(Exception):
    """The lease was changed since it was read; nothing was written."""


class Moves:
    """Moves leases that have not started."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def move(self, lease_id, occasion, now):
        """Move a lease; if nothing else fits, tell its owner, once.

        Several managers may do it at once: each writes only if the lease is as it was read.

        :returns: True if it was moved; False if nothing else fits; None if it has none of the
            resources any more, or is not to be moved now.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        try:
            wishes = self._wishes(lease, occasion)
        except errors.UnknownResourceType:
            # Without its plugin, the needs of a reservation are not known.
            return None
        if not wishes or not _is_to_come(lease, now):
            return None
        try:
            self._move(lease, wishes, occasion, now)
        except errors.NotEnough as error:
            self.tell(lease_id, occasion, texts.joined(occasion.because, texts.of_error(error)),
                      now)
            return False
        except (_ChangedMeanwhile, errors.LostRace):
            LOG.debug('Lease %s was changed meanwhile; it is looked at again', lease_id)
            return None
        return True

    def plan(self, lease, occasion, now):
        """Return the Allocations that a lease would get instead; nothing is written.

        :returns: None if it has none of the resources.
        :raises NotEnough: nothing else fits.
        """
        wishes = self._wishes(lease, occasion)
        return self._booking.plan(wishes, lease.interval, now, occasion.avoid) if wishes else None

    def _wishes(self, lease, occasion):
        """Return a Wish for each need that loses resources."""
        wishes = []
        for each in lease.open_reservations:
            kept = set(each.resource_ids) - occasion.lost
            for need in self._core.registry.needs_of(each):
                count = sum(key in occasion.lost for key in each.allocated.get(need.key, ()))
                if count:
                    wishes.append(substitutes.replacement(each, need, (count, count), kept))
        return wishes

    def _move(self, lease, wishes, occasion, now):
        def write(connection, chosen):
            current = leases.lock(connection, lease.id)
            if current.generation != lease.generation or not _is_to_come(current, now):
                raise _ChangedMeanwhile()
            mine = [each.id for each in current.open_reservations]
            left = sorted(occasion.lost.intersection(
                key for each in current.open_reservations for key in each.resource_ids))
            allocations.delete(connection, mine, left)
            self._booking.replace(connection, chosen)
            reservations.change(connection, sorted({given.reservation_id for given in chosen}), now,
                                resources_changed=True)
            leases.change(connection, current, now)
            new = sorted({given.resource_id for given in chosen})
            named = self._core.resource_names.of
            why = texts.joined(occasion.because, texts.Text(
                f'Its resources {left} are replaced by {new}.',
                f'Its resources {named(left)} are replaced by {named(new)}.'))
            journal.note(connection, lease.id, now, 'climate', 'moved', why)
            outbox.publish(connection, leases.get(connection, lease.id).explained(why), now,
                           'moved')
            return new
        try:
            planned = self._booking.plan(wishes, lease.interval, now, occasion.avoid)
        except errors.NotEnough:
            # A lease with allocations goes before the leases in the wait queue.
            if not wakeups.release_held_back(self._core, lease):
                raise
            planned = self._booking.plan(wishes, lease.interval, now, occasion.avoid)
        new = self._booking.book(wishes, lease.interval, now, write, planned=planned,
                                 avoid=occasion.avoid)
        LOG.info('Lease %s: moved to the resources %s: %s', lease.id,
                 self._core.resource_names.of(new), occasion.because.operator)

    @cores.again_after_a_race
    def tell(self, lease_id, occasion, why, now):
        """Tell the owner of a lease of an Occasion, unless that was told before.

        :param why: a ``texts.Text``.
        """
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            told = journal.since(connection, lease_id, occasion.since or lease.created_at)
            # The end of the text says what else is free at the moment, and changes.
            if any((each or '').startswith(occasion.because.operator)
                   for each in told.get(occasion.what, ())):
                return
            journal.note(connection, lease_id, now, 'climate', occasion.what, why)
            outbox.publish(connection, lease.explained(why), now, occasion.what)
        LOG.warning('Lease %s: %s', lease_id, why.operator)


def _is_to_come(lease, now):
    return (lease.state == lifecycle.PENDING and lease.task is None and lease.start > now
            and lease.deleted_at is None and not due_events.deletion_ordered(lease))
