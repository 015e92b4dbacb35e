# SPDX-License-Identifier: Apache-2.0
"""Send the deliveries of one transport: claim each delivery, send it, and store the result.

If a manager dies before it stores the result, its claim expires, and another manager sends the
delivery again with the same id.
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

#: The result of an attempt that failed and will be repeated.
FAILED = 'failed'
#: The results of an attempt to deliver.
RESULTS = (notifications.DELIVERED, FAILED, notifications.GIVEN_UP)
# The length of a pass. It is short, because a manager that stops waits for the end of the pass.
_PASS_SECONDS = 10
# The pause between two queries for due deliveries while a receiver is slow.
_CHECK_SECONDS = 0.2
# A delivery is sent only during this fraction of the time of its claim.
_SENDING_FRACTION = 0.5
# The number of old deliveries that one transaction deletes.
_DELETED_AT_ONCE = 500
# The longest pause between two attempts while the whole transport is down.
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
        # The number of attempts in a row that found the transport down.
        self._outages = 0
        self._not_before = float('-inf')

    def deliver(self, now, may_go_on=lambda now: False):
        """Send the due deliveries in one pass; return the number of accepted deliveries.

        A slow receiver does not delay the deliveries to other receivers, even if they become due
        during the pass.

        :param may_go_on: a function of the current time that returns whether to extend the pass. It
            is called at the end of the pass if a delivery is still being sent.
        """
        self._delete_old(now)
        with self._core.database.reader() as connection:
            if not deliveries.any_due(connection, self.name, now):
                return 0
        accepted, running = 0, {}
        end = self._core.monotonic() + _PASS_SECONDS
        # One worker can send nothing else during the last delivery, so do not extend its pass.
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
                    # If storing fails, the claim expires, and the delivery is sent again.
                    with cores.isolated('Delivery %s', delivery.id):
                        accepted += self._finished(delivery, subscription, attempt.result())
                if may_be_longer and running and self._core.monotonic() >= end:
                    now = self._core.clock()
                    may_be_longer = may_go_on(now)
                    if may_be_longer:
                        end = self._core.monotonic() + _PASS_SECONDS
                        self._delete_old(now)

    def _claimed(self, running):
        """Claim deliveries for the free workers; return the arguments of `_result` for each.

        :param running: the pairs (Delivery, Subscription) that are being sent.
        """
        free = self._notifier.workers - len(running)
        if not free:
            return []
        # Read the clock again, because slow receivers may have delayed this claim.
        now = self._core.clock()
        in_flight = collections.Counter(
            subscription.project_id for _, subscription in running)
        with self._core.database.reader() as connection:
            if not deliveries.any_due(connection, self.name, now):
                return []
            # This query is slow if many deliveries wait for one receiver, so run it before the
            # transaction of the claim: SQLite has one writer at a time.
            due = deliveries.due(connection, self.name, now, free, in_flight)
        claimed = self._claim(notifications.fair_share(due, free), now)
        stop = self._core.monotonic() + (
            self._core.conf.notifications.claim_seconds * _SENDING_FRACTION)
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
            receivers = subscriptions.with_secrets(
                connection, {delivery.subscription_id for delivery in claimed})
        return [(delivery, *receivers[delivery.subscription_id]) for delivery in claimed
                if delivery.subscription_id in receivers]

    def _finished(self, delivery, subscription, failure):
        """Store the result of a delivery; return whether it was accepted."""
        result = self._record(delivery, subscription, failure, self._core.clock())
        if result is not None:
            self.counts[result] += 1
        self._pause_if_down(failure)
        return failure is None

    def _result(self, send, delivery, subscription, stored, now, stop):
        """Send one delivery; return None if it was accepted, otherwise the Undelivered error."""
        if self._core.monotonic() > stop:
            return base.Down('There was no time left before the end of the claim.')
        try:
            if self._membership.has_left(subscription):
                return _Left('The user of the subscription has left the project.')
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
        """Store and return the result of a delivery; return None if the claim was lost."""
        with self._core.database.writer() as connection:
            if failure is not None or subscription.failures:
                # Requests lock a subscription before its deliveries, so do the same.
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

    def _pause_if_down(self, failure):
        """Pause the transport if an attempt found it down; double the pause each time."""
        if not isinstance(failure, base.Down):
            self._outages = 0
            return
        seconds = min(2 ** self._outages, _LONGEST_PAUSE_SECONDS)
        self._outages = min(self._outages + 1, 10)
        self._not_before = self._core.monotonic() + seconds
        LOG.warning('Notifications by %s are tried again in %s seconds: %s', self.name, seconds,
                    failure)

    def _delete_old(self, now):
        before = now - datetime.timedelta(days=self._core.conf.notifications.log_days)
        with self._core.database.reader() as connection:
            if not deliveries.any_done(connection, before):
                return
        with self._core.database.writer() as connection:
            deliveries.forget(connection, before, _DELETED_AT_ONCE)


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
