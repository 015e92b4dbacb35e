# SPDX-License-Identifier: Apache-2.0
"""Move a future lease off some of its resources, or notify its owner that nothing else fits."""
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
from climate.manager.booking import wish_lists
from climate.manager.notifications import outbox
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class MoveCause:
    """The cause for which a lease leaves resources.

    :ivar lost: the ids of the resources that the lease leaves.
    :ivar avoid: the ids of all resources that must not replace them.
    :ivar because: a ``texts.Text`` with the reason, to which a sentence is added for the history.
    :ivar what: the name of the history entry and notification if nothing else fits.
    :ivar since: the moment at which the cause began; None: not known.
    """

    lost: frozenset
    avoid: frozenset
    because: texts.Text
    what: str
    since: datetime.datetime | None = None


class _Changed(Exception):
    """The lease was changed after it was read; nothing was written."""


class ResourceMoves:
    """Moves leases that have not started."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def move(self, lease_id, cause, now):
        """Move a lease; if nothing else fits, notify its owner, but only once.

        Several managers may do this at the same time, because each writes only if the lease has not
        changed since it was read.

        :returns: True if the lease was moved; False if nothing else fits; None if it no longer has
            the resources, or cannot be moved now.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        try:
            wishes = self._wishes(lease, cause)
        except errors.UnknownResourceType:
            # The plugin of a reservation, which knows its needs, is disabled.
            return None
        if not wishes or not _is_future(lease, now):
            return None
        try:
            self._move(lease, wishes, cause, now)
        except errors.NotEnough as error:
            self.notify_owner(lease_id, cause, texts.joined(
                cause.because, texts.of_error(error)), now)
            return False
        except (_Changed, errors.LostRace):
            LOG.debug('Lease %s was changed concurrently; the next pass tries again', lease_id)
            return None
        return True

    def plan(self, lease, cause, now):
        """Return the replacement Allocations that a lease would get; write nothing.

        :returns: None if the lease does not have the resources of the cause.
        :raises NotEnough: nothing else fits.
        """
        wishes = self._wishes(lease, cause)
        return self._booking.plan(wishes, lease.interval, now, cause.avoid) if wishes else None

    def _wishes(self, lease, cause):
        """Return a Wish for each need that loses resources.

        A sub-lease gets other resources when its parent is moved.
        """
        if lease.parent_id is not None:
            return []
        return [wish for each in lease.open_reservations for wish in wish_lists.replacements(
            self._core.registry, each, cause.lost)]

    def _move(self, lease, wishes, cause, now):
        def write(connection, chosen):
            current = leases.lock(connection, lease.id)
            if current.generation != lease.generation or not _is_future(current, now):
                raise _Changed()
            old = sorted(cause.lost.intersection(
                key for each in current.open_reservations for key in each.resource_ids))
            allocations.delete(connection, [each.id for each in current.open_reservations], old)
            allocations.add(connection, chosen)
            division.follow(connection, current, cause.lost, chosen, now)
            reservations.change(connection, sorted({each.reservation_id for each in chosen}), now,
                                resources_changed=True)
            leases.change(connection, current, now)
            new = sorted({each.resource_id for each in chosen})
            named = self._core.resource_names.of
            why = texts.joined(cause.because, texts.Text(
                f'Its resources {old} are replaced by {new}.',
                f'Its resources {named(old)} are replaced by {named(new)}.'))
            journal.note(connection, lease.id, now, 'climate', 'moved', why)
            outbox.publish(connection, leases.get(connection, lease.id).explained(why), now,
                           'moved')
            return new
        new = self._booking.book_before_queue(lease, wishes, lease.interval, now, write,
                                              cause.avoid)
        LOG.info('Lease %s: moved to the resources %s: %s', lease.id,
                 self._core.resource_names.of(new), cause.because.operator)

    @cores.again_after_a_race
    def notify_owner(self, lease_id, cause, why, now):
        """Notify the owner of a lease about a MoveCause, unless that was done before.

        :param why: the Text of the notification.
        """
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            entries = journal.since(connection, lease_id, cause.since or lease.created_at)
            # Compare only the reason, because the other sentences depend on the free resources.
            if any((entry or '').startswith(cause.because.operator)
                   for entry in entries.get(cause.what, ())):
                return
            journal.note(connection, lease_id, now, 'climate', cause.what, why)
            outbox.publish(connection, lease.explained(why), now, cause.what)
        LOG.warning('Lease %s: %s', lease_id, why.operator)


def _is_future(lease, now):
    return (lease.state == lifecycle.PENDING and lease.task is None and lease.start > now
            and lease.deleted_at is None and not due_events.deletion_ordered(lease))
