# SPDX-License-Identifier: Apache-2.0
"""The claims of a manager on events: taken in batches, held while events run, and handed back."""
import collections
import dataclasses
import datetime
import threading

from oslo_log import log

from climate import errors
from climate.db import events
from climate.db import lease_claims
from climate.db import leases
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import transitions
from climate.manager import ownership
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

#: The number of due events that are read for each free worker: a lease may have several that are
#: due, and other managers claim events at the same time.
READ_AHEAD = 6
# The number of notices that are sent at once: only a part of those that are read, so that other
# managers get some too.
_NOTICES = 32


@dataclasses.dataclass(frozen=True)
class Claim:
    """An event that this manager carries out, with the lease it belongs to.

    :ivar at: the moment at which the event was claimed.
    :ivar ownership: the time for which the claim is certain to hold.
    """

    event: records.Event
    lease: records.Lease
    at: datetime.datetime
    ownership: ownership.Ownership

    @property
    def kind(self):
        """The row of the event's kind in the table of event kinds."""
        return event_kinds.of(self.event.kind)

    @property
    def has_task(self):
        """True if the event shows a task on the lease.

        If it does not, a task on the lease may belong to another event.
        """
        return self.kind.shown_task(self.lease.task) is not None


class Claims:
    """The claims of one manager."""

    def __init__(self, parts, owner):
        self._core = parts
        self._owner = owner
        self._seconds = parts.conf.manager.claim_seconds
        self._length = datetime.timedelta(seconds=self._seconds)
        self._running = {}
        self._lock = threading.Lock()

    def running(self):
        """Return the Claims of the events that are being carried out."""
        with self._lock:
            return list(self._running.values())

    def due(self, now, limit, kinds):
        """Return at most `limit` events of these kinds that are due at `now`."""
        with self._core.database.reader() as connection:
            return events.due(connection, now, limit, kinds)

    def take(self, now, slots, kinds, due):
        """Claim events that are due at `now`, at most `slots` and one per lease; return Claims.

        Moot events and notices are finished at once, many in one transaction, because they need
        no call of the cloud.

        :param due: the events of these `kinds` that are due.
        """
        while True:
            waiting = due_events.next_of_each_lease(due)
            if not waiting:
                return []
            # In this order: this manager must not rely on its claims for longer than others do.
            began = self._core.monotonic()
            until = self._core.clock() + self._length
            try:
                with self._core.database.writer() as connection:
                    pairs, finished = self._take(connection, waiting, now, until, slots)
            except errors.LostRace:
                return []
            taken = [Claim(event, lease, now, self._owned_since(began)) for lease, event in pairs]
            with self._lock:
                self._running |= {claim.event.id: claim for claim in taken}
            if taken or not finished:
                return taken
            due = self.due(now, slots * READ_AHEAD, kinds)

    def _take(self, connection, waiting, now, until, slots):
        """Claim events; return ([(Lease, Event)] to carry out, the events finished at once)."""
        notices = [event for event in waiting if _is_notice(event)][:_NOTICES]
        free = self._free(connection, notices, now, len(notices))
        free += self._free(connection, [event for event in waiting if not _is_notice(event)],
                           now, slots)
        taken = self._take_leases(connection, free, now, until)
        claimed = events.claim(connection, [event for _, event in free], self._owner, now, until)
        pairs = [(taken[event.lease_id], event) for event in claimed]
        moot = [pair for pair in pairs if due_events.is_moot(*pair)]
        sent = [pair for pair in pairs if _is_notice(pair[1]) and pair not in moot]
        outbox.write_notices(connection, sent, now)
        finished = [event for _, event in moot + sent]
        events.finish_all(connection, finished, now, lifecycle.EVENT_DONE)
        return [pair for pair in pairs if pair[1] not in finished], finished

    @staticmethod
    def _free(connection, waiting, now, slots):
        """Return [(Lease, Event)] that can be claimed, at most `slots`; locks their leases."""
        pairs = []
        while waiting and len(pairs) < slots:
            batch, waiting = waiting[:slots - len(pairs)], waiting[slots - len(pairs):]
            free = leases.lock_free(connection, [event.lease_id for event in batch])
            for event in batch:
                lease = free.get(event.lease_id)
                event = lease and due_events.still_due(lease, event, now)
                if event and _may_begin(lease, event, now):
                    pairs.append((lease, event))
        return pairs

    def _take_leases(self, connection, pairs, now, until):
        """Claim the leases of pairs (Lease, Event) and begin their tasks; return {id: Lease}."""
        by_task = collections.defaultdict(list)
        for lease, event in pairs:
            kind = event_kinds.of(event.kind)
            task = None if due_events.is_moot(lease, event) else kind.shown_task(lease.task)
            by_task[task].append(lease)
        taken = lease_claims.take(connection, by_task.pop(None, []), self._owner)
        for task, free in sorted(by_task.items()):
            taken += lease_claims.take_for(connection, free, self._owner, task, until, now)
        return {lease.id: lease for lease in taken}

    def go_on(self, claim, event, began):
        """Return the Claim of an event that follows another one of its lease.

        The event was claimed for this manager in the transaction that ended the one before.

        :param began: the time of this process's clock before that transaction.
        """
        following = dataclasses.replace(claim, event=event, at=event.at,
                                        ownership=self._owned_since(began))
        with self._lock:
            self._running[event.id] = following
        return following

    def _owned_since(self, began):
        return ownership.Ownership(self._core.monotonic, began, self._seconds)

    def prolong(self):
        """Prolong all claims in one transaction; return those that were lost."""
        running = self.running()
        if not running:
            return []
        # In this order, as in `take`.
        began = self._core.monotonic()
        until = self._core.clock() + self._length
        with self._core.database.writer() as connection:
            kept = lease_claims.lock(connection, [claim.lease for claim in running])
            held = events.hold(connection, [claim.event for claim in running
                                            if claim.lease.id in kept], until)
            lease_claims.hold_task(connection, [claim.lease for claim in running if claim.has_task
                                                and claim.event.id in held], until)
        lost = [claim for claim in running if claim.lease.id not in kept]
        for claim in running:
            # A claim that is neither held nor lost has just been finished, or its event was moved.
            if claim.event.id in held and not claim.ownership.given_up:
                claim.ownership.prolong(began)
        for claim in lost:
            claim.ownership.end()
        return lost

    def drop(self, claim):
        """Forget a claim: its event is not being carried out any more."""
        with self._lock:
            self._running.pop(claim.event.id, None)

    def give_up(self):
        """Stop all running events before their next call of the cloud, to be handed back."""
        for claim in self.running():
            claim.ownership.end(given_up=True)

    def hand_back(self, claim, now):
        """Hand back an event that is not being carried out any more, so that it is due at once.

        :raises ClaimLost: another manager has taken it over already.
        """
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=now)
            if claim.has_task:
                lease_claims.hold_task(connection, [claim.lease], now)


def _is_notice(event):
    return event_kinds.of(event.kind).only_told


def _may_begin(lease, event, now):
    """Return True if the event is moot, or if no other task of its lease keeps it waiting."""
    task = event_kinds.of(event.kind).task
    if task is None or due_events.is_moot(lease, event):
        return True
    try:
        transitions.begin(lease.id, lease.state, lease.task_at(now), task)
    except errors.BadTransition as error:
        LOG.debug('Event %s waits: %s', event.id, error.message)
        return False
    return True
