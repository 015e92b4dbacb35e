# SPDX-License-Identifier: Apache-2.0
"""Which events this manager carries out: claimed in batches, held while they run, handed back."""
import collections
import dataclasses
import datetime
import threading

from oslo_log import log

from climate import errors
from climate.db import events
from climate.db import lease_claims
from climate.db import leases
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import notify

LOG = log.getLogger(__name__)

# So many times the events that there is room for are looked at: a lease may have several that are
# due, and other managers are claiming just now.
_LOOK = 6
# So many notices are told at once: a part of those that are looked at, so that others have some.
_NOTICES = 32
# The part of a claim's time after which nothing more is begun unless it was prolonged. The rest is
# for a call of the cloud that runs, and for clocks that do not go alike.
_USED = 0.9


class ClaimLost(Exception):
    """Another manager has the event now, or may have it: nothing more is done or written."""


class Hold:
    """How long a claim is ours, by the clock of this process alone.

    :param monotonic: returns seconds that only rise, also while the process is stopped.
    :param began: what it returned before the claim was written.
    :ivar given_up: the manager stops, so the event is to be handed back.
    """

    def __init__(self, monotonic, began, seconds):
        self._monotonic = monotonic
        self._seconds = seconds * _USED
        self._until = began + self._seconds
        self.given_up = False

    def prolong(self, began):
        """The claim was written anew after the moment `began`."""
        self._until = began + self._seconds

    def end(self, given_up=False):
        """Let whoever works under the claim stop before the next call of the cloud."""
        self._until = float('-inf')
        self.given_up = given_up

    def check(self):
        """Nothing, while the claim is surely ours.

        :raises ClaimLost: it ended, or was not prolonged in time.
        """
        if self._monotonic() >= self._until:
            raise ClaimLost()


