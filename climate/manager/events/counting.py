# SPDX-License-Identifier: Apache-2.0
"""The results of events, as the counters of the metrics count them."""
from climate.domain import due_events
from climate.domain import event_kinds
from climate.manager import counters
from climate.manager import results


class Counting:
    """Counts what became of the events that one manager carried out.

    :param kept: the Counters of that manager.
    :param retries: its Retries.
    """

    def __init__(self, kept, retries):
        self._counters = kept
        self._retries = retries

    def count(self, claim, outcome, now, tried_again):
        """Count an Outcome that was written at `now`; a wait for the cloud is not counted.

        :param tried_again: whether the same event is due again after a pause.
        """
        event = claim.event
        if outcome.result == results.MOOT:
            self._counters.event(event.kind, counters.MOOT)
        elif outcome.result == results.DONE:
            self._counters.event(event.kind, counters.DONE)
            self._record_lateness(claim, now)
        elif self._retries.has_failed(claim, outcome):
            again = (tried_again or claim.kind.given_up is None
                     or self._retries.was_given_up(event))
            self._counters.event(event.kind, counters.RETRIED if again else counters.GIVEN_UP)

    def _record_lateness(self, claim, now):
        """Record how late a start or an end was; a start that was given up counts when it heals."""
        is_healed = claim.kind.retry is event_kinds.Retry.HEALING
        event = due_events.to_heal(claim.lease) if is_healed else claim.event
        if event.kind in counters.PUNCTUAL:
            self._counters.late(event.kind, now - event.at)
