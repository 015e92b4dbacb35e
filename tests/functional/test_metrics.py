# SPDX-License-Identifier: Apache-2.0
"""The metrics that Prometheus reads from a manager."""
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import prometheus_client
import pytest
from support import builders

from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch


def test_metrics_count_leases_by_state_and_running_events(manager):
    manager.enrol(2)
    manager.create(builders.a_lease())
    manager.create(builders.a_lease(start=builders.NOON + builders.hours(2),
                                    end=builders.NOON + builders.hours(3)))
    manager.run()
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager')))
    text = prometheus_client.generate_latest(registry).decode()
    assert 'climate_leases{state="ACTIVE"} 1.0' in text
    assert 'climate_leases{state="PENDING"} 1.0' in text
    assert 'climate_events_running 0.0' in text
    assert 'climate_clock_ahead_seconds 0.0' in text


@pytest.fixture
def certificate(tmp_path):
    """Paths of a certificate for localhost, which has signed itself, and of its key."""
    found = tmp_path / 'cert.pem', tmp_path / 'key.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
                    '-addext', 'subjectAltName=DNS:localhost',
                    '-out', found[0], '-keyout', found[1]], check=True, capture_output=True)
    return found


@pytest.fixture
def served(manager):
    """Serve metrics on a free port with these options; returns the address."""
    servers = []

    def serve(**options):
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        for name, value in {'metrics_port': port, **options}.items():
            manager.core.conf.set_override(name, str(value), group='manager')
        metrics.check(manager.core.conf)
        servers.append(metrics.serve(
            manager.core, manager.event_loop,
            schedule.AuditSchedule(manager.core, 'this manager'),
            clock_watch.ClockWatch(manager.core, 'this manager')))
        return f'https://localhost:{port}/metrics'
    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def read(address, trusted, shown=None):
    context = ssl.create_default_context(cafile=trusted)
    if shown:
        context.load_cert_chain(*shown)
    with urllib.request.urlopen(address, context=context, timeout=30) as answer:
        return answer.read().decode()


def test_metrics_are_served_over_tls(served, certificate):
    address = served(metrics_cert_file=certificate[0], metrics_key_file=certificate[1])
    assert 'climate_events_running 0.0' in read(address, certificate[0])
    with pytest.raises(urllib.error.URLError, match='CERTIFICATE_VERIFY_FAILED'):
        read(address, None)


def test_metrics_may_be_for_those_with_a_certificate_only(served, certificate):
    address = served(metrics_cert_file=certificate[0], metrics_key_file=certificate[1],
                     metrics_client_ca_file=certificate[0])
    assert 'climate_events_running' in read(address, certificate[0], shown=certificate)
    with pytest.raises(OSError):
        read(address, certificate[0])


@pytest.mark.parametrize('options', [
    {'metrics_cert_file': 'cert.pem'}, {'metrics_key_file': 'key.pem'},
    {'metrics_client_ca_file': 'ca.pem'},
    {'metrics_cert_file': 'nowhere.pem', 'metrics_key_file': 'nowhere.pem'}], ids=str)
def test_metrics_are_not_served_in_the_clear_by_mistake(conf, options):
    for name, value in options.items():
        conf.set_override(name, value, group='manager')
    with pytest.raises(metrics.Unusable, match='metrics_cert_file'):
        metrics.check(conf)


@pytest.mark.parametrize('host', ['127.0.0.1', '192.0.2.1', 'nowhere.invalid'])
def test_an_address_on_which_the_manager_cannot_listen_is_refused(conf, manager, host):
    conf.set_override('metrics_host', host, group='manager')
    metrics.check_address(conf)  # The default port 0 means no metrics.
    with socket.create_server(('127.0.0.1', 0)) as other:
        conf.set_override('metrics_port', other.getsockname()[1], group='manager')
        for refused in (lambda: metrics.check_address(conf),
                        lambda: metrics.serve(manager.core, None, None, None)):
            with pytest.raises(metrics.Unusable, match=rf'metrics_port: .* listen on {host}:'):
                refused()


def test_a_free_address_is_accepted(conf):
    for host in ('127.0.0.1', '::1', 'localhost'):
        with socket.create_server(('127.0.0.1', 0)) as other:
            port = other.getsockname()[1]
        conf.set_override('metrics_host', host, group='manager')
        conf.set_override('metrics_port', port, group='manager')
        metrics.check_address(conf)
