# SPDX-License-Identifier: Apache-2.0
"""The event loop: claim the events that are due, carry them out, record the outcomes."""
import collections
import time

from oslo_log import log

from climate import errors
from climate.db import events
from climate.domain import event_kinds
from climate.domain import texts
from climate.manager import ownership
from climate.manager import results
from climate.manager.acquisition import postponement
from climate.manager.events import actions
from climate.manager.events import budget
from climate.manager.events import claims
from climate.manager.events import outcomes

LOG = log.getLogger(__name__)

_POLL_SECONDS = 0.05
# The number of due tries that are read at once: those that cannot succeed are postponed together.
_TRIES = 200
# The ratio of the workers for starts and ends to the workers for what is made before a start.
_AHEAD_PART = 4


def workers_of(conf):
    """Return {Lane: the most events of it that a manager carries out at the same time}."""
    most = conf.manager.workers
    return {event_kinds.Lane.PROMPT: most,
            event_kinds.Lane.AHEAD: max(1, most // _AHEAD_PART),
            event_kinds.Lane.TRIES: conf.acquire.workers}


class EventLoop:
    """Carries out events: those of different leases at once, those of one lease in turn.

    Each lane has its own number of workers. So starts and ends do not wait for a worker because of
    tries to acquire resources or images made before a start, however many of them are due.
    """

    def __init__(self, parts, owner, submit):
        """Make a loop that does not run yet.

        :param owner: the name under which this manager claims events.
        :param submit: `submit(function, argument)` calls the function, on another thread or at
            once.
        """
        self._core = parts
        self._submit = submit
        self._claims = claims.Claims(parts, owner)
        self._actions = actions.Actions(parts)
        self._outcomes = outcomes.Outcomes(parts)
        self._postponement = postponement.Postponement(parts)
        self._budget = budget.Budget(parts.conf.acquire.processor_share, parts.monotonic)
        self._ticked = parts.monotonic()

    @property
    def silent_seconds(self):
        """The seconds since the last tick that succeeded, or since this loop was made."""
        return self._core.monotonic() - self._ticked

    @property
    def running(self):
        """The number of events that this manager is carrying out."""
        return len(self._claims.running())

    @property
    def free_slots(self):
        """The number of idle workers for starts, ends and the like; 0 if all are busy."""
        return self._free(event_kinds.Lane.PROMPT)

    def tick(self, now):
        """Claim events that are due at `now` and submit them; return their number.

        They are submitted in the order of the lanes.
        """
        count = self._tick(now)
        self._ticked = self._core.monotonic()
        return count

    def _tick(self, now):
        kinds, slots = self._idle_for()
        if not kinds:
            return 0
        due = collections.defaultdict(list)
        for event in self._claims.due(now, slots * claims.READ_AHEAD, kinds):
            due[event_kinds.of(event.kind).lane].append(event)
        count = sum(self._submit_due(now, lane, due[lane]) for lane in (
            event_kinds.Lane.PROMPT, event_kinds.Lane.AHEAD))
        if due[event_kinds.Lane.TRIES]:
            began = time.thread_time()
            count += self._submit_due(now, event_kinds.Lane.TRIES, self._promising_tries(now))
            self._budget.use(time.thread_time() - began)
        return count

    def _idle_for(self):
        """Return the kinds of events for which workers are idle, and how many at most."""
        free = {lane: self._free(lane) for lane in event_kinds.Lane}
        return [kind for lane, slots in free.items() if slots
                for kind in event_kinds.LANES[lane]], max(free.values())

    def _submit_due(self, now, lane, due):
        slots = self._free(lane)
        taken = self._claims.take(
            now, slots, event_kinds.LANES[lane], due) if slots and due else []
        for claim in taken:
            self._submit(self._carry_out, claim)
        return len(taken)

    def _promising_tries(self, now):
        """Return tries that are due at `now`; those that cannot succeed yet are postponed."""
        while True:
            due = self._claims.due(now, _TRIES, event_kinds.LANES[event_kinds.Lane.TRIES])
            left = self._postponement.postpone_hopeless(due, now)
            if left or not due:
                return left

    def next_moment(self):
        """Return when the next event is due that an idle worker could carry out, or None."""
        kinds, _ = self._idle_for()
        if not kinds:
            return None
        with self._core.database.reader() as connection:
            return events.next_moment(connection, kinds)

    @property
    def rest_seconds(self):
        """The seconds until tries may go on; 0 if they have not used up their budget."""
        return self._budget.rest_seconds()

    def _free(self, lane):
        """Return the number of idle workers for events of this lane."""
        running = collections.Counter(claim.kind.lane for claim in self._claims.running())
        workers = workers_of(self._core.conf)[lane]
        if lane is not event_kinds.Lane.PROMPT and running[event_kinds.Lane.PROMPT]:
            # A start or an end that runs has the processor, the database and the cloud first.
            workers = 1
        if lane is event_kinds.Lane.TRIES and self._budget.rest_seconds():
            return 0
        return max(0, workers - running[lane])

    def prolong(self):
        """Prolong the claims of the events that are running."""
        for claim in self._claims.prolong():
            LOG.warning('Lease %s: another manager has taken over %s; it is stopped here',
                        claim.lease.id, claim.event.kind)

    def rest(self, seconds):
        """Wait until all running events have ended; the caller must not claim more meanwhile.

        :returns: True if no event runs any more, False if some still run after `seconds`.
        """
        deadline = self._core.monotonic() + seconds
        while self.running and self._core.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return not self.running

    def give_up(self):
        """Stop running events before their next call of the cloud; they are handed back."""
        self._claims.give_up()

    def _carry_out(self, claim):
        while claim is not None:
            claim = self._carry_out_one(claim)

    def _carry_out_one(self, claim):
        """Carry out one event; return the Claim of an event that follows at once, or None."""
        lease, event = claim.lease, claim.event
        began = time.thread_time()
        try:
            outcome = self._outcome(claim)
            if outcome.result != results.RECORDED:
                return self._record(claim, outcome)
        except (ownership.ClaimLost, errors.LostRace):
            self._drop_or_hand_back(claim)
        except errors.ClimateError as error:
            LOG.warning('Lease %s: the result of %s could not be stored; it is carried out again: '
                        '%s', lease.id, event.kind, error.message)
        except Exception:  # Outer loop: the claim ends, and the event is carried out again.
            LOG.exception('Lease %s: the result of %s could not be stored; it is carried out again',
                          lease.id, event.kind)
        finally:
            if claim.kind.lane is event_kinds.Lane.TRIES:
                self._budget.use(time.thread_time() - began)
            self._claims.drop(claim)
            self._core.notify()
        return None

    def _record(self, claim, outcome):
        # If all workers are busy, due events go before a following one, which only cleans up.
        goes_on = self.free_slots > 0 and not claim.ownership.given_up
        began = self._core.monotonic()
        event = self._outcomes.record(claim, outcome, goes_on)
        return None if event is None else self._claims.go_on(claim, event, began)

    def _outcome(self, claim):
        """Perform the action of a claimed event; return its Outcome.

        :raises ClaimLost: the action was stopped before its end.
        :raises DatabaseUnreachable: a statement that the action needs failed.
        """
        try:
            return self._actions.perform(claim)
        except (ownership.ClaimLost, errors.DatabaseUnreachable):
            raise
        except Exception as error:  # Outer loop: one event must not stop the others.
            LOG.exception('Lease %s: %s failed unexpectedly, event %s', claim.lease.id,
                          claim.event.kind, claim.event.id)
            return results.Outcome(results.FAILED, texts.unexpected(error, claim.event.id))

    def _drop_or_hand_back(self, claim):
        """Drop the result of an event whose claim was lost; hand it back if this manager stops."""
        lease, event = claim.lease, claim.event
        if not claim.ownership.given_up:
            LOG.warning('Lease %s: %s is not claimed here any more; its result is dropped',
                        lease.id, event.kind)
            return
        try:
            self._claims.hand_back(claim, self._core.clock())
            LOG.info('Lease %s: %s is handed back', lease.id, event.kind)
        except (ownership.ClaimLost, errors.ClimateError) as error:
            LOG.warning('Lease %s: %s could not be handed back, its claim ends by itself: %r',
                        lease.id, event.kind, error)
