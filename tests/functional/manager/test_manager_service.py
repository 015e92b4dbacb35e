# SPDX-License-Identifier: Apache-2.0
"""A whole manager with its threads and the real clock, on the backend that the tests run with."""
import datetime
import time

import builders
from oslo_messaging import conffixture
import pytest

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import endpoint
from climate.manager import service
from climate.rpc import client


@pytest.fixture
def running(conf, database):
    """A manager that works by itself."""
    for name, value in (('poll_seconds', 0.05), ('busy_seconds', 0.05), ('refresh_seconds', 1)):
        conf.set_override(name, value, group='manager')
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    conf.register_opts([], group='oslo_messaging_notifications')
    found = service.Manager(conf, serve_rpc=False)
    found.start()
    yield found
    found.stop()


def _until(truth):
    end = time.monotonic() + 20
    while not truth():
        assert time.monotonic() < end, 'It never came true.'
        time.sleep(0.02)


def test_leases_start_and_end_by_themselves_at_the_same_time(running):
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    for name in ('compute-1', 'compute-2', 'compute-3'):
        calls.create_resource(builders.an_admin(), 'host', name, {})
    now = running.core.clock()
    made = [calls.create_lease(
        builders.a_member(), f'lease-{place}', records.LeaseRequest(
            name='a lease', start=None, end=now + datetime.timedelta(seconds=2), lenient=False,
            reservations=(builders.hosts(1),))) for place in range(3)]

    def states():
        return {calls.get_lease(builders.a_member(), each.id).state for each in made}
    _until(lambda: states() == {lifecycle.ACTIVE})
    assert len(running.core.cloud.as_service().nova.aggregate('freepool').hosts) == 0
    _until(lambda: states() == {lifecycle.TERMINATED})
    _until(lambda: running.core.cloud.as_service().keystone.trusts() == [])
    assert len(running.core.cloud.as_service().nova.aggregate('freepool').hosts) == 3


def test_a_host_that_changes_in_the_cloud_is_noticed(running):
    calls = client.ManagerClient(endpoint.InProcess(running.endpoint))
    host = calls.create_resource(builders.an_admin(), 'host', 'compute-1', {})
    running.core.cloud.change_host('compute-1', vcpus=7)
    _until(lambda: calls.get_resource(builders.an_admin(), 'host',
                                      host.id).capacity['vcpus'] == 7)


def test_a_manager_answers_over_the_bus(conf, database):
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        manager = service.Manager(conf)
        manager.start()
        try:
            calls = client.ManagerClient(client.Bus(conf))
            assert calls.ping(builders.an_admin(), timeout=10) == {'database': 'ok'}
            with pytest.raises(errors.LeaseNotFound):
                calls.get_lease(builders.a_member(), 'nope')
        finally:
            manager.stop()
