# SPDX-License-Identifier: Apache-2.0
"""Notifications: their content, the subscriptions that get them, and the order of deliveries."""
import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
from typing import Any
import uuid

from climate.domain import notification_kinds
from climate.domain import subscriptions

Moment = datetime.datetime

# The states of a delivery.
WAITING, DELIVERED, GIVEN_UP = 'waiting', 'delivered', 'given_up'

# The namespace of the ids of notifications. It must never change, because ids would change too.
_IDS = uuid.UUID('6a8f6a3e-52f0-4f0a-9d5e-3b1f6f7a2c11')
# After a use this far below the mark, in percent of the limit, a project is notified again.
_LESS = 10
# One receiver may use one of this number of workers.
_RECEIVER_SHARE = 8


@dataclasses.dataclass(frozen=True)
class Delivery:
    """One notification for one subscription, as an entry in the log of the subscription."""

    id: int
    subscription_id: str
    source: str
    kind: str
    at: Moment
    content: Mapping[str, Any]
    state: str = WAITING
    attempts: int = 0
    next_at: Moment | None = None
    done_at: Moment | None = None
    reason: str | None = None

    @property
    def notification_id(self) -> str:
        """Return the id by which a receiver drops duplicates. All attempts have the same id."""
        return notification_id(self.subscription_id, self.source)


@dataclasses.dataclass(frozen=True)
class Waiting:
    """A waiting delivery, with the facts that decide whether it may be sent.

    `next_at` is the moment of the next attempt, or the end of a claim. `has_failed` says whether
    the last attempt to reach the receiver failed.
    """

    id: int
    subscription_id: str
    project_id: str
    lease_id: str | None
    next_at: Moment
    has_failed: bool = False


@dataclasses.dataclass(frozen=True)
class Notification:
    """A notification before it is assigned to subscriptions.

    Two notifications with the same `source` are duplicates.
    """

    source: str
    kinds: tuple[str, ...]
    at: Moment
    project_id: str | None
    user_id: str | None
    content: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Reminder:
    """A reminder that is due at `at`, `seconds` before the end of a lease."""

    seconds: int
    at: Moment
    lease_id: str
    project_id: str
    user_id: str
    end: Moment
    content: Mapping[str, Any]

    @property
    def source(self) -> str:
        """Return the source of the notifications. It changes if the end of the lease changes."""
        return f'before_end:{self.lease_id}:{self.seconds}:{self.end:%Y%m%dT%H%M%S.%f}'


def notification_id(subscription_id: str, source: str) -> str:
    """Return the id of the notification with this source for a subscription."""
    return str(uuid.uuid5(_IDS, f'{subscription_id}/{source}'))


def recipients(candidates: Iterable[subscriptions.Subscription], notification: Notification
               ) -> list[tuple[subscriptions.Subscription, str]]:
    """Return pairs (Subscription, kind) of the candidates to which a notification is sent.

    If a subscription has several kinds of the notification, only the first kind is returned.
    """
    pairs = []
    for subscription in candidates:
        kinds = [kind for kind in notification.kinds if kind in subscription.events]
        if kinds and _is_about(subscription, notification.project_id, notification.user_id):
            pairs.append((subscription, kinds[0]))
    return pairs


def reminder_recipients(candidates: Iterable[subscriptions.Subscription],
                        reminder: Reminder) -> list[subscriptions.Subscription]:
    """Return the subscriptions that have a reminder and were created before its moment."""
    return [subscription for subscription in candidates
            if reminder.seconds in subscription.before_end
            and subscription.created_at <= reminder.at
            and _is_about(subscription, reminder.project_id, reminder.user_id)]


def _is_about(subscription: subscriptions.Subscription, project_id: str | None,
              user_id: str | None) -> bool:
    """Return whether a subscription gets notifications about a user of a project; None: any."""
    if not subscription.enabled or subscription.transport not in subscriptions.SENT or (
            subscription.project_id != project_id):
        return False
    return subscription.scope == subscriptions.PROJECT or user_id in (None, subscription.user_id)


