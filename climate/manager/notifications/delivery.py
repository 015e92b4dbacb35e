# SPDX-License-Identifier: Apache-2.0
"""Send the deliveries of one transport: claim each, send it, and store its result.

A delivery is claimed before it is sent and marked after it was accepted. If a manager dies in
between, the claim expires and another one sends it again with the same id.
"""
import collections
from concurrent import futures
import datetime

from oslo_log import log

from climate.db import deliveries
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.domain import retry_pauses
from climate.domain import status_words
from climate.manager import core as cores
from climate.manager.notifications import encryption
from climate.manager.notifications import membership
from climate.manager.notifications import subscriptions as subscription_requests
from climate.notifiers import base

LOG = log.getLogger(__name__)

#: The result of a failed attempt that is repeated.
FAILED = 'failed'
#: The results of an attempt to deliver.
RESULTS = (notifications.DELIVERED, FAILED, notifications.GIVEN_UP)
# The length of a pass: a manager that stops waits for its end, and the clock is checked between
# passes.
_PASS_SECONDS = 10
# While a receiver is slow, this is the pause between two checks of what is due for others.
_CHECK_SECONDS = 0.2
# After this share of the claim nothing more is sent.
_SENDING = 0.5
_FORGET = 500
# The longest time in which nothing is sent while the whole transport is down.
_LONGEST_PAUSE_SECONDS = 60


class _Left(base.Undelivered):
    """The user of the subscription has left the project; nothing was sent."""


