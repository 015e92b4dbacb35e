# SPDX-License-Identifier: Apache-2.0
"""One place knows the health of each resource: from Nova, Placement, operators and plugins."""
import http.server
import json
import threading

import acts
import pytest
from support import builders

from climate import errors
from climate.db import blocks
from climate.domain import health
from climate.domain import interval
from climate.domain import lifecycle
from climate.manager.health import checks
from climate.plugins.health import sources

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
ADMIN = builders.an_admin()


@pytest.fixture
def look(manager):
    """callable(minutes): check the health each half minute for this time."""
    found = checks.HealthChecks(manager.core, 'this manager')

    def looked(count=0):
        found.check(manager.clock())
        for _ in range(int(count * 2)):
            found.check(manager.clock.advance(builders.seconds(30)))
    return looked


def _health(manager, host):
    return manager.client.get_resource(ADMIN, 'host', host.id).verdict


def _out_of_order(manager, host, reason='a fan is broken'):
    return manager.client.set_out_of_order(ADMIN, 'host', host.id, reason)


def _free_now(manager):
    [first, *_] = manager.client.pool_calendar(ADMIN, 'host', None, None, 10)
    return first.free


@pytest.mark.parametrize(('spoil', 'words'), [
    ({'up': False}, 'its service is down'),
    ({'enabled': False, 'reason': 'a disk'}, 'its service is disabled in Nova: a disk')])
def test_a_lasting_report_of_nova_changes_the_health_and_back(manager, look, spoil, words):
    first, second = manager.enrol(2)
    manager.cloud.mark_host(first.name, **spoil)
    look(1.5)
    assert _health(manager, first).state == health.WELL
    look(1)
    found = _health(manager, first)
    assert (found.state, found.reason, found.source) == (health.SICK, words, 'pool:host')
    assert _health(manager, second).state == health.WELL
    assert _free_now(manager) == 1
    manager.cloud.mark_host(first.name, up=True, enabled=True)
    look(4)
    assert _health(manager, first).state == health.SICK
    look(2)
    assert _health(manager, first).state == health.WELL
    assert _free_now(manager) == 2


def test_a_failure_of_a_minute_changes_nothing(manager, look):
    [host] = manager.enrol(1)
    for _ in range(5):
        manager.cloud.mark_host(host.name, up=False)
        look(1)
        manager.cloud.mark_host(host.name, up=True)
        look(1)
    assert _health(manager, host).state == health.WELL
    assert _health(manager, host).since is None


def test_a_cloud_that_does_not_answer_changes_no_health(manager, look):
    [host] = manager.enrol(1)
    manager.cloud.fail('nova.services', 100, acts.NO)
    look(10)
    assert _health(manager, host).state == health.WELL


def test_new_leases_avoid_a_sick_host_for_the_hours_that_are_configured(manager, look):
    first, second = manager.enrol(2)
    manager.cloud.mark_host(first.name, up=False)
    look(3)
    near = manager.book(builders.hosts(1), start=NOON + hours(2), end=NOON + hours(4))
    assert near.reservations[0].resource_ids == (second.id,)
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(2), start=NOON + hours(5), end=NOON + hours(6))
    far = manager.book(builders.hosts(2), start=NOON + hours(40), end=NOON + hours(44))
    assert set(far.reservations[0].resource_ids) == {first.id, second.id}


def test_a_block_moves_on_with_time_and_leaves_leases_alone(manager, look):
    [host] = manager.enrol(1)
    lease = manager.book(builders.hosts(1), start=NOON + hours(10), end=NOON + hours(12))
    _out_of_order(manager, host)
    look()
    manager.clock.advance(hours(8))
    look()
    span = interval.Interval(manager.clock(), manager.clock() + hours(24))
    with manager.database.reader() as connection:
        assert not blocks.incomplete(connection, {(health.block_of(host.id), host.id): span})
    assert manager.lease(lease).reservations[0].resource_ids == (host.id,)


def test_an_operator_takes_a_host_out_of_order_and_puts_it_back(manager):
    [host] = manager.enrol(1)
    found = _out_of_order(manager, host)
    assert (found.verdict.state, found.verdict.reason, found.verdict.since) == (
        health.OUT_OF_ORDER, 'a fan is broken', NOON)
    with pytest.raises(errors.NotEnough):
        manager.book(builders.hosts(1))
    assert _out_of_order(manager, host, '').verdict.state == health.WELL
    assert manager.book(builders.hosts(1)).state == lifecycle.PENDING


def test_a_lease_does_not_start_on_a_host_that_is_out_of_order(manager):
    first, second = manager.enrol(2)
    lease = manager.book(builders.hosts(1), start=NOON + hours(1), end=NOON + hours(9))
    _out_of_order(manager, first)
    manager.run_until(NOON + hours(1))
    assert manager.lease(lease).reservations[0].resource_ids == (second.id,)