@dataclasses.dataclass(frozen=True)
class Claim:
    """An event that this manager carries out, and the lease it belongs to, claimed at a moment."""

    event: records.Event
    lease: records.Lease
    at: datetime.datetime
    hold: Hold

    @property
    def has_task(self):
        """True where the lease shows the claim too; a task left there may be another event's."""
        return self.event.kind in agenda.TASK_OF


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
        """The Claims of what is being carried out."""
        with self._lock:
            return list(self._running.values())

    def take(self, now, room):
        """Claim events that are due at `now`, `room` at most and one of a lease; as Claims.

        Those that have nothing to do any more are finished on the way, and so are notices: many in
        one transaction, as nothing is done in the cloud for them.
        """
        while True:
            began = self._core.monotonic()
            with self._core.database.reader() as connection:
                due = events.due(connection, now, room * _LOOK)
            waiting = agenda.next_of_each_lease(due)
            if not waiting:
                return []
            try:
                with self._core.database.writer() as connection:
                    pairs, finished = self._take(connection, waiting, now, room)
            except errors.LostRace:
                return []
            taken = [Claim(event, lease, now, Hold(self._core.monotonic, began, self._seconds))
                     for lease, event in pairs]
            with self._lock:
                self._running |= {claim.event.id: claim for claim in taken}
            if taken or not finished:
                return taken

    def _take(self, connection, waiting, now, room):
        """[(Lease, Event)] that were claimed, and the events that were finished at once."""
        notices = [event for event in waiting if event.kind == agenda.NOTIFY][:_NOTICES]
        found = self._free(connection, notices, now, len(notices))
        found += self._free(connection, [event for event in waiting
                                         if event.kind != agenda.NOTIFY], now, room)
        until = now + self._length
        taken = self._take_leases(connection, found, now, until)
        claimed = events.claim(connection, [event for _, event in found], self._owner, now, until)
        pairs = [(taken[event.lease_id], event) for event in claimed]
        moot = [pair for pair in pairs if agenda.is_moot(*pair)]
        told = [pair for pair in pairs if pair[1].kind == agenda.NOTIFY and pair not in moot]
        notify.tell(connection, [lease for lease, _ in told], now)
        finished = [event for _, event in moot + told]
        events.finish_all(connection, finished, now, lifecycle.EVENT_DONE)
        return [pair for pair in pairs if pair[1] not in finished], finished

    @staticmethod
    def _free(connection, waiting, now, room):
        """[(Lease, Event)] that can be claimed, `room` at most; their leases are locked."""
        found = []
        while waiting and len(found) < room:
            some, waiting = waiting[:room - len(found)], waiting[room - len(found):]
            free = leases.lock_free(connection, [event.lease_id for event in some])
            for event in some:
                lease = free.get(event.lease_id)
                event = lease and agenda.still_due(lease, event, now)
                if event and _may_begin(lease, event, now):
                    found.append((lease, event))
        return found

    def _take_leases(self, connection, found, now, until):
        """{lease id: the Lease, claimed} of the pairs (Lease, Event), with the tasks begun."""
        by_task = collections.defaultdict(list)
        for lease, event in found:
            task = None if agenda.is_moot(lease, event) else agenda.TASK_OF.get(event.kind)
            by_task[task].append(lease)
        taken = lease_claims.take(connection, by_task.pop(None, []), self._owner)
        for task, some in sorted(by_task.items()):
            taken += lease_claims.take_for(connection, some, self._owner, task, until, now)
        return {lease.id: lease for lease in taken}

    def go_on(self, claim, event, began):
        """The Claim of an event that follows another one of its lease and was claimed for us.

        :param began: what the clock of this process said before that was written.
        """
        following = dataclasses.replace(claim, event=event, at=event.at, hold=Hold(
            self._core.monotonic, began, self._seconds))
        with self._lock:
            self._running[event.id] = following
        return following

    def prolong(self, now):
        """Hold on to all claims, in one transaction; returns those that were lost."""
        began = self._core.monotonic()
        running = self.running()
        if not running:
            return []
        until = now + self._length
        with self._core.database.writer() as connection:
            kept = lease_claims.lock(connection, [claim.lease for claim in running])
            held = events.hold(connection, [claim.event for claim in running
                                            if claim.lease.id in kept], until)
            lease_claims.hold_task(connection, [claim.lease for claim in running if claim.has_task
                                                and claim.event.id in held], until)
        lost = [claim for claim in running if claim.lease.id not in kept]
        for claim in running:
            # What is in neither has just been finished, or its event was moved.
            if claim.event.id in held and not claim.hold.given_up:
                claim.hold.prolong(began)
        for claim in lost:
            claim.hold.end()
        return lost

    def drop(self, claim):
        """Forget a claim: its event is not being carried out any more."""
        with self._lock:
            self._running.pop(claim.event.id, None)

    def give_up(self):
        """Let all that runs stop before its next call of the cloud, to be handed back."""
        for claim in self.running():
            claim.hold.end(given_up=True)

    def hand_back(self, claim, now):
        """Let another manager have an event at once, of which nothing is being done any more.

        :raises ClaimLost: one has it already.
        """
        with self._core.database.writer() as connection:
            refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=now)
            if claim.has_task:
                lease_claims.hold_task(connection, [claim.lease], now)


def refuse_overtaken(connection, lease):
    """Lock a claimed lease, and go on only while its claim is the latest.

    To be called after resources are locked, as in every booking, and before anything of the lease
    is written.

    :returns: True where nobody else has changed the lease since it was read.
    :raises ClaimLost: another manager has claimed an event of the lease since.
    """
    generation = lease_claims.lock(connection, [lease]).get(lease.id)
    if generation is None:
        raise ClaimLost()
    return generation == lease.generation


def _may_begin(lease, event, now):
    """True where the event is moot, or nothing else is being done to its lease."""
    task = agenda.TASK_OF.get(event.kind)
    if task is None or agenda.is_moot(lease, event):
        return True
    try:
        lifecycle.begin(lease.id, lease.state, lease.task_at(now), task)
    except errors.BadTransition as error:
        LOG.debug('Event %s waits: %s', event.id, error.message)
        return False
    return True
