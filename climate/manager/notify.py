# SPDX-License-Identifier: Apache-2.0
"""News of leases: written to the outbox with the change, sent to the bus after it."""
import datetime

from oslo_log import log
import oslo_messaging as messaging

from climate.db import journal
from climate.manager import core
from climate.rpc import wire

LOG = log.getLogger(__name__)

_BATCH = 100
_CLAIM = datetime.timedelta(seconds=60)


def publish(connection, lease, now, what):
    """Put the news `what` (such as "create" or "event.start_lease") of a lease in the outbox."""
    payload = {name: value for name, value in wire.pack(lease).items()
               if name not in ('task', 'task_until', 'claim_no', 'generation')}
    payload |= {'lease_id': lease.id, 'start_date': payload['start'],
                'end_date': payload['end'], 'status': lease.state}
    journal.publish(connection, now, f'lease.{what}', payload)


class Sender:
    """Takes news from the outbox to the bus, each at least once."""

    def __init__(self, parts: core.Core, owner, transport):
        self._core = parts
        self._owner = owner
        # Once: what does not go out stays in the outbox and is sent again.
        self._notifier = messaging.Notifier(transport, f'climate.{owner}', retry=1)

    def flush(self, now):
        """Send what waits; returns how many."""
        count = 0
        while True:
            with self._core.database.reader() as connection:
                if not journal.has_unsent(connection):
                    return count
            with self._core.database.writer() as connection:
                waiting = journal.unsent(connection, self._owner, now, now + _CLAIM, _BATCH)
            if not waiting:
                return count
            for _, event_type, payload in waiting:
                self._notifier.info({}, event_type, payload)
            with self._core.database.writer() as connection:
                journal.sent(connection, [number for number, _, _ in waiting])
            count += len(waiting)
