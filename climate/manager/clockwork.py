# SPDX-License-Identifier: Apache-2.0
"""The clockwork: claim the events that are due, carry them out, write down how it went."""
import time

from oslo_log import log

from climate import errors
from climate.db import events
from climate.manager import actions
from climate.manager import claims
from climate.manager import outcomes
from climate.manager import results

LOG = log.getLogger(__name__)

_LOOK_SECONDS = 0.05


class Clockwork:
    """Carries out events, those of one lease one after another, of different leases at once."""

    def __init__(self, parts, owner, submit):
        """Prepare; nothing runs yet.

        :param owner: the name under which this manager claims.
        :param submit: `submit(function, argument)` runs it, on another thread or at once.
        """
        self._core = parts
        self._submit = submit
        self._claims = claims.Claims(parts, owner)
        self._actions = actions.Actions(parts)
        self._outcomes = outcomes.Outcomes(parts)

    @property
    def running(self):
        """How many events this manager is carrying out."""
        return len(self._claims.running())

    @property
    def room(self):
        """How many events more it can carry out at this moment; 0 when all workers are busy."""
        return max(0, self._core.conf.manager.workers - self.running)

    def tick(self, now):
        """Claim events that are due at `now` and let them run; returns how many."""
        room = self.room
        taken = self._claims.take(now, room) if room else []
        for claim in taken:
            self._submit(self._carry_out, claim)
        return len(taken)

    def next_moment(self):
        """When the next event is due, or None."""
        with self._core.database.reader() as connection:
            return events.next_moment(connection)

    def prolong(self, now):
        """Hold on to the claims of the events that are running."""
        for claim in self._claims.prolong(now):
            LOG.warning('Lease %s: another manager has taken over %s; it is stopped here',
                        claim.lease.id, claim.event.kind)

    def rest(self, seconds):
        """Let what runs come to its end; nothing may be claimed any more.

        :returns: True when nothing runs any more, False when it still does after `seconds`.
        """
        give_up = self._core.monotonic() + seconds
        while self.running and self._core.monotonic() < give_up:
            time.sleep(_LOOK_SECONDS)
        return not self.running

    def give_up(self):
        """Stop what runs before its next call of the cloud, and hand it back."""
        self._claims.give_up()

    def _carry_out(self, claim):
        while claim is not None:
            claim = self._carry_out_one(claim)

    def _carry_out_one(self, claim):
        """Carry out one event; returns the Claim of what follows at once, or None."""
        lease, event = claim.lease, claim.event
        try:
            outcome = self._outcome(claim)
            if outcome.result != results.RECORDED:
                return self._record(claim, outcome)
        except (claims.ClaimLost, errors.LostRace):
            self._let_go(claim)
        except Exception:  # A door: the claim ends, and the event is carried out anew.
            LOG.exception('Lease %s: how %s went could not be written down; it is done again',
                          lease.id, event.kind)
        finally:
            self._claims.drop(claim)
            self._core.wake()
        return None

    def _record(self, claim, outcome):
        # Where all workers are busy, what is due goes before what only tidies up.
        goes_on = self.room > 0 and not claim.hold.given_up
        began = self._core.monotonic()
        event = self._outcomes.record(claim, outcome, goes_on)
        return None if event is None else self._claims.go_on(claim, event, began)

    def _outcome(self, claim):
        """How the action of a claimed event went.

        :raises ClaimLost: it was stopped before it came to its end.
        """
        try:
            return self._actions.perform(claim)
        except claims.ClaimLost:
            raise
        except Exception as error:  # A door: one event must not stop the others.
            LOG.exception('Lease %s: %s failed unexpectedly', claim.lease.id, claim.event.kind)
            return results.Outcome(results.FAILED, f'Unexpected: {error}')

    def _let_go(self, claim):
        lease, event = claim.lease, claim.event
        if not claim.hold.given_up:
            LOG.warning('Lease %s: %s is not ours any more; another manager\'s word counts',
                        lease.id, event.kind)
            return
        try:
            self._claims.hand_back(claim, self._core.clock())
            LOG.info('Lease %s: %s is handed back', lease.id, event.kind)
        except (claims.ClaimLost, errors.ClimateError) as error:
            LOG.warning('Lease %s: %s could not be handed back, its claim ends by itself: %r',
                        lease.id, event.kind, error)
