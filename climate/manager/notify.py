# SPDX-License-Identifier: Apache-2.0
"""News of leases: written to the outbox with the change, sent to the bus after it."""
import dataclasses
import datetime

from oslo_log import log
import oslo_messaging as messaging
from oslo_messaging import transport as messaging_transport

from climate.db import journal
from climate.domain import agenda
from climate.domain import records
from climate.manager import core
from climate.rpc import wire

LOG = log.getLogger(__name__)

#: The fields of a lease that are told. How it is acquired names hosts, and servers of others.
TOLD = tuple(
    field.name for field in dataclasses.fields(records.Lease)
    if field.name not in ('task', 'task_until', 'claim_no', 'generation', 'acquisition'))
_BATCH = 100
_CLAIM = datetime.timedelta(seconds=60)
_LONGEST_PAUSE_SECONDS = 60


def publish(connection, lease, now, what):
    """Put the news `what` (such as "create" or "event.start_lease") of a lease in the outbox."""
    publish_all(connection, [lease], now, what)


def publish_all(connection, leases, now, what):
    """Put the same news of each of some leases in the outbox."""
    journal.publish(connection, now, f'lease.{what}', [_payload(lease) for lease in leases])


def _payload(lease):
    packed = wire.pack(lease)
    told = {name: packed[name] for name in TOLD}
    return {**told, 'lease_id': lease.id, 'start_date': told['start'], 'end_date': told['end'],
            'status': lease.state}


def tell(connection, leases, now):
    """Carry out a notice of each of some leases: it is nothing but news, and history."""
    if leases:
        journal.note_all(connection, [lease.id for lease in leases], now, 'climate',
                         agenda.NOTIFY)
        publish_all(connection, leases, now, f'event.{agenda.NOTIFY}')


class Sender:
    """Takes news from the outbox to the bus, each at least once.

    While the bus does not take them it is tried again after a pause that doubles.
    """

    def __init__(self, parts: core.Core, owner, transport):
        self._core = parts
        self._owner = owner
        self._carrier = _Carrier(transport)
        # Once: what does not go out stays in the outbox and is sent again.
        self._notifier = messaging.Notifier(self._carrier, f'climate.{owner}', retry=1)
        self._failures = 0
        self._not_before = float('-inf')

    def flush(self, now):
        """Send what waits; returns how many went out."""
        count = 0
        while self._core.monotonic() >= self._not_before:
            with self._core.database.reader() as connection:
                if not journal.has_unsent(connection):
                    break
            with self._core.database.writer() as connection:
                waiting = journal.unsent(connection, self._owner, now, now + _CLAIM, _BATCH)
            if not waiting:
                break
            gone = self._send(waiting)
            with self._core.database.writer() as connection:
                journal.sent(connection, gone)
                journal.leave(connection, self._owner, [
                    number for number, _, _ in waiting[len(gone):]])
            count += len(gone)
            self._pause(len(waiting) - len(gone))
        return count

    def _send(self, waiting):
        """The ids of the news that went out, up to the first one that did not."""
        gone = []
        for number, event_type, payload in waiting:
            self._carrier.left_behind = 0
            self._notifier.info({}, event_type, payload)
            if self._carrier.left_behind:
                break
            gone.append(number)
        return gone

    def _pause(self, left):
        """Wait before the next try where news are left."""
        if not left:
            self._failures = 0
            return
        seconds = min(2 ** self._failures, _LONGEST_PAUSE_SECONDS)
        self._failures += 1
        self._not_before = self._core.monotonic() + seconds
        LOG.warning('The bus takes no notifications; they wait in the outbox, again in %s seconds',
                    seconds)


class _Carrier(messaging_transport.NotificationTransport):
    """The transport of a Notifier that counts what was left behind.

    The drivers of oslo.messaging write an error into the log and tell nobody that a notification
    did not go out.
    """

    def __init__(self, transport):
        super().__init__(transport._driver)
        self.left_behind = 0

    def _send_notification(self, *args, **kwargs):
        self.left_behind += 1
        super()._send_notification(*args, **kwargs)
        self.left_behind -= 1
