# SPDX-License-Identifier: Apache-2.0
"""A whole manager with its threads and the real clock, on the backend that the tests run with."""
import datetime
import logging
import socket
import threading

import daemons
import oslo_messaging as messaging
from oslo_messaging import conffixture
import pytest
from support import builders
from support import waiting

from climate import errors
from climate.cloud import call_guard
from climate.db import managers
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import endpoint
from climate.manager import ownership
from climate.manager import service
from climate.rpc import bus
from climate.rpc import client


@pytest.fixture
def running(conf, database):
    """A manager that works by itself."""
    with daemons.running(conf, database, busy_seconds=0.05, refresh_seconds=1) as found:
        yield found


def test_leases_start_and_end_by_themselves_at_the_same_time(running):
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    for name in ('compute-1', 'compute-2', 'compute-3'):
        calls.create_resource(builders.an_admin(), 'host', name, {})
    made = [calls.create_lease(
        builders.a_member(), f'lease-{place}', records.LeaseRequest(
            name='a lease', start=None, duration_seconds=3600, end=None,
            reservations=(builders.hosts(1),))) for place in range(3)]

    def states():
        return {calls.get_lease(builders.a_member(), each.id).state for each in made}
    waiting.until(lambda: states() == {lifecycle.ACTIVE})
    assert len(running.core.cloud.as_service().nova.aggregate('freepool').hosts) == 0
    for each in made:
        calls.update_lease(builders.a_member(), each.id, records.LeaseChanges(end_now=True))
    waiting.until(lambda: states() == {lifecycle.TERMINATED})
    waiting.until(lambda: running.core.cloud.as_service().keystone.trusts() == [])
    assert len(running.core.cloud.as_service().nova.aggregate('freepool').hosts) == 3


@pytest.mark.proof
def test_a_host_that_changes_in_the_cloud_is_noticed(running):
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    host = calls.create_resource(builders.an_admin(), 'host', 'compute-1', {})
    running.core.cloud.change_host('compute-1', vcpus=7)
    waiting.until(lambda: calls.get_resource(
        builders.an_admin(), 'host', host.id).capacity['vcpus'] == 7)


def test_a_manager_answers_over_the_bus(conf, database, caplog):
    caplog.set_level(logging.INFO)
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        manager = service.Manager(conf)
        manager.start()
        try:
            calls = client.ManagerClient(bus.Bus(conf))
            waiting.until(lambda: ': ready' in caplog.text)
            assert calls.ping(builders.an_admin(), timeout=waiting.SECONDS) == {'database': 'ok'}
            with pytest.raises(errors.LeaseNotFound):
                calls.get_lease(builders.a_member(), 'nope')
        finally:
            manager.stop()


@pytest.mark.proof
def test_a_stop_hands_back_what_is_not_done_in_time(running):
    running.core.cloud.as_service()
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    for name in ('compute-1', 'compute-2'):
        calls.create_resource(builders.an_admin(), 'host', name, {})
    reached = threading.Event()

    def claim_is_over():
        try:
            call_guard.check()
        except ownership.ClaimLost:
            return True
        return False

    def wait(name, when):
        if (name, when) == ('nova.add_host', 'before'):
            reached.set()
            waiting.until(claim_is_over, 'The stop waits for this call.')
    running.core.cloud.faults.on_point = wait
    lease = calls.create_lease(builders.a_member(), 'lease', records.LeaseRequest(
        name='a lease', start=None, end=running.core.clock() + datetime.timedelta(hours=1),
        reservations=(builders.hosts(1), builders.hosts(1))))
    assert reached.wait(waiting.SECONDS)
    running.stop(within_seconds=0.5)
    waiting.until(lambda: not running.event_loop.running)
    event = calls.get_lease(builders.a_member(), lease.id).event('start_lease')
    assert (event.status, event.claim_owner) == (lifecycle.EVENT_UNDONE, None)


