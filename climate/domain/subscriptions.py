# SPDX-License-Identifier: Apache-2.0
"""The records of subscriptions to notifications, and of calendars of leases."""
import dataclasses
import datetime

Moment = datetime.datetime

#: The leases of a subscription: the leases of its user, or all leases of its project.
SCOPES = OWN, PROJECT = ('own', 'project')
#: The maximum number of reminders of one subscription.
MOST_REMINDERS = 10
#: The shortest and the longest time between a reminder and the end of a lease, in seconds.
SHORTEST_SECONDS, LONGEST_SECONDS = 60, 366 * 86400
#: The transport for calendar programs. They read the leases; Climate sends them nothing.
CALENDAR = 'calendar'
#: The transports to which notifications are sent.
SENT = MAIL, WEBHOOK = ('mail', 'webhook')


@dataclasses.dataclass(frozen=True)
class Subscription:
    """A subscription of a user to notifications, without its secret.

    `address` is a mail address or a URL; None for a calendar. `before_end` has the times of the
    reminders in seconds before the end of a lease, the longest first. `failures` counts consecutive
    failed deliveries. `reason` says why Climate switched the subscription off.
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
class SubscriptionRequest:
    """The request for a new subscription.

    `secret` is the key that signs webhooks, or the SHA-256 of the secret in the URL of a calendar.
    The API creates the secret of a URL and sends only its SHA-256 to the manager.
    """

    scope: str
    transport: str
    address: str | None
    events: tuple[str, ...]
    before_end: tuple[int, ...]
    name: str | None = None
    secret: str | None = None


@dataclasses.dataclass(frozen=True)
class SubscriptionChanges:
    """The changes of a subscription; a field that is None does not change."""

    address: str | None = None
    events: tuple[str, ...] | None = None
    before_end: tuple[int, ...] | None = None
    name: str | None = None
    enabled: bool | None = None
    secret: str | None = None


@dataclasses.dataclass(frozen=True)
class SubscriptionQuery:
    """A query for subscriptions. A filter that is None selects all.

    `user_id` selects the subscriptions of a user and the subscriptions with the scope PROJECT.
    `most_bytes` is the maximum size of a page in bytes.
    """

    project_id: str | None = None
    user_id: str | None = None
    limit: int | None = None
    marker: str | None = None
    most_bytes: int | None = None


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
    series_id: str | None = None


@dataclasses.dataclass(frozen=True)
class LeaseCalendar:
    """The leases that a calendar shows at the moment `at`."""

    subscription: Subscription
    leases: tuple[CalendarLease, ...]
    at: Moment
