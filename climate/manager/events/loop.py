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
# The number of due tries that are read at once. Tries that cannot succeed are postponed together.
_TRIES = 200
# The ratio of the workers of the lane PROMPT to those of the lane AHEAD.
_PROMPT_TO_AHEAD = 4


def workers_of(conf):
    """Return {Lane: the maximum number of its events that one manager carries out at a time}."""
    most = conf.manager.workers
    return {event_kinds.Lane.PROMPT: most,
            event_kinds.Lane.AHEAD: max(1, most // _PROMPT_TO_AHEAD),
            event_kinds.Lane.TRIES: conf.acquire.workers}


class EventLoop:
    """Carries out events of different leases at the same time, and those of one lease in sequence.

    Each lane of events has its own workers. So starts and ends do not wait for a worker, even if
    many tries to acquire resources are due.

    :param owner: the name under which this manager claims events.
    :param submit: `submit(function, argument)` calls the function, on another thread or at once.
    """

    def __init__(self, core, owner, submit):
        self._core = core
        self._submit = submit
        self._claims = claims.Claims(core, owner)
        self._actions = actions.Actions(core)
        self._outcomes = outcomes.Outcomes(core)
        self._postponement = postponement.Postponement(core)
        self._budget = budget.Budget(core.conf.acquire.processor_share, core.monotonic)
        self._ticked = core.monotonic()

    @property
    def silent_seconds(self):
        """The seconds since the last successful tick, or else since this loop was created."""
        return self._core.monotonic() - self._ticked

    @property
    def running(self):
        """The number of events that this manager is carrying out."""
        return len(self._claims.running())

    @property
    def free_slots(self):
        """The number of idle workers of the lane PROMPT."""
        return self._free(event_kinds.Lane.PROMPT)

    def tick(self, now):
        """Claim the events due at `now` and submit them, lane by lane; return their number."""
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
        """Return (the kinds of events with idle workers, the most idle workers of any lane)."""
        free = {lane: self._free(lane) for lane in event_kinds.Lane}
        return [kind for lane, slots in free.items() if slots
                for kind in event_kinds.LANES[lane]], max(free.values())

    def _submit_due(self, now, lane, due):
        slots = self._free(lane)
        new_claims = self._claims.take(
            now, slots, event_kinds.LANES[lane], due) if slots and due else []
        for claim in new_claims:
            self._submit(self._carry_out, claim)
        return len(new_claims)

    def _promising_tries(self, now):
        """Return tries that are due at `now`; those that cannot succeed yet are postponed."""
        while True:
            due = self._claims.due(now, _TRIES, event_kinds.LANES[event_kinds.Lane.TRIES])
            promising = self._postponement.postpone_hopeless(due, now)
            if promising or not due:
                return promising

    def next_moment(self):
        """Return when the next event is due that an idle worker could carry out, or None."""
        kinds, _ = self._idle_for()
        if not kinds:
            return None
        with self._core.database.reader() as connection:
            return events.next_moment(connection, kinds)

    @property
    def rest_seconds(self):
        """The seconds until tries may begin again; 0 if their budget is not used up."""
        return self._budget.rest_seconds()

    def _free(self, lane):
        """Return the number of idle workers for events of this lane."""
        running = collections.Counter(claim.kind.lane for claim in self._claims.running())
        workers = workers_of(self._core.conf)[lane]
        if lane is not event_kinds.Lane.PROMPT and running[event_kinds.Lane.PROMPT]:
            # Running starts and ends have priority over the events of other lanes.
            workers = 1
        if lane is event_kinds.Lane.TRIES and self._budget.rest_seconds():
            return 0
        return max(0, workers - running[lane])

    def prolong(self):
        """Prolong the claims of the events that are running."""
        for claim in self._claims.prolong():
            LOG.warning('Lease %s: another manager has taken over %s; it is stopped here',
                        claim.lease.id, claim.event.kind)

    def await_idle(self, seconds):
        """Wait until all running events have ended; the caller must not claim more meanwhile.

        :returns: True if no event runs any more, False if some still run after `seconds`.
        """
        deadline = self._core.monotonic() + seconds
        while self.running and self._core.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return not self.running

    def stop_running(self):
        """Stop running events before their next cloud call; they are then handed back."""
        self._claims.stop_running()

    def _carry_out(self, claim):
        while claim is not None:
            claim = self._carry_out_one(claim)

    def _carry_out_one(self, claim):
        """Carry out one event; return the Claim of the following event, or None."""
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
        # If all workers are busy, other due events come first: a following event only cleans up.
        goes_on = self.free_slots > 0 and not claim.ownership.must_hand_back
        began = self._core.monotonic()
        event = self._outcomes.record(claim, outcome, goes_on)
        return None if event is None else self._claims.go_on(claim, event, began)

    def _outcome(self, claim):
        """Perform the action of a claimed event; return its Outcome.

        :raises ClaimLost: the action was stopped before its end.
        :raises DatabaseUnreachable: the database did not answer during the action.
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
        """Drop the result of a lost claim; if this manager stops, hand the event back."""
        lease, event = claim.lease, claim.event
        if not claim.ownership.must_hand_back:
            LOG.warning('Lease %s: %s is not claimed here any more; its result is dropped',
                        lease.id, event.kind)
            return
        try:
            self._claims.hand_back(claim, self._core.clock())
            LOG.info('Lease %s: %s is handed back', lease.id, event.kind)
        except (ownership.ClaimLost, errors.ClimateError) as error:
            LOG.warning('Lease %s: %s could not be handed back, its claim ends by itself: %r',
                        lease.id, event.kind, error)
