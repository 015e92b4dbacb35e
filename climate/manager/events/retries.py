# SPDX-License-Identifier: Apache-2.0
"""The rules of retries: whether a failed or waiting action is tried again, and after which pause.

A start that was given up is retried by another event, after longer pauses, until its lease ends. An
end is retried until it succeeds. While a service is down, failures use up only a part of the tries,
because the service did not refuse anything. ``outcomes`` writes the decisions to the database.
"""
import datetime

from climate.domain import acquire
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import retry_pauses
from climate.manager import results

# The pause before a retry is the time since the first try, divided by this number. So a lease that
# fails for months, such as one without a trust, is retried rarely.
_HEALING_DIVISOR = 30
# When this time has passed since the first try, a retry that has to wait counts as failed, and does
# not poll. When another lease releases resources, the next retry starts at once.
_NO_WAIT_AFTER = datetime.timedelta(hours=1)
# The longest pause between two checks of work that takes minutes, such as making an image.
_LONGEST_WAIT = datetime.timedelta(seconds=30)
# The pause during an outage is the duration of the outage, divided by this number.
_OUTAGE_PAUSE_DIVISOR = 10
# An outage uses up at most the maximum number of tries divided by this number.
_OUTAGE_TRIES_DIVISOR = 2


class Retries:
    """The retry rules of one manager.

    :param conf: the options of [manager].
    :ivar busy_pause: the pause before an event that waits for the cloud is tried again.
    """

    def __init__(self, conf):
        self.busy_pause = datetime.timedelta(seconds=conf.busy_seconds)
        self._waits_limit = int(conf.busy_limit_seconds / max(conf.busy_seconds, 0.01))
        self._heal = datetime.timedelta(seconds=conf.heal_seconds)
        self._heal_longest = datetime.timedelta(seconds=conf.heal_longest_seconds)
        self._heal_most = datetime.timedelta(seconds=conf.heal_most_seconds)
        self._outage = datetime.timedelta(seconds=conf.outage_seconds)
        self._pause = retry_pauses.RetryPause(conf.retry_seconds, conf.retry_longest_seconds,
                                              conf.event_max_retries)

    def pause_after(self, claim, outcome):
        """Return the pause before the event is tried again; None if it is not tried again."""
        attempts, retry = claim.event.attempts + 1, claim.kind.retry
        if self.has_failed(claim, outcome):
            if retry is event_kinds.Retry.HEALING:
                # ``given_up`` schedules these retries, without a limit of tries.
                return None
            if retry is event_kinds.Retry.ACQUISITION and (
                    claim.lease.acquire_type == acquire.BEST_EFFORT):
                # A best effort has its own time limit, and must return the hosts that it cleared.
                # So the number of tries is not limited.
                return self._pause.after(min(attempts, self._pause.attempts)) or self.busy_pause
            if self._waits_for_service(claim, outcome):
                return self._pause_of_outage(claim)
            return self._pause.after(attempts)
        return self._pause_of_wait(claim, outcome) if outcome.result == results.BUSY else None

    def healing_pause(self, given_up, now):
        """Return the pause before an Event that was given up is tried again; None: never.

        The pause grows with the time since the first try.
        """
        if not self._heal:
            return None
        return max(self._heal, min(_since_first_try(given_up, now) / _HEALING_DIVISOR,
                                   self._heal_longest))

    def attempts_after(self, claim, outcome):
        """Return the number of failed attempts of the event after this Outcome.

        An outage uses up only a part of the tries, because errors may follow when it is over.
        """
        attempts = claim.event.attempts
        if not self.has_failed(claim, outcome):
            return attempts
        if self._waits_for_service(claim, outcome):
            return max(attempts, min(attempts + 1, self._pause.attempts // _OUTAGE_TRIES_DIVISOR))
        return attempts + 1

    def is_retried_too_long(self, lease, now):
        """Return whether a failed start has kept its unused resources for too long."""
        return bool(self._heal_most) and (
            _since_first_try(due_events.failed_event(lease), now) >= self._heal_most)

    def was_given_up(self, event):
        """Return whether an Event had been given up before its present try."""
        return event.attempts > self._pause.attempts

    def goes_on(self, claim):
        """Return whether Climate tries again after an event was given up."""
        if claim.kind.given_up is event_kinds.AfterLastTry.GOES_ON:
            return True
        return bool(self._heal) and (claim.kind.retry is event_kinds.Retry.HEALING
                                     or claim.kind.given_up is event_kinds.AfterLastTry.HEALED)

    def is_refused_for_long(self, event, outcome, now):
        """Return whether services have refused an Event for longer than an outage may last.

        A service that is down does not count, because it has its own metric and alert.
        """
        return not outcome.unreachable and _since_first_try(event, now) >= self._outage

    def pause_after_given_up(self, claim):
        """Return the pause before the next try of an event that is tried until it succeeds."""
        return (self.healing_pause(claim.event, claim.at)
                or datetime.timedelta(seconds=max(1, self._pause.longest_seconds)))

    def _waits_for_service(self, claim, outcome):
        """Return whether a failed event waits for the end of an outage."""
        return outcome.unreachable and (
            claim.kind.given_up is event_kinds.AfterLastTry.GOES_ON
            or _since_first_try(claim.event, claim.at) < self._outage)

    def _pause_of_outage(self, claim):
        lasted = _since_first_try(claim.event, claim.at).total_seconds()
        seconds = max(self._pause.first_seconds, lasted / _OUTAGE_PAUSE_DIVISOR)
        return datetime.timedelta(seconds=min(seconds, self._pause.longest_seconds))

    def has_failed(self, claim, outcome):
        """Return True if the action failed, or waits for the cloud longer than is allowed."""
        if outcome.result == results.BUSY:
            return not outcome.patient and (
                claim.event.waits >= self._waits_limit or _has_waited_long(claim))
        return outcome.result == results.FAILED

    def _pause_of_wait(self, claim, outcome):
        """Return the pause before the next check; it grows if the cloud needs minutes."""
        slow = outcome.patient and outcome.slow
        if not slow and not waits_for_images(claim, outcome):
            return self.busy_pause
        waited = _since_first_try(claim.event, claim.at)
        return max(self.busy_pause, min(waited / 10, _LONGEST_WAIT))


def _has_waited_long(claim):
    return claim.kind.retry is event_kinds.Retry.HEALING and _since_first_try(
        due_events.failed_event(claim.lease), claim.at) >= _NO_WAIT_AFTER


def _since_first_try(event, now):
    return now - (event.begun_at or now)


def waits_for_images(claim, outcome):
    """Return whether an event waits for images, which have their own time limit."""
    return outcome.patient and claim.kind.may_make_images
