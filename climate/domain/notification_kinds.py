# SPDX-License-Identifier: Apache-2.0
"""The table of the kinds of notifications to which users can subscribe.

Each row has the headline of a kind, and the event types of the outbox that belong to the kind.
"""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate import moments
from climate.domain import lifecycle

START = 'start'
END = 'end'
ERROR = 'error'
WAITING = 'waiting'
IDLE = 'idle'
EXTENSION = 'extension'
LIMITS = 'limits'
MOVED = 'moved'
SICK = 'sick'
MAINTENANCE = 'maintenance'
SHARING = 'sharing'
SERIES = 'series'
CHANGE = 'change'
NOTIFY = 'notify'
BEFORE_END = 'before_end'
TEST = 'test'
SWITCHED_OFF = 'switched_off'


@dataclasses.dataclass(frozen=True)
class EventRule:
    """The conditions under which an event type of the outbox belongs to a kind.

    :ivar headline: the headline for this event type; None: the headline of the kind.
    :ivar states: the states of the lease in which the event type belongs to the kind; None: all.
    :ivar ends: whether it belongs to the kind only if the lease had not ended before.
    """

    headline: str | None = None
    states: frozenset[str] | None = None
    ends: bool = False


@dataclasses.dataclass(frozen=True)
class NotificationKind:
    """The properties of all notifications of one kind.

    :ivar does: when a notification is sent, as a sentence for the documentation.
    :ivar headline: the first line of the text. {name} is the name of the lease, {count} the number
        of leases in a summary.
    :ivar event_types: {event type of the outbox: EventRule}.
    :ivar chosen: whether subscriptions may name the kind in ``events``.
    :ivar usual: whether a new subscription has the kind if it names no kinds.
    """

    name: str
    does: str
    headline: str
    event_types: Mapping[str, EventRule] = dataclasses.field(default_factory=dict)
    chosen: bool = True
    usual: bool = False


# A new kind, or a new event type of a kind, is one row.
KINDS = {kind.name: kind for kind in (
    NotificationKind(
        START, 'A lease has started.', 'Lease {name} has started',
        {'lease.event.start_lease': EventRule()}, usual=True),
    NotificationKind(
        END, 'A lease has ended, or was deleted before its end. Its resources are released.',
        'Lease {name} has ended',
        {'lease.event.end_lease': EventRule(),
         'lease.delete': EventRule('Lease {name} was deleted', ends=True)}, usual=True),
    NotificationKind(
        ERROR, 'A lease failed permanently, or a part of it did.', 'Lease {name} has a problem',
        {'lease.error': EventRule()}, usual=True),
    NotificationKind(
        WAITING, 'A lease begins to wait for resources, has got them, or did not get them in time.',
        'Lease {name}: news of its wait for resources',
        {'lease.create': EventRule('Lease {name} waits for resources',
                                   frozenset({lifecycle.ACQUIRING})),
         'lease.acquired': EventRule('Lease {name} has got its resources'),
         'lease.timedout': EventRule('Lease {name} did not get its resources in time')},
        usual=True),
    NotificationKind(
        IDLE, 'A lease is hardly used, is used again, or was reclaimed because it was idle; and '
        'the weekly summary of idle leases.', 'Lease {name} is hardly used',
        {'lease.idle': EventRule(), 'lease.idle_over': EventRule('Lease {name} is used again'),
         'lease.reclaim': EventRule('Lease {name} was ended or made smaller because it was idle'),
         'project.idle_summary': EventRule('Leases that are hardly used: {count}')}, usual=True),
    NotificationKind(
        EXTENSION, 'A lease can be extended from now on, because the last part in which rules '
        'allow it has begun; or a lease that was extended in steps ends one step later.',
        'Lease {name} can be extended from now on',
        {'lease.extension_open': EventRule(),
         'lease.last_step': EventRule('Lease {name} makes its last step')}, usual=True),
    NotificationKind(
        LIMITS, 'The project has used most of a limit, or a request was refused because the '
        'project has reached it.', 'Your project has reached a limit',
        {'project.limit': EventRule(),
         'project.limit_near': EventRule('Your project has used most of a limit')}, usual=True),
    NotificationKind(
        MOVED, 'A future lease got other resources, because of their health or of maintenance.',
        'Lease {name} was moved to other resources', {'lease.moved': EventRule()}, usual=True),
    NotificationKind(
        SICK, 'Resources of a lease do not work: it runs, or it starts soon and nothing else '
        'fits.', 'Lease {name}: some of its resources do not work',
        {'lease.resource_sick': EventRule(), 'lease.degraded': EventRule()}, usual=True),
    NotificationKind(
        MAINTENANCE, 'Resources of a lease have maintenance: it runs on them, or no other '
        'resources fit.', 'Lease {name}: some of its resources have maintenance',
        {'lease.maintenance': EventRule()}, usual=True),
    NotificationKind(
        SHARING, 'A lease was shared with another project or user, or a share was withdrawn, has '
        'ended or was left; or a lease was offered to another project, and the offer was accepted, '
        'declined or withdrawn. Both projects are notified. Or the project got a sub-lease.',
        'Lease {name} is shared',
        {'lease.shared': EventRule(),
         'lease.sub_leased': EventRule('Your project got the sub-lease {name}'),
         'lease.share_withdrawn': EventRule('A share of lease {name} has ended'),
         'lease.share_left': EventRule('Others have left lease {name}'),
         'lease.transfer_offered': EventRule('Lease {name} is offered to another project'),
         'lease.transferred': EventRule('Lease {name} belongs to another project'),
         'lease.transfer_declined': EventRule('The offer of lease {name} was declined'),
         'lease.transfer_withdrawn': EventRule('The offer of lease {name} was withdrawn')},
        usual=True),
    NotificationKind(
        SERIES, 'An occurrence of a series could not be booked, or not be changed.',
        'An occurrence of the series {name} is not booked',
        {'series.occurrence_failed': EventRule()}, usual=True),
    NotificationKind(
        CHANGE, 'A lease was created, changed or deleted.', 'Lease {name} was changed',
        {'lease.create': EventRule('Lease {name} was created'), 'lease.update': EventRule(),
         'lease.delete': EventRule('Lease {name} was deleted')}),
    NotificationKind(
        NOTIFY, 'A time that the lease sets is reached: its before_end, or an event notify.',
        'A notification time of lease {name} is reached',
        {'lease.event.notify': EventRule(), 'lease.event.before_end_lease': EventRule()}),
    NotificationKind(
        BEFORE_END, 'A lease ends soon: within before_end of the subscription.',
        'Lease {name} ends soon', chosen=False),
    NotificationKind(
        TEST, 'A user tests the subscription.',
        'Test of a notification of Climate', chosen=False),
    NotificationKind(
        SWITCHED_OFF, 'Another subscription of the same user was switched off.',
        'A subscription was switched off', chosen=False),
)}