def of_outbox(number: int, at: Moment, event_type: str, payload: Mapping[str, Any]
              ) -> Notification:
    """Return the Notification of a row of the outbox."""
    kinds = notification_kinds.of(event_type, payload, at)
    return Notification(
        source=f'outbox:{number}', kinds=kinds, at=at, project_id=payload.get('project_id'),
        user_id=payload.get('user_id'), content=content(event_type, payload))


# The fields of a payload that the content has unchanged.
_COPIED = ('project_id', 'user_id', 'name', 'start', 'end', 'before_end', 'degraded', 'reason',
           'idle_since', 'reclaim_at')


def content(event_type: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a notification: the fields of a payload that its owner may read."""
    if 'lease_id' not in payload:
        return {'event_type': event_type, 'details': {
            name: value for name, value in payload.items()
            if name not in ('project_id', 'user_id')}}
    lease = {name: payload.get(name) for name in _COPIED}
    return {'event_type': event_type, 'lease': {
        'id': payload['lease_id'], **lease, 'state': payload.get('status'),
        'reservations': [{name: reservation.get(name) for name in ('id', 'resource_type')}
                         for reservation in payload.get('reservations') or ()]}}


def sendable(waiting: Iterable[Waiting], now: Moment) -> list[Waiting]:
    """Return the due deliveries that may be sent now without a change of order.

    A receiver gets the notifications of one lease one after the other. A notification without a
    lease waits for all earlier ones, and all later ones wait for it. A receiver that has failed
    gets one notification at a time.

    :param waiting: the oldest waiting deliveries of each receiver, the oldest first.
    """
    leases: dict[str, set[str | None]] = collections.defaultdict(set)
    free = []
    for delivery in waiting:
        earlier = leases[delivery.subscription_id]
        comes_first = not earlier or not (
            delivery.lease_id is None or None in earlier or delivery.lease_id in earlier
            or delivery.has_failed)
        earlier.add(delivery.lease_id)
        if comes_first and delivery.next_at <= now:
            free.append(delivery)
    return free


def fair_share(waiting: Iterable[Waiting], in_flight: Sequence[tuple[str, str]], workers: int
               ) -> list[int]:
    """Return the ids of the deliveries that free workers send now.

    A project may have as many deliveries in flight as workers are free. So a single project with
    slow receivers uses at most half of the workers. A single receiver may use an eighth of the
    workers.

    :param waiting: deliveries that may be sent, in a fair order of the receivers.
    :param in_flight: (project id, subscription id) of each delivery that is being sent.
    :param workers: the number of workers.
    """
    of_receiver = collections.Counter(receiver for _, receiver in in_flight)
    turns = []
    for delivery in waiting:
        turn = of_receiver[delivery.subscription_id]
        of_receiver[delivery.subscription_id] += 1
        if turn < max(1, workers // _RECEIVER_SHARE):
            turns.append((turn, delivery))
    of_project = collections.Counter(project for project, _ in in_flight)
    ranked = []
    for _, delivery in sorted(turns, key=lambda pair: pair[0]):
        ranked.append((of_project[delivery.project_id], delivery))
        of_project[delivery.project_id] += 1
    free = workers - len(in_flight)
    chosen: list[int] = []
    for ahead, delivery in sorted(ranked, key=lambda pair: pair[0]):
        if ahead >= free - len(chosen):
            break
        chosen.append(delivery.id)
    return chosen


def limit_crossings(used: Mapping[str, int], notified: Collection[str], most: int, percent: int
                    ) -> tuple[list[str], list[str]]:
    """Return (projects to notify that they have nearly reached a limit, projects to forget).

    The notification of a project is forgotten only when its use is clearly below the mark. So a
    project whose use varies around the mark is notified once.

    :param used: {project id: units in use}; an absent project uses none.
    :param notified: the projects whose notification is not forgotten.
    :param most: the limit.
    :param percent: the mark, in percent of the limit.
    """
    # For a low mark, half of it, because the use cannot fall below 0.
    forget_below = max(percent - _LESS, percent / 2)
    forgotten = [project for project in notified
                 if used.get(project, 0) * 100 < most * forget_below]
    new = [project for project, count in used.items()
           if count > 0 and count * 100 >= most * percent and project not in notified]
    return sorted(new), sorted(forgotten)
