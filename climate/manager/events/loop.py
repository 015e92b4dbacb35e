# SPDX-License-Identifier: Apache-2.0
"""The event loop: claim the events that are due, carry them out, write down how it went."""
import time

from oslo_log import log

from climate import errors
from climate.db import events
from climate.domain import texts
from climate.manager import ownership
from climate.manager import results
from climate.manager.events import actions
from climate.manager.events import claims
from climate.manager.events import outcomes

LOG = log.getLogger(__name__)

_LOOK_SECONDS = 0.05


class EventLoop:
    """Carries out events: those of different leases at once, those of one lease in turn."""

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

    @property
    def running(self):
        """The number of events that this manager is carrying out."""
        return len(self._claims.running())

    @property
    def free_slots(self):
        """The number of idle workers: how many more events can run now; 0 if all are busy."""
        return max(0, self._core.conf.manager.workers - self.running)

    def tick(self, now):
        """Claim events that are due at `now` and submit them; returns how many."""
        slots = self.free_slots
        taken = self._claims.take(now, slots) if slots else []
        for claim in taken:
            self._submit(self._carry_out, claim)
        return len(taken)

    def next_moment(self):
        """Return when the next event is due, or None."""
        with self._core.database.reader() as connection:
            return events.next_moment(connection)

    def prolong(self, now):
        """Prolong the claims of the events that are running."""
        for claim in self._claims.prolong(now):
            LOG.warning('Lease %s: another manager has taken over %s; it is stopped here',
                        claim.lease.id, claim.event.kind)

    def rest(self, seconds):
        """Wait until all running events have ended; the caller must not claim more meanwhile.

        :returns: True if no event runs any more, False if some still run after `seconds`.
        """
        give_up = self._core.monotonic() + seconds
        while self.running and self._core.monotonic() < give_up:
            time.sleep(_LOOK_SECONDS)
        return not self.running

    def give_up(self):
        """Make running events stop before their next call of the cloud and be handed back."""
        self._claims.give_up()

    def _carry_out(self, claim):
        while claim is not None:
            claim = self._carry_out_one(claim)

    def _carry_out_one(self, claim):
        """Carry out one event; returns the Claim of an event that follows at once, or None."""
        lease, event = claim.lease, claim.event
        try:
            outcome = self._outcome(claim)
            if outcome.result != results.RECORDED:
                return self._record(claim, outcome)
        except (ownership.ClaimLost, errors.LostRace):
            self._let_go(claim)
        except Exception:  # A door: the claim ends, and the event is carried out anew.
            LOG.exception('Lease %s: the result of %s could not be stored; it is carried out again',
                          lease.id, event.kind)
        finally:
            self._claims.drop(claim)
            self._core.notify()
        return None

    def _record(self, claim, outcome):
        # If all workers are busy, events that are due go before a following one that only tidies.
        goes_on = self.free_slots > 0 and not claim.ownership.given_up
        began = self._core.monotonic()
        event = self._outcomes.record(claim, outcome, goes_on)
        return None if event is None else self._claims.go_on(claim, event, began)

    def _outcome(self, claim):
        """Perform the action of a claimed event; returns its Outcome.

        :raises ClaimLost: the action was stopped before it came to its end.
        """
        try:
            return self._actions.perform(claim)
        except ownership.ClaimLost:
            raise
        except Exception as error:  # A door: one event must not stop the others.
            LOG.exception('Lease %s: %s failed unexpectedly, event %s', claim.lease.id,
                          claim.event.kind, claim.event.id)
            return results.Outcome(results.FAILED, texts.unexpected(error, claim.event.id))

    def _let_go(self, claim):
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
