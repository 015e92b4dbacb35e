# SPDX-License-Identifier: Apache-2.0
"""Retries of actions: whether an action that failed or waits is tried again, and after what pause.

A start that is given up is retried by another event, after longer pauses, until the end of its
lease. An end is tried until it succeeds. The failures of a service that is down do not use up the
tries, because the service refused nothing. ``outcomes`` writes the decisions to the database.
"""
import datetime

from climate.domain import acquire
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import retry_pauses
from climate.manager import results

# Retry long failures less often; a lease that lost its trust can fail for months.
_HEALING_SHARE = 30
# After this time a retry no longer waits for resources of others: their release wakes it.
_NO_WAIT_AFTER = datetime.timedelta(hours=1)
# The longest pause between two checks of something that takes minutes, such as an image.
_LONGEST_WAIT = datetime.timedelta(seconds=30)
# The pauses of an outage, as a share of its length, and the part of the tries that it may use up.
_OUTAGE_SHARE = 10
_OUTAGE_TRIES = 2


class Retries:
    """The rules of one manager.

    :ivar busy_pause: the pause before an event that waits for the cloud is tried again.
    """

    def __init__(self, conf):
        """Read the options of [manager] in `conf`."""
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
                # It has a pause of its own and no limit of tries; see ``given_up``.
                return None
            if retry is event_kinds.Retry.ACQUISITION and (
                    claim.lease.acquire_type == acquire.BEST_EFFORT):
                # A best effort has its own time limit, and the hosts that it cleared must be
                # returned in the end. So it is tried without a limit.
                return self._without_limit(attempts)
            if self._waits_for_service(claim, outcome):
                return self._pause_of_outage(claim)
            return self._pause.after(attempts)
        return self._pause_of_wait(claim, outcome) if outcome.result == results.BUSY else None

    def _without_limit(self, attempts):
        return self._pause.after(min(attempts, self._pause.attempts)) or self.busy_pause

    def healing_pause(self, given_up, now):
        """Return the pause before an Event that was given up is tried again; None: never.

        The pause grows with the time since the first try.
        """
        if not self._heal:
            return None
        return max(self._heal, min(_since_first_try(given_up, now) / _HEALING_SHARE,
                                   self._heal_longest))

    def attempts_after(self, claim, outcome):
        """Return the number of failed attempts of the event after this Outcome.

        An outage leaves tries for errors of the service after it.
        """
        attempts = claim.event.attempts
        if not self.has_failed(claim, outcome):
            return attempts
        if self._waits_for_service(claim, outcome):
            return max(attempts, min(attempts + 1, self._pause.attempts // _OUTAGE_TRIES))
        return attempts + 1

    def is_healed_too_long(self, lease, now):
        """Return whether a start is retried for too long: it holds resources that it cannot use."""
        return bool(self._heal_most) and (
            _since_first_try(due_events.to_heal(lease), now) >= self._heal_most)

    def was_given_up(self, event):
        """Return whether an event that goes on was given up before."""
        return event.attempts > self._pause.attempts

    def goes_on(self, claim):
        """Return whether Climate tries again after an event was given up."""
        if claim.kind.given_up is event_kinds.AfterLastTry.GOES_ON:
            return True
        return bool(self._heal) and (claim.kind.retry is event_kinds.Retry.HEALING
                                     or claim.kind.given_up is event_kinds.AfterLastTry.HEALED)

    def is_refused_for_long(self, event, outcome, now):
        """Return whether services refuse an Event for longer than an outage may take.

        A service that is down refuses nothing. It has a metric and an alert of its own.
        """
        return not outcome.unreachable and _since_first_try(event, now) >= self._outage

    def pause_after_given_up(self, claim):
        """Return the pause before an event that goes on is tried again; it grows."""
        return (self.healing_pause(claim.event, claim.at)
                or datetime.timedelta(seconds=max(1, self._pause.longest_seconds)))

    def _waits_for_service(self, claim, outcome):
        """Return whether a failed event is tried on because a service is down."""
        return outcome.unreachable and (
            claim.kind.given_up is event_kinds.AfterLastTry.GOES_ON
            or _since_first_try(claim.event, claim.at) < self._outage)

    def _pause_of_outage(self, claim):
        lasted = _since_first_try(claim.event, claim.at).total_seconds()
        seconds = max(self._pause.first_seconds, lasted / _OUTAGE_SHARE)
        return datetime.timedelta(seconds=min(seconds, self._pause.longest_seconds))

    def has_failed(self, claim, outcome):
        """Return True if the action failed, or if it waits for the cloud longer than it may."""
        if outcome.result == results.BUSY:
            return not outcome.patient and (
                claim.event.waits >= self._waits_limit or _waits_no_more(claim))
        return outcome.result == results.FAILED

    def _pause_of_wait(self, claim, outcome):
        """Return the pause before the cloud is asked again; it grows if that takes minutes."""
        slow = outcome.patient and outcome.slow
        if not slow and not waits_for_images(claim, outcome):
            return self.busy_pause
        waited = _since_first_try(claim.event, claim.at)
        return max(self.busy_pause, min(waited / 10, _LONGEST_WAIT))


def _waits_no_more(claim):
    return claim.kind.retry is event_kinds.Retry.HEALING and _since_first_try(
        due_events.to_heal(claim.lease), claim.at) >= _NO_WAIT_AFTER


def _since_first_try(event, now):
    return now - (event.begun_at or now)


def waits_for_images(claim, outcome):
    """Return whether an event waits for images, whose time limit replaces that of other waits."""
    return outcome.patient and claim.kind.may_make_images