#: The kinds that a subscription may name in ``events``.
CHOSEN = tuple(name for name, kind in KINDS.items() if kind.chosen)
#: The kinds of a new subscription that names no kinds.
USUAL = tuple(name for name, kind in KINDS.items() if kind.usual)


def of(event_type: str, payload: Mapping[str, Any], at: datetime.datetime) -> tuple[str, ...]:
    """Return the names of the kinds to which a row of the outbox belongs, in the order of KINDS.

    :param payload: the payload of the row; its ``status`` is the state of the lease.
    :param at: the moment of the row.
    """
    return tuple(name for name, kind in KINDS.items() if event_type in kind.event_types
                 and _counts(kind.event_types[event_type], payload, at))


def headline(name: str, content: Mapping[str, Any]) -> str:
    """Return the headline of a notification.

    :param name: the name of the kind.
    :param content: the content, with ``event_type``, and with ``lease`` or ``details``.
    """
    kind = KINDS[name]
    rule = kind.event_types.get(content.get('event_type') or '', EventRule())
    lease, details = content.get('lease') or {}, content.get('details') or {}
    return (rule.headline or kind.headline).format(
        name=lease.get('name') or details.get('lease_name', ''),
        count=len(details.get('leases', ())))


def _counts(rule: EventRule, payload: Mapping[str, Any], at: datetime.datetime) -> bool:
    ended = payload.get('ended_at')
    if rule.ends and ended is not None and moments.in_utc(
            datetime.datetime.fromisoformat(ended)) < at:
        return False
    return rule.states is None or payload.get('status') in rule.states


def as_csv() -> str:
    """Return the table as CSV, for the documentation."""
    rows = [('Kind', 'When it is sent', 'Event types on the bus')]
    rows += [(f'``{kind.name}``', kind.does,
              ', '.join(f'``{event_type}``' for event_type in kind.event_types) or 'none')
             for kind in KINDS.values()]
    return '\n'.join(','.join(f'"{cell}"' for cell in row) for row in rows) + '\n'