def test_full_workers_do_not_make_the_manager_look_again_and_again(conf, database, running):
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    for name in ('compute-1', 'compute-2', 'compute-3'):
        calls.create_resource(builders.an_admin(), 'host', name, {})
    conf.set_override('workers', 1, group='manager')
    conf.set_override('poll_seconds', 30, group='manager')
    reached, go_on = threading.Event(), threading.Event()

    def wait(name, when):
        if (name, when) == ('nova.add_host', 'before'):
            reached.set()
            go_on.wait(waiting.SECONDS)
    running.core.cloud.faults.on_point = wait
    made = [calls.create_lease(builders.a_member(), f'lease-{place}', records.LeaseRequest(
        name='a lease', start=None, end=running.core.clock() + datetime.timedelta(hours=1),
        reservations=(builders.hosts(1),))) for place in range(3)]
    assert reached.wait(waiting.SECONDS)
    now = running.core.clock()
    # Until this moment the manager sleeps, unless a worker becomes free.
    assert running.event_loop.next_moment() > now
    assert running.event_loop.free_slots == 0
    go_on.set()
    waiting.until(lambda: all(
        calls.get_lease(builders.a_member(), each.id).state == lifecycle.ACTIVE for each in made))


_REFUSED = 'the login in [keystone] is refused: 401'


@pytest.mark.proof
def test_a_manager_whose_login_is_refused_is_not_ready_and_fails_no_lease(
        conf, database, caplog):
    caplog.set_level(logging.INFO)
    found = daemons.made(conf, database, login_seconds=0.05)
    refusals = []

    class Refused(errors.CloudError):
        def __init__(self):
            super().__init__(service='Keystone', reason=_REFUSED)
            refusals.append(self)
    found.core.cloud.fail('keystone.log_in', 10 ** 6, Refused)
    found.start()
    try:
        calls = client.ManagerClient(endpoint.InProcess(found.endpoint))
        waiting.until(lambda: 'not ready' in caplog.text)
        with pytest.raises(errors.CloudError, match='refused'):
            calls.ping(builders.an_admin())
        calls.create_resource(builders.an_admin(), 'host', 'compute-1', {})
        calls.create_lease(builders.a_member(), 'lease', records.LeaseRequest(
            name='a lease', start=None, duration_seconds=3600, end=None,
            reservations=(builders.hosts(1),)))
        count = len(refusals)
        waiting.until(lambda: len(refusals) > count + 9)
        assert calls.get_lease(builders.a_member(), 'lease').state == lifecycle.PENDING
        assert ': ready' not in caplog.text
        assert caplog.text.count('not ready, and carries out no event: Keystone: the login') == 1
        found.core.cloud.fail('keystone.log_in', 0, None)
        waiting.until(lambda: ': ready' in caplog.text)
        assert calls.ping(builders.an_admin()) == {'database': 'ok'}
        waiting.until(lambda: calls.get_lease(
            builders.a_member(), 'lease').state == lifecycle.ACTIVE)
    finally:
        found.stop()


def test_managers_of_one_process_on_one_machine_have_different_names(conf, database):
    with daemons.running(conf, database) as one, daemons.running(conf, database) as other:
        with database.reader() as connection:
            listed = {each.id for each in managers.every(connection)}
        assert listed == {one.owner, other.owner}
        assert one.owner != other.owner


@pytest.mark.proof
def test_a_start_that_fails_leaves_nothing_that_listens(conf, database):
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    found = daemons.made(conf, database, metrics_port=port)
    messaging.get_notification_transport(conf, url='fake:/')  # It registers the options.
    conf.set_override('driver', ['messagingv2'], group='oslo_messaging_notifications')
    conf.set_override('transport_url', 'nothing://', group='oslo_messaging_notifications')
    with pytest.raises(errors.ConfigurationError, match='oslo_messaging_notifications'):
        found.start()
    conf.clear_override('transport_url', group='oslo_messaging_notifications')
    found.start()
    try:
        socket.create_connection(('127.0.0.1', port)).close()
    finally:
        found.stop()
    # A stop closes it, too.
    socket.create_server(('127.0.0.1', port)).close()


def test_a_manager_that_is_refused_is_listed_with_the_reason(conf, database):
    found = daemons.made(conf, database, login_seconds=0.05)
    found.core.cloud.fail('keystone.log_in', 10 ** 6, errors.CloudError(
        service='Keystone', reason=_REFUSED))

    def reasons():
        with database.reader() as connection:
            return [each.not_ready for each in managers.every(connection)]
    found.start()
    try:
        waiting.until(lambda: reasons() == [f'Keystone: {_REFUSED}'])
        found.core.cloud.fail('keystone.log_in', 0, None)
        waiting.until(lambda: reasons() == [None])
    finally:
        found.stop()
