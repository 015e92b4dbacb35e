# SPDX-License-Identifier: Apache-2.0
"""Send the deliveries of one transport: claim each delivery, send it, and store the result.

If a manager dies before it stores the result, its claim expires, and another manager sends the
delivery again with the same id.
"""
import collections
from concurrent import futures
import datetime
import functools

from oslo_log import log

from climate.db import deliveries
from climate.db import subscriptions
from climate.db import wakeups
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.domain import status_words
from climate.manager import core as cores
from climate.manager.notifications import delivery_results
from climate.manager.notifications import encryption
from climate.manager.notifications import membership
from climate.notifiers import base

LOG = log.getLogger(__name__)

# The length of a pass. It is short, because a manager that stops waits for the end of the pass.
_PASS_SECONDS = 10
# The pause between two queries for due deliveries while a receiver is slow.
_CHECK_SECONDS = 0.2
# The same pause while nothing is being sent. A new delivery ends both pauses.
_IDLE_CHECK_SECONDS = 1
# The pause in which results of several attempts are gathered.
_GATHERING_SECONDS = 0.01
# The number of receivers among which deliveries are chosen, for each worker. Some of them wait for
# a delivery that another manager sends.
_RECEIVERS_PER_WORKER = 4
# A delivery is sent only during this fraction of the time of its claim.
_SENDING_FRACTION = 0.5
# The number of old deliveries that one transaction deletes.
_DELETED_AT_ONCE = 500
# The longest pause between two attempts while the whole transport is down.
_LONGEST_PAUSE_SECONDS = 60


class Deliverer:
    """Sends the deliveries of one transport.

    :param owner: the name of the manager.
    :ivar name: the name of the transport.
    :ivar counts: {result: number of attempts of this manager}; see ``delivery_results.RESULTS``.
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
        self._results = delivery_results.Results(core, owner)
        self._wake = core.database.wakeups.event(wakeups.DELIVERIES)
        self._not_before = float('-inf')

    def deliver(self, now, may_go_on=lambda now: False, linger_seconds=0):
        """Send the due deliveries in one pass; return the number of accepted deliveries.

        A slow receiver does not delay the deliveries to other receivers, even if they become due
        during the pass.

        :param may_go_on: a function of the current time that returns whether to extend the pass. It
            is called at the end of the pass if a delivery is still being sent, and in each pause
            of a pass that lingers.
        :param linger_seconds: the time for which the pass waits for more deliveries before it ends.
            Its workers and connections stay open for this time.
        """
        self._delete_old(now)
        with self._core.database.reader() as connection:
            if not deliveries.any_due(connection, self.name, now):
                return 0
        with self._notifier.session() as send, futures.ThreadPoolExecutor(
                self._notifier.workers, thread_name_prefix=f'notify-{self.name}') as pool:
            return self._deliver_through(functools.partial(pool.submit, self._result, send),
                                         may_go_on, linger_seconds)

    def _deliver_through(self, submit, may_go_on, linger_seconds):
        """Send the due deliveries; `submit` gets the other arguments of `_result`."""
        accepted, running = 0, {}
        busy_at = self._core.monotonic()
        end = busy_at + _PASS_SECONDS
        # One worker can send nothing else during the last delivery, so do not extend its pass.
        may_be_longer = self._notifier.workers > 1
        while True:
            self._wake.clear()
            accepted += self._finished({attempt: running.pop(attempt) for attempt in list(running)
                                        if attempt.done()})
            if self._not_before <= self._core.monotonic() < end:
                for arguments in self._claimed(running.values()):
                    attempt = submit(*arguments)
                    running[attempt] = arguments[:2]
                    attempt.add_done_callback(lambda _: self._wake.set())
            moment = self._core.monotonic()
            if running:
                busy_at = moment
            elif moment - busy_at >= linger_seconds or not may_go_on(self._core.clock()):
                return accepted
            if moment >= end and (may_be_longer or not running):
                now = self._core.clock()
                may_be_longer = may_go_on(now)
                if may_be_longer:
                    end = moment + _PASS_SECONDS
                    self._delete_old(now)
            self._wake.wait(_CHECK_SECONDS if running else _IDLE_CHECK_SECONDS)
            # Results that come within this pause are stored together.
            futures.wait(running, _GATHERING_SECONDS)

    def _claimed(self, running):
        """Claim deliveries for the free workers; return the arguments of `_result` for each.

        :param running: the pairs (Delivery, Subscription) that are being sent.
        """
        workers = self._notifier.workers
        if len(running) >= workers:
            return []
        # Read the clock again, because slow receivers may have delayed this claim.
        now = self._core.clock()
        in_flight = [(subscription.project_id, subscription.id) for _, subscription in running]
        with self._core.database.reader() as connection:
            if not deliveries.any_due(connection, self.name, now):
                return []
            # This query is slow if there are many subscriptions, so run it before the transaction
            # of the claim: SQLite has one writer at a time.
            waiting = deliveries.due(connection, self.name, now, _RECEIVERS_PER_WORKER * workers)
        claimed = self._claim(notifications.fair_share(
            notifications.sendable(waiting, now), in_flight, workers), now)
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

    def _finished(self, attempts):
        """Store the results of attempts; return the number of accepted deliveries.

        If storing fails, the claim expires, and the delivery is sent again.

        :param attempts: {Future of `_result`: (Delivery, Subscription)}.
        """
        now = self._core.clock()
        accepted = [pair for attempt, pair in attempts.items() if attempt.result() is None]
        healthy = [delivery for delivery, subscription in accepted if not subscription.failures]
        if healthy:
            with cores.isolated('%s deliveries', len(healthy)):
                self.counts[notifications.DELIVERED] += self._results.store_delivered(healthy, now)
        for attempt, (delivery, subscription) in attempts.items():
            failure = attempt.result()
            if failure is not None or subscription.failures:
                with cores.isolated('Delivery %s', delivery.id):
                    result = self._results.store(delivery, subscription, failure, now)
                    if result is not None:
                        self.counts[result] += 1
            self._pause_if_down(failure)
        return len(accepted)

    def _result(self, send, delivery, subscription, stored, now, stop):
        """Send one delivery; return None if it was accepted, otherwise the Undelivered error."""
        if self._core.monotonic() > stop:
            return base.Down('There was no time left before the end of the claim.')
        try:
            if self._membership.has_left(subscription):
                return delivery_results.Left('The user of the subscription has left the project.')
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
