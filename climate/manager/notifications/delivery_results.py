# SPDX-License-Identifier: Apache-2.0
"""Store the results of attempts to deliver notifications.

Accepted deliveries to healthy receivers are stored together. The result of a receiver that failed
also changes its subscription, so it has a transaction of its own.
"""
import datetime

from oslo_log import log

from climate.db import deliveries
from climate.db import subscriptions
from climate.domain import notifications
from climate.domain import retry_pauses
from climate.manager import core as cores
from climate.manager.notifications import subscriptions as subscription_requests
from climate.notifiers import base

LOG = log.getLogger(__name__)

#: The result of an attempt that failed and will be repeated.
FAILED = 'failed'
#: The results of an attempt to deliver.
RESULTS = (notifications.DELIVERED, FAILED, notifications.GIVEN_UP)


class Left(base.Undelivered):
    """The user of the subscription has left the project; nothing was sent."""


class Results:
    """The results of the attempts of one manager.

    :param owner: the name of the manager.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner

    @cores.again_after_a_race
    def store_delivered(self, accepted, now):
        """Store accepted deliveries to receivers that have not failed; return their number."""
        with self._core.database.writer() as connection:
            return deliveries.delivered(connection, accepted, self._owner, now)

    @cores.again_after_a_race
    def store(self, delivery, subscription, failure, now):
        """Store and return the result of a delivery; return None if the claim was lost."""
        with self._core.database.writer() as connection:
            failures = subscription.failures
            # Requests lock a subscription before its deliveries, so do the same.
            subscription = subscriptions.lock(connection, subscription.id)
            if subscription is None or not deliveries.is_claimed(connection, delivery,
                                                                 self._owner):
                return None
            if failure is None:
                deliveries.change(connection, delivery.id, state=notifications.DELIVERED,
                                  next_at=None, done_at=now, attempts=delivery.attempts + 1,
                                  reason=None)
                subscriptions.succeeded(connection, [subscription.id])
                return notifications.DELIVERED
            # Attempts that began together count as one failure.
            failures = max(subscription.failures, failures + failure.counts)
            return self._record_failure(connection, delivery, subscription, failure, failures, now)

    def _record_failure(self, connection, delivery, subscription, failure, failures, now):
        if isinstance(failure, Left):
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
            subscriptions.change(connection, subscription.id, now, failures=failures)
            if failures >= conf.failure_limit:
                subscription_requests.disable_after_failures(
                    connection, subscription, failures, reason, now)
        return notifications.GIVEN_UP if gives_up else FAILED
