# SPDX-License-Identifier: Apache-2.0
"""Subscriptions: who is told what, where, and how near to the end of a lease."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any
import uuid

from climate.domain import notification_kinds

Moment = datetime.datetime

#: Whose leases a subscription is about: those of its user, or all leases of its project.
SCOPES = OWN, PROJECT = ('own', 'project')
#: How many reminders before the end one subscription may ask for.
MOST_REMINDERS = 10
#: The shortest and the longest time before the end, in seconds.
SHORTEST_SECONDS, LONGEST_SECONDS = 60, 366 * 86400
#: The transport whose subscriptions are read by a calendar program; nothing is sent to them.
CALENDAR = 'calendar'
#: The transports to which notifications are sent.
SENT = MAIL, WEBHOOK = ('mail', 'webhook')
#: The longest name of what a delivery is about.
LONGEST_SOURCE = 160

# The states of a delivery.
WAITING, DELIVERED, GIVEN_UP = 'waiting', 'delivered', 'given_up'

# The namespace of the ids of notifications; it must never change.
_IDS = uuid.UUID('6a8f6a3e-52f0-4f0a-9d5e-3b1f6f7a2c11')


@dataclasses.dataclass(frozen=True)
class Subscription:
    """A subscription of a user to notifications, without its secret.

    `address` is a mail address or a URL; None for a calendar. `before_end` are seconds before the
    end of each lease, the longest first. `failures` counts deliveries that failed one after the
    other. `reason` says why Climate switched it off.
    """

    id: str
    project_id: str
    user_id: str
    scope: str
    transport: str
    address: str | None
    events: tuple[str, ...]
    before_end: tuple[int, ...]
    created_at: Moment
    name: str | None = None
    enabled: bool = True
    reason: str | None = None
    failures: int = 0
    updated_at: Moment | None = None


@dataclasses.dataclass(frozen=True)
class Request:
    """What a caller wants a new subscription to be.

    `secret` is the key that signs webhooks, or the SHA-256 of the secret in the address of a
    calendar. The API makes it, so that the secret of an address is never on the bus.
    """

    scope: str
    transport: str
    address: str | None
    events: tuple[str, ...]
    before_end: tuple[int, ...]
    name: str | None = None
    secret: str | None = None


@dataclasses.dataclass(frozen=True)
class Changes:
    """Changes of a subscription; None leaves a field as it is."""

    address: str | None = None
    events: tuple[str, ...] | None = None
    before_end: tuple[int, ...] | None = None
    name: str | None = None
    enabled: bool | None = None
    secret: str | None = None


@dataclasses.dataclass(frozen=True)
class Query:
    """Which subscriptions a list has; None selects all.

    `user_id` selects the own ones of a user beside all those for whole projects. `most_bytes` is
    the limit of the bytes of a page.
    """

    project_id: str | None = None
    user_id: str | None = None
    limit: int | None = None
    marker: str | None = None
    most_bytes: int | None = None


@dataclasses.dataclass(frozen=True)
class Delivery:
    """One notification for one subscription: an entry of its log."""

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
        """Return the id by which a receiver drops doubles: the same at every attempt."""
        return notification_id(self.subscription_id, self.source)


@dataclasses.dataclass(frozen=True)
class Notification:
    """Something that happened, before it is known who is told.

    `source` names it for ever: two notifications with one source are the same.
    """

    source: str
    kinds: tuple[str, ...]
    at: Moment
    project_id: str | None
    user_id: str | None
    content: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Reminder:
    """The moment at which the end of a lease is `seconds` away."""

    seconds: int
    at: Moment
    lease_id: str
    project_id: str
    user_id: str
    end: Moment
    content: Mapping[str, Any]

    @property
    def source(self) -> str:
        """Return the source of its notifications; another end of the lease is another source."""
        return f'before_end:{self.lease_id}:{self.seconds}:{self.end:%Y%m%dT%H%M%S.%f}'


def notification_id(subscription_id: str, source: str) -> str:
    """Return the id of the notification from a source for a subscription."""
    return str(uuid.uuid5(_IDS, f'{subscription_id}/{source}'))


def concerned(subscriptions: Iterable[Subscription], happened: Notification
              ) -> list[tuple[Subscription, str]]:
    """Return pairs (Subscription, kind) of those that are told of a notification.

    Each subscription is told once, of the first of its kinds.
    """
    found = []
    for each in subscriptions:
        kinds = [kind for kind in happened.kinds if kind in each.events]
        if kinds and _is_about(each, happened.project_id, happened.user_id):
            found.append((each, kinds[0]))
    return found


def reminded(subscriptions: Iterable[Subscription], reminder: Reminder) -> list[Subscription]:
    """Return the subscriptions that want a reminder and were made before its moment."""
    return [each for each in subscriptions
            if reminder.seconds in each.before_end and each.created_at <= reminder.at
            and _is_about(each, reminder.project_id, reminder.user_id)]


def _is_about(subscription: Subscription, project_id: str | None, user_id: str | None) -> bool:
    """Return whether a subscription is about what belongs to a user in a project.

    What belongs to no user concerns all subscriptions of the project.
    """
    if not subscription.enabled or subscription.transport not in SENT or (
            subscription.project_id != project_id):
        return False
    return subscription.scope == PROJECT or user_id in (None, subscription.user_id)


def of_outbox(number: int, at: Moment, event_type: str, payload: Mapping[str, Any]
              ) -> Notification:
    """Return the Notification of a row of the outbox."""
    kinds = notification_kinds.of(event_type, payload, at)
    return Notification(
        source=f'outbox:{number}', kinds=kinds, at=at, project_id=payload.get('project_id'),
        user_id=payload.get('user_id'), content=content(event_type, payload))


# The fields of a payload that are told as they are.
_TOLD = ('project_id', 'user_id', 'name', 'start', 'end', 'before_end', 'degraded', 'reason',
         'idle_since', 'reclaim_at')


def content(event_type: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what receivers are told of a payload of the outbox: only what its owner may read."""
    if 'lease_id' not in payload:
        return {'event_type': event_type, 'details': {
            name: value for name, value in payload.items()
            if name not in ('project_id', 'user_id')}}
    lease = {name: payload.get(name) for name in _TOLD}
    return {'event_type': event_type, 'lease': {
        'id': payload['lease_id'], **lease, 'state': payload.get('status'),
        'reservations': [{'id': each.get('id'), 'resource_type': each.get('resource_type')}
                         for each in payload.get('reservations') or ()]}}


@dataclasses.dataclass(frozen=True)
class CalendarLease:
    """A lease as a calendar shows it."""

    id: str
    name: str
    project_id: str
    start: Moment
    end: Moment
    state: str
    generation: int
    created_at: Moment
    updated_at: Moment | None = None
    ended_at: Moment | None = None
    owner_reason: str | None = None
    idle_since: Moment | None = None
    reclaim_at: Moment | None = None


@dataclasses.dataclass(frozen=True)
class Calendar:
    """What the address of a calendar shows: the leases, as of a moment."""

    subscription: Subscription
    leases: tuple[CalendarLease, ...]
    at: Moment