def test_a_lease_starts_on_a_sick_host_that_seems_to_work_only_if_no_other_is_free(manager, look):
    [host] = manager.enrol(1)
    lease = manager.book(builders.hosts(1), start=NOON + minutes(10), end=NOON + hours(9))
    manager.cloud.mark_host(host.name, up=False)
    look(9)
    manager.cloud.mark_host(host.name, up=True)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(11))
    assert lease.degraded
    assert lease.reservations[0].missing_resources


def test_a_running_lease_keeps_its_sick_host_when_it_is_prolonged(manager, look):
    [host] = manager.enrol(1)
    lease = manager.book(builders.hosts(1), end=NOON + hours(2))
    manager.run()
    _out_of_order(manager, host)
    look()
    changed = manager.change(lease, end=NOON + hours(5))
    assert changed.end == NOON + hours(5)
    look()
    assert manager.lease(lease).reservations[0].resource_ids == (host.id,)


@pytest.mark.parametrize(('leave', 'freed'), [('end', 1), ('delete', 1), ('shrink', 0)])
def test_a_sick_host_that_a_lease_leaves_early_goes_to_no_other_lease(manager, leave, freed):
    first, second = manager.enrol(2)
    lease = manager.active(builders.hosts(1, 2), end=NOON + hours(10))
    _out_of_order(manager, first)
    manager.clock.advance(minutes(1))
    if leave == 'shrink':
        manager.change_reservation(lease, max=1)
    elif leave == 'end':
        manager.change(lease, end_now=True)
    else:
        manager.delete(lease)
    manager.run()
    # Before the next health check.
    got = []
    for _ in range(2):
        try:
            made = manager.book(end=NOON + hours(2))
            got += made.reservations[0].resource_ids
        except errors.NotEnough:
            break
    assert got == [second.id][:freed]
    later = manager.book(builders.hosts(2), start=NOON + hours(50), end=NOON + hours(51))
    assert later.reservations[0].resource_ids == (first.id, second.id)


def test_a_lease_that_shrinks_gives_up_its_sick_host_and_does_not_get_it_back(manager):
    first, second, third = manager.enrol(3)
    lease = manager.active(builders.hosts(1, 2), end=NOON + hours(10))
    _out_of_order(manager, first)
    manager.clock.advance(minutes(1))
    for most, expected in ((1, (second.id,)), (2, (second.id, third.id))):
        manager.change_reservation(lease, max=most)
        manager.run()
        assert manager.lease(lease).reservations[0].resource_ids == expected


def test_a_withdrawn_host_leaves_no_block(manager):
    [host] = manager.enrol(1)
    _out_of_order(manager, host)
    manager.client.delete_resource(ADMIN, 'host', host.id)
    [again] = manager.enrol(1)
    assert _health(manager, again).state == health.WELL
    assert _free_now(manager) == 1


class _Monitor(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.said
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def monitor(conf):
    """A monitoring system; `said` is what it answers."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Monitor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    conf.set_override('sources', ['http'], group='health')
    conf.set_override('http_url', f'http://127.0.0.1:{server.server_port}/', group='health')
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.proof
def test_a_monitoring_system_reports_sick_hosts(conf, monitor, manager, look):
    first, second = manager.enrol(2)
    monitor.said = json.dumps({first.name: 'disk 3 has errors', second.name: 'healthy'}).encode()
    look(3)
    found = _health(manager, first)
    assert (found.state, found.reason, found.source) == (
        health.SICK, 'disk 3 has errors', 'http')
    assert _health(manager, second).state == health.WELL
    # What it does not say any more, because it fails, stays.
    monitor.said = b'[1, 2]'
    look(10)
    assert _health(manager, first).state == health.SICK
    monitor.said = b'{}'
    look(6)
    assert _health(manager, first).state == health.WELL


def test_a_source_that_is_not_installed_is_refused(conf):
    conf.set_override('sources', ['http', 'nagios'], group='health')
    with pytest.raises(errors.ConfigurationError, match='"nagios" is not installed'):
        sources.load(conf)
    conf.set_override('sources', ['http'], group='health')
    with pytest.raises(errors.ConfigurationError, match='http_url'):
        sources.load(conf)


def test_a_notification_of_nova_triggers_a_health_check(manager):
    [host] = manager.enrol(1)
    found = checks.HealthChecks(manager.core, 'this manager')
    listener = checks.ServiceListener(found, manager.clock)
    manager.cloud.mark_host(host.name, enabled=False)
    said = {'nova_object.data': {'binary': 'nova-compute', 'host': host.name}}
    for _ in range(6):
        listener.info({}, 'nova', 'service.update', said, {})
        manager.clock.advance(builders.seconds(25))
    assert _health(manager, host).state == health.SICK
