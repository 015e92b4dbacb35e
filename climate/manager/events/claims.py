# SPDX-License-Identifier: Apache-2.0
"""The claims of a manager on events: claim due events, prolong claims, and hand events back."""
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

#: The number of due events that are read for each free worker. One is too few, because several may
#: belong to one lease, and because other managers claim events at the same time.
READ_AHEAD = 6
# The maximum number of notices that are sent at once, so that other managers can send some too.
_NOTICES = 32


@dataclasses.dataclass(frozen=True)
class Claim:
    """An event that this manager carries out, with the lease it belongs to.

    :ivar at: the moment at which the event was claimed.
    :ivar ownership: the time during which this manager surely owns the claim.
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

        If False, a task on the lease may belong to another event.
        """
        return self.kind.shown_task(self.lease.task) is not None


class Claims:
    """The claims of one manager."""

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._seconds = core.conf.manager.claim_seconds
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
            # The monotonic clock is read first, so that this manager stops using its claims before
            # they expire for other managers.
            began = self._core.monotonic()
            until = self._core.clock() + self._length
            try:
                with self._core.database.writer() as connection:
                    pairs, finished = self._take(connection, waiting, now, until, slots)
            except errors.LostRace:
                return []
            new = [Claim(event, lease, now, self._owned_since(began)) for lease, event in pairs]
            with self._lock:
                self._running |= {claim.event.id: claim for claim in new}
            if new or not finished:
                return new
            due = self.due(now, slots * READ_AHEAD, kinds)

    def _take(self, connection, waiting, now, until, slots):
        """Claim events; return ([(Lease, Event)] to carry out, the events finished at once)."""
        notices = [event for event in waiting if _is_notice(event)][:_NOTICES]
        free = self._lock_free(connection, notices, now, len(notices))
        free += self._lock_free(connection, [event for event in waiting if not _is_notice(event)],
                                now, slots)
        lease_of = self._take_leases(connection, free, now, until)
        claimed = events.claim(connection, [event for _, event in free], self._owner, now, until)
        pairs = [(lease_of[event.lease_id], event) for event in claimed]
        moot = [pair for pair in pairs if due_events.is_moot(*pair)]
        sent = [pair for pair in pairs if _is_notice(pair[1]) and pair not in moot]
        outbox.write_notices(connection, sent, now)
        finished = [event for _, event in moot + sent]
        events.finish_all(connection, finished, now, lifecycle.EVENT_DONE)
        return [pair for pair in pairs if pair[1] not in finished], finished

    @staticmethod
    def _lock_free(connection, waiting, now, slots):
        """Lock leases whose events can be claimed; return at most `slots` pairs (Lease, Event)."""
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
        claimed = lease_claims.take(connection, by_task.pop(None, []), self._owner)
        for task, free in sorted(by_task.items()):
            claimed += lease_claims.take_for(connection, free, self._owner, task, until, now)
        return {lease.id: lease for lease in claimed}

    def go_on(self, claim, event, began):
        """Return the Claim of an event that directly follows another event of its lease.

        The transaction that ended the other event has claimed this one for this manager.

        :param began: the monotonic time before that transaction.
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
        # Read the clocks in the same order as `take`.
        began = self._core.monotonic()
        until = self._core.clock() + self._length
        with self._core.database.writer() as connection:
            owned_ids = lease_claims.lock(connection, [claim.lease for claim in running])
            prolonged = events.hold(connection, [claim.event for claim in running
                                                 if claim.lease.id in owned_ids], until)
            lease_claims.hold_task(connection, [claim.lease for claim in running if claim.has_task
                                                and claim.event.id in prolonged], until)
        lost = [claim for claim in running if claim.lease.id not in owned_ids]
        for claim in running:
            # If a claim is neither prolonged nor lost, its event was just finished or moved.
            if claim.event.id in prolonged and not claim.ownership.must_hand_back:
                claim.ownership.prolong(began)
        for claim in lost:
            claim.ownership.end()
        return lost

    def drop(self, claim):
        """Forget a claim whose event is not being carried out any more."""
        with self._lock:
            self._running.pop(claim.event.id, None)

    def stop_running(self):
        """Stop all running events before their next cloud call, so that they are handed back."""
        for claim in self.running():
            claim.ownership.end(must_hand_back=True)

    def hand_back(self, claim, now):
        """Hand back an event that is not being carried out any more, so that it is due at once.

        :raises ClaimLost: another manager has already taken over the lease.
        """
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=now)
            if claim.has_task:
                lease_claims.hold_task(connection, [claim.lease], now)


def _is_notice(event):
    return event_kinds.of(event.kind).only_notifies


def _may_begin(lease, event, now):
    """Return True if the event is moot, or if its task may begin in the state of the lease."""
    task = event_kinds.of(event.kind).task
    if task is None or due_events.is_moot(lease, event):
        return True
    try:
        transitions.begin(lease.id, lease.state, lease.task_at(now), task)
    except errors.BadTransition as error:
        LOG.debug('Event %s waits: %s', event.id, error.message)
        return False
    return True
