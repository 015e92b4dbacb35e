# SPDX-License-Identifier: Apache-2.0
"""Notifications on the bus have the lease objects of REST 1.0, which existing consumers read."""
import re

import acts
from oslo_messaging import transport
import pytest
from support import builders

from climate.domain import records
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
_CONTRACT = {'lease_id', 'user_id', 'project_id', 'trust_id', 'start_date', 'end_date', 'status',
             'reservations', 'events', 'name', 'created_at', 'updated_at', 'degraded'}
_MORE = {'id', 'reason', 'before_end', 'ended_at', 'idle_since', 'reclaim_at'}
_EXACT = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}')
_STAMP = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d')
_INSTANCES = {'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1, 'amount': 3}


class Consumer:
    """A driver of oslo.messaging that keeps the messages."""

    def __init__(self, manager, conf):
        self.conf = conf
        self.messages = []
        self._manager = manager
        self._sender = outbox.Sender(manager.core, 'm1', transport.NotificationTransport(self))

    def send_notification(self, target, ctxt, message, version, retry=None):
        self.messages.append(message)

    def read(self):
        """Return the new messages as [(event type, payload)]."""
        self.messages.clear()
        fan_out.fan_out(self._manager.core, self._manager.clock())
        self._sender.flush(self._manager.clock())
        return [(each['event_type'], each['payload']) for each in self.messages]


@pytest.fixture
def consumer(manager, bus_options):
    return Consumer(manager, bus_options)


def assert_contract(payload):
    assert set(payload) == _CONTRACT | _MORE
    for name in ('start_date', 'end_date', 'before_end', 'ended_at', 'idle_since', 'reclaim_at'):
        assert payload[name] is None or _EXACT.fullmatch(payload[name]), name
    for record in (payload, *payload['reservations'], *payload['events']):
        for name in ('created_at', 'updated_at'):
            assert record[name] is None or _STAMP.fullmatch(record[name]), name
    for event in payload['events']:
        assert set(event) == {'id', 'lease_id', 'event_type', 'time', 'status', 'created_at',
                              'updated_at'}
        assert _EXACT.fullmatch(event['time'])
    for reservation in payload['reservations']:
        assert not {'binding', 'request', 'allocated', 'state'} & set(reservation)


@pytest.mark.parametrize('reservations', [
    [builders.hosts(1)], [builders.hosts(1, 2), builders.hosts(1)], [acts.dummy()],
    [records.ReservationRequest('virtual:instance', _INSTANCES)], []],
    ids=['hosts', 'two reservations', 'dummy', 'instances', 'none'])
def test_each_notification_of_a_lease_has_the_objects_of_rest_1_0(
        manager, api, consumer, reservations):
    manager.enrol(4)
    lease = manager.book(*reservations, end=NOON + hours(3), notify_at=(NOON + hours(1),))
    seen = {}
    for moment in (NOON, NOON + hours(2), NOON + hours(4)):
        manager.run_until(moment)
        seen |= dict(consumer.read())
        last = seen['lease.event.end_lease' if moment > NOON + hours(3)
                    else 'lease.event.start_lease']
        if moment != NOON + hours(2):
            shown = api.get(f'/v1/leases/{lease.id}').json['lease']
            assert {name: last[name] for name in shown} == shown
    for payload in seen.values():
        assert_contract(payload)
        assert payload['lease_id'] == lease.id
    assert {name: payload['status'] for name, payload in seen.items()} == {
        'lease.create': 'PENDING', 'lease.event.start_lease': 'ACTIVE',
        'lease.event.notify': 'ACTIVE', 'lease.event.before_end_lease': 'ACTIVE',
        'lease.event.end_lease': 'TERMINATED'}


def test_updates_deletions_and_problems_have_the_statuses_of_the_contract(manager, consumer):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(9))
    manager.change(lease, end=NOON + hours(5))
    manager.run()
    manager.delete(lease)
    manager.run()
    broken = manager.book(end=NOON + hours(3))
    manager.cloud.fail('nova.add_host', 99, acts.NO)
    manager.run_until(NOON + hours(1))
    seen = {}
    for name, payload in consumer.read():
        assert_contract(payload)
        seen[name, payload['lease_id']] = payload
    assert seen['lease.update', lease.id]['status'] == 'UPDATING'
    assert seen['lease.delete', lease.id]['status'] == 'DELETING'
    problem = seen['lease.error', broken.id]
    assert problem['status'] == 'ERROR'
    assert problem['reason']


def test_a_type_that_is_not_enabled_any_more_has_the_common_fields(manager, consumer):
    manager.book(acts.dummy(), end=NOON + hours(3))
    manager.core.registry.plugins.clear()
    [(_, payload)] = consumer.read()
    assert_contract(payload)
    assert set(payload['reservations'][0]) == {
        'id', 'lease_id', 'resource_id', 'resource_type', 'status', 'missing_resources',
        'resources_changed', 'created_at', 'updated_at'}


def test_the_publisher_is_the_one_that_the_operator_chose(manager, conf, consumer):
    manager.book(acts.dummy(), end=NOON + hours(3))
    consumer.read()
    assert [each['publisher_id'] for each in consumer.messages] == ['climate.lease']
    conf.set_override('publisher_id', 'blazar.lease', group='notifications')
    other = Consumer(manager, conf)
    manager.book(acts.dummy(), end=NOON + hours(3))
    other.read()
    assert [each['publisher_id'] for each in other.messages] == ['blazar.lease']