class Deliverer:
    """Sends the deliveries of one transport.

    :param owner: the name of the manager.
    :ivar name: the name of the transport.
    :ivar counts: {result: number of attempts of this manager}; see `RESULTS`.
    """

    def __init__(self, core, owner, name, notifier):
        self.name = name
        self.counts = collections.Counter()
        self._core = core
        self._owner = owner
        self._notifier = notifier
        self._encryption = encryption.KeyEncryption(core.conf)
        self._membership = membership.Membership(core)
        self._down = 0
        self._not_before = float('-inf')

    def deliver(self, now, may_go_on=lambda now: False):
        """Send due deliveries for some seconds; return the number of accepted ones.

        While a receiver is slow, the others get their deliveries, even those that become due
        meanwhile.

        :param may_go_on: called with the time when those seconds are over, if a delivery is still
            being sent; returns whether the pass continues for the same time again.
        """
        self._forget(now)
        if not self._any_due(now):
            return 0
        accepted, running = 0, {}
        end = self._core.monotonic() + _PASS_SECONDS
        # With one worker, no other receiver waits for the last delivery of this pass.
        may_be_longer = self._notifier.workers > 1
        with self._notifier.session() as send, futures.ThreadPoolExecutor(
                self._notifier.workers, thread_name_prefix=f'notify-{self.name}') as pool:
            while True:
                if self._not_before <= self._core.monotonic() < end:
                    for arguments in self._claimed(running.values()):
                        running[pool.submit(self._result, send, *arguments)] = arguments[:2]
                if not running:
                    return accepted
                done, _ = futures.wait(running, _CHECK_SECONDS, futures.FIRST_COMPLETED)
                for attempt in done:
                    delivery, subscription = running.pop(attempt)
                    # If its result is not written, its claim expires, and it is sent again.
                    with cores.isolated('Delivery %s', delivery.id):
                        accepted += self._finished(delivery, subscription, attempt.result())
                if may_be_longer and running and self._core.monotonic() >= end:
                    now = self._core.clock()
                    may_be_longer = may_go_on(now)
                    if may_be_longer:
                        end = self._core.monotonic() + _PASS_SECONDS
                        self._forget(now)

    def _any_due(self, now):
        with self._core.database.reader() as connection:
            return deliveries.any_due(connection, self.name, now)

    def _claimed(self, running):
        """Claim deliveries for the free workers; return the arguments of `_result` for each.

        :param running: pairs (Delivery, Subscription) that are being sent.
        """
        free = self._notifier.workers - len(running)
        if not free:
            return []
        # Slow receivers may have taken long, and a claim lasts from now on.
        now = self._core.clock()
        in_flight = collections.Counter(
            subscription.project_id for _, subscription in running)
        with self._core.database.reader() as connection:
            if not deliveries.any_due(connection, self.name, now):
                return []
            # Not in the transaction of the claim: if many wait for one receiver, this takes long,
            # and SQLite has one writer at a time.
            due = deliveries.due(connection, self.name, now, free, in_flight)
        claimed = self._claim(notifications.fair_share(due, free), now)
        stop = self._core.monotonic() + self._core.conf.notifications.claim_seconds * _SENDING
        return [(*claim, now, stop) for claim in claimed]

    @cores.again_after_a_race
    def _claim(self, due, now):
        """Claim deliveries; return tuples (Delivery, Subscription, its stored key)."""
        if not due:
            return []
        until = now + datetime.timedelta(
            seconds=self._core.conf.notifications.claim_seconds)
        with self._core.database.writer() as connection:
            claimed = deliveries.claim(connection, due, self._owner, now, until)
            known = subscriptions.with_secrets(
                connection, {delivery.subscription_id for delivery in claimed})
        return [(delivery, *known[delivery.subscription_id]) for delivery in claimed
                if delivery.subscription_id in known]

    def _finished(self, delivery, subscription, failure):
        """Store the result of a delivery; return whether it was accepted."""
        result = self._record(delivery, subscription, failure, self._core.clock())
        if result is not None:
            self.counts[result] += 1
        self._pause([failure] if isinstance(failure, base.Down) else [])
        return failure is None

    def _result(self, send, delivery, subscription, stored, now, stop):
        """Send one delivery; return None if it was accepted, else the Undelivered."""
        if self._core.monotonic() > stop:
            return base.Down('There was no time left; it is tried again.')
        try:
            if self._membership.has_left(subscription):
                return _Left('Its user has no role in the project any more, or one of them is '
                             'disabled.', permanent=True, counts=False)
            secret = self._encryption.decrypted(*stored)
            send(base.Message(delivery.notification_id, subscription.address, secret,
                              body_of(delivery, subscription, now)))
        except base.Undelivered as error:
            return error
        except Exception as error:  # Outer loop: one delivery must not stop the others.
            LOG.exception('Delivery %s of subscription %s failed unexpectedly', delivery.id,
                          subscription.id)
            return base.Undelivered(f'Climate failed unexpectedly: {type(error).__name__}.')
        return None

    @cores.again_after_a_race
    def _record(self, delivery, subscription, failure, now):
        """Store the result of a delivery and return it; None if the claim was lost."""
        with self._core.database.writer() as connection:
            if failure is not None or subscription.failures:
                # Lock it before the delivery, as requests do. It may have changed since the claim.
                subscription = subscriptions.lock(connection, subscription.id)
            if subscription is None or not deliveries.is_claimed(connection, delivery,
                                                                 self._owner):
                return None
            if failure is None:
                deliveries.change(connection, delivery.id, state=notifications.DELIVERED,
                                  next_at=None, done_at=now, attempts=delivery.attempts + 1,
                                  reason=None)
                if subscription.failures:
                    subscriptions.succeeded(connection, [subscription.id])
                return notifications.DELIVERED
            return self._record_failure(connection, delivery, subscription, failure, now)

    def _record_failure(self, connection, delivery, subscription, failure, now):
        if isinstance(failure, _Left):
            subscription_requests.disable_of_former_member(connection, subscription, now)
            return notifications.GIVEN_UP
        conf, reason = self._core.conf.notifications, str(failure)
        LOG.warning('Notification %s of subscription %s was not delivered: %s',
                    delivery.notification_id, subscription.id, reason)
        age = now - delivery.at
        attempts = delivery.attempts + (not isinstance(failure, base.Down))
        gives_up = failure.permanent or age > datetime.timedelta(hours=conf.give_up_hours)
        if gives_up:
            deliveries.change(connection, delivery.id, state=notifications.GIVEN_UP, next_at=None,
                              done_at=now, attempts=attempts, reason=reason)
        else:
            pause = retry_pauses.doubled(conf.retry_seconds, conf.retry_longest_seconds, attempts)
            again = now + datetime.timedelta(seconds=pause)
            deliveries.change(connection, delivery.id, next_at=again, attempts=attempts,
                              reason=reason)
        if failure.counts:
            failures = subscription.failures + 1
            subscriptions.change(connection, subscription.id, now, failures=failures)
            if failures >= conf.failure_limit:
                subscription_requests.disable_after_failures(
                    connection, subscription, failures, reason, now)
        return notifications.GIVEN_UP if gives_up else FAILED

    def _pause(self, down):
        """Pause the transport while it is down, longer each time."""
        if not down:
            self._down = 0
            return
        seconds = min(2 ** self._down, _LONGEST_PAUSE_SECONDS)
        self._down = min(self._down + 1, 10)
        self._not_before = self._core.monotonic() + seconds
        LOG.warning('Notifications by %s are tried again in %s seconds: %s', self.name, seconds,
                    down[0])

    def _forget(self, now):
        days = datetime.timedelta(days=self._core.conf.notifications.log_days)
        with self._core.database.reader() as connection:
            if not deliveries.any_done(connection, now - days):
                return
        with self._core.database.writer() as connection:
            deliveries.forget(connection, now - days, _FORGET)


def body_of(delivery, subscription, now):
    """Return the content of a notification for its receiver, as JSON-ready data."""
    lease = delivery.content.get('lease')
    if lease is not None:
        lease = dict(lease)
        start = datetime.datetime.fromisoformat(lease['start'])
        lease['status'] = status_words.words(lease.pop('state'), None, start, now)[1]
    return {
        'id': delivery.notification_id, 'kind': delivery.kind,
        'headline': notification_kinds.headline(delivery.kind, delivery.content),
        'at': delivery.at.isoformat(), 'subscription_id': subscription.id,
        'project_id': subscription.project_id, 'event_type': delivery.content.get('event_type'),
        'seconds_before_end': delivery.content.get('seconds_before_end'), 'lease': lease,
        'details': delivery.content.get('details')}
