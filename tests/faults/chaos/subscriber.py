# SPDX-License-Identifier: Apache-2.0
"""A subscriber by webhook, who compares what arrived with what happened to the leases."""
import collections
import dataclasses
import http.server
import json
import threading

import requests

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import notifications

#: The projects of the clients.
PROJECTS = tuple(f'project-{number}' for number in range(4))
_KINDS = ['start', 'end', 'error', 'change']
# The event of a lease, and the type of its notification.
_TOLD = {event_kinds.START: 'lease.event.start_lease', event_kinds.END: 'lease.event.end_lease'}
# One request in seven is refused.
_REFUSED_EVERY = 7


@dataclasses.dataclass(frozen=True)
class Seen:
    """The notifications that the subscriber missed or got twice.

    :ivar received: the number of notifications.
    :ivar again: how often one arrived that had arrived before.
    :ivar lost: the missing notifications, in words; `doubled`: those that came twice.
    """

    received: int
    again: int
    lost: list
    doubled: list


class Subscriber:
    """An HTTP server on loopback that is notified of all leases of the clients' projects."""

    def __init__(self):
        self._lock = threading.Lock()
        self._bodies = []
        self._count = 0
        subscriber = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                self.send_response(204 if subscriber.take(body) else 503)
                self.end_headers()

            def log_message(self, *_):
                """Print nothing."""

        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f'http://127.0.0.1:{self._server.server_address[1]}/'

    def take(self, body):
        """Take a notification; return False where it is refused, and must come again."""
        with self._lock:
            self._count += 1
            if self._count % _REFUSED_EVERY == 0:
                return False
            self._bodies.append(body)
            return True

    def subscribe(self, url):
        """Subscribe in each project, by the API at `url`."""
        for project in PROJECTS:
            answer = requests.post(f'{url}/v1/subscriptions', timeout=30, json={
                'transport': 'webhook', 'address': self.url, 'scope': 'project',
                'events': _KINDS}, headers={
                    'X-Auth-Token': f'user:{project}:member,reader',
                    'OpenStack-API-Version': 'reservation 1.1'})
            assert answer.status_code == 201, answer.text

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def testify(self, recorded):
        """Return the Seen of a run that has settled, by the rows of the database."""
        with self._lock:
            bodies = list(self._bodies)
        ids = collections.Counter(each['id'] for each in bodies)
        told = collections.defaultdict(set)
        for each in bodies:
            told[each['lease']['id'], each['event_type']].add(each['id'])
        lost, doubled = [], []
        for row in recorded.deliveries:
            wanted = notifications.notification_id(row['subscription_id'], row['source'])
            if row['state'] == notifications.DELIVERED and wanted not in ids:
                lost.append(f'{row["kind"]} {wanted} is delivered, and did not arrive')
            elif row['state'] == notifications.GIVEN_UP and not row['reason']:
                lost.append(f'{row["kind"]} {wanted} was given up without a word')
        for lease_id, what in _happened(recorded):
            count = len(told[lease_id, what])
            if not count:
                lost.append(f'{what} of {lease_id} was not told')
            elif count > 1:
                doubled.append(f'{what} of {lease_id} came as {count} notifications')
        return Seen(len(bodies), ids.total() - len(ids), lost, doubled)


def _happened(recorded):
    """Yield pairs (lease id, event type) of the notifications that must have come once.

    A start that came when the time of the lease was over, or beside its deletion, did nothing.
    """
    leases = {row['id']: row for row in recorded.leases}
    for row in recorded.leases:
        yield row['id'], 'lease.create'
        if row['deleted_at'] is not None:
            yield row['id'], 'lease.delete'
    for event in recorded.events:
        lease = leases[event['lease_id']]
        if (event['kind'] in _TOLD and event['status'] == lifecycle.EVENT_DONE
                and lease['state'] == lifecycle.TERMINATED and lease['deleted_at'] is None
                and (event['kind'] == event_kinds.END or event['updated_at'] < lease['end'])):
            yield lease['id'], _TOLD[event['kind']]
