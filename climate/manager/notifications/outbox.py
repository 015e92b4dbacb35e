# SPDX-License-Identifier: Apache-2.0
"""Notifications about leases: changes write them to the outbox; `Sender` sends them to the bus."""
import collections
import dataclasses
import datetime

from oslo_log import log
import oslo_messaging as messaging
from oslo_messaging import transport as messaging_transport

from climate import moments
from climate.db import journal
from climate.domain import lease_1_0
from climate.domain import records
from climate.domain import status_words
from climate.manager import core
from climate.rpc import wire

LOG = log.getLogger(__name__)

#: The fields of a lease that a notification contains. `acquisition` is left out because it names
#: hosts and other projects' servers. `reason` is the text for the owner, because consumers of the
#: bus, such as billing, may show it to customers. REST and the log have the text for operators.
FIELDS = tuple(
    field.name for field in dataclasses.fields(records.Lease)
    if field.name not in ('task', 'task_until', 'claim_no', 'generation', 'acquisition',
                          'owner_reason', 'request_bytes', 'shared', 'shares', 'sub_leased',
                          'sub_leases', 'parent'))
_BATCH = 100
_CLAIM = datetime.timedelta(seconds=60)
_LONGEST_PAUSE_SECONDS = 60
# The number of failures in a row after which `_in_order` varies the first notification.
_PROBE_AFTER = 3
# The times of a lease that the payload has in addition to the fields of REST 1.0.
_MOMENTS = ('before_end', 'ended_at', 'idle_since', 'reclaim_at')
# {event type: the status that its consumers expect, whatever the state of the lease}.
_STATUS = {'lease.update': 'UPDATING', 'lease.delete': 'DELETING'}


def publish(connection, lease, now, what):
    """Write a notification about one lease to the outbox.

    :param what: the event type after "lease.", such as "create" or "event.start_lease".
    """
    publish_all(connection, [lease], now, what)


def publish_all(connection, leases, now, what):
    """Write one notification for each lease to the outbox, all with the same event type."""
    journal.publish(connection, now, f'lease.{what}', [_payload(lease) for lease in leases])


def _payload(lease):
    packed = wire.pack(lease)
    fields = {name: packed[name] for name in FIELDS}
    if lease.reason_text is not None:
        fields['reason'] = lease.reason_text.owner
    return {**fields, 'lease_id': lease.id, 'start_date': fields['start'],
            'end_date': fields['end'], 'status': lease.state}


def bus_payload(plugins, event_type, stored):
    """Return the payload for the bus: the lease object of REST 1.0, which consumers know.

    :param plugins: {resource type: plugin}. If a type has no plugin, its reservations get only the
        fields that all types have.
    :param stored: the payload in the outbox.
    """
    if 'lease_id' not in stored:
        return stored
    lease = wire.unpack(records.Lease, stored)
    status = _STATUS.get(event_type) or status_words.word_1_0(lease.state, None)

    def own_fields(reservation):
        plugin = plugins.get(reservation.resource_type)
        return {} if plugin is None else plugin.shown(reservation)

    return {'lease_id': lease.id, **lease_1_0.lease(lease, status, own_fields),
            'reason': lease.reason,
            **{name: moments.exactly(getattr(lease, name)) for name in _MOMENTS}}


def write_notices(connection, notices, now):
    """Carry out events that only write history and notifications.

    :param notices: pairs (Lease, Event).
    """
    by_kind = collections.defaultdict(list)
    for lease, event in notices:
        by_kind[event.kind].append(lease)
    for kind, leases in by_kind.items():
        journal.note_all(connection, [lease.id for lease in leases], now, 'climate', kind)
        publish_all(connection, leases, now, f'event.{kind}')


class Sender:
    """Sends each notification in the outbox to the bus, at least once.

    After a failure, it pauses; the pause doubles with each failure in a row.
    """

    def __init__(self, parts: core.Core, owner, transport):
        self._core = parts
        self._owner = owner
        self._transport = _CountingTransport(transport)
        # One retry is enough, because an unsent notification stays in the outbox.
        self._notifier = messaging.Notifier(self._transport, parts.conf.notifications.publisher_id,
                                            retry=1)
        self._failures = 0
        self._not_before = float('-inf')
        # The numbers of notifications that the bus refuses while it accepts others, for example
        # because they are too large. They are sent last.
        self._refused = set()

    def flush(self, now):
        """Send the notifications that `fan_out` has copied; return the number sent."""
        count = 0
        while self._core.monotonic() >= self._not_before:
            with self._core.database.reader() as connection:
                if not journal.has_unsent(connection):
                    break
            with self._core.database.writer() as connection:
                waiting = journal.unsent(connection, self._owner, now, now + _CLAIM, _BATCH)
            if not waiting:
                break
            sent = self._send(self._in_order(waiting))
            with self._core.database.writer() as connection:
                journal.sent(connection, sent)
                journal.leave(connection, self._owner, sorted(
                    {number for number, _, _ in waiting} - set(sent)))
            count += len(sent)
            if sent:
                self._failures = 0
            self._pause(len(waiting) - len(sent))
        return count

    def _in_order(self, waiting):
        """Return notifications in the order in which to send them.

        After several failures in a row, the bus may be down, or may refuse only the first
        notification. To find out, each attempt puts a different notification first.
        """
        others = [row for row in waiting if row[0] not in self._refused]
        if self._failures >= _PROBE_AFTER and len(others) > 1:
            others.insert(0, others.pop(1 + (self._failures - _PROBE_AFTER) % (len(others) - 1)))
        return others + [row for row in waiting if row[0] in self._refused]

    def _send(self, waiting):
        """Send notifications until one fails; return the numbers of the sent ones."""
        sent = []
        for number, event_type, payload in waiting:
            accepted, self._transport.failed = False, 0
            with core.isolated('Notification %s of the outbox', number):
                self._notifier.info({}, event_type, bus_payload(
                    self._core.registry.plugins, event_type, payload))
                accepted = not self._transport.failed
            if not accepted:
                if sent and self._failures >= _PROBE_AFTER:
                    self._refused.add(number)
                break
            self._refused.discard(number)
            sent.append(number)
        return sent

    def _pause(self, unsent):
        """Begin a pause if notifications are unsent; otherwise, reset its length.

        :param unsent: the number of unsent notifications.
        """
        if not unsent:
            self._failures = 0
            return
        seconds = min(2 ** self._failures, _LONGEST_PAUSE_SECONDS)
        self._failures += 1
        self._not_before = self._core.monotonic() + seconds
        LOG.warning('The bus accepts no notifications; they stay in the outbox and are sent again '
                    'in %s seconds', seconds)


class _CountingTransport(messaging_transport.NotificationTransport):
    """A transport that counts the notifications that it could not send.

    A Notifier does not report such a failure: oslo.messaging only logs the error.
    """

    def __init__(self, transport):
        super().__init__(transport._driver)
        self.failed = 0

    def _send_notification(self, *args, **kwargs):
        self.failed += 1
        super()._send_notification(*args, **kwargs)
        self.failed -= 1
