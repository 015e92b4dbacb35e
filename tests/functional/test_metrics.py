# SPDX-License-Identifier: Apache-2.0
"""The metrics that Prometheus reads from a manager."""
import dataclasses
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import prometheus_client
from prometheus_client import parser
import pytest
from support import builders

from climate import errors
from climate import version
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain.limits import rules
from climate.manager import counters
from climate.manager import metrics
from climate.manager import metrics_server
from climate.manager.audit import schedule
from climate.manager.events import clock_watch
from climate.manager.limits import near


def read_samples(manager):
    """{(name, value of each label by the label's name): value} of a manager's metrics."""
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager')))
    text = prometheus_client.generate_latest(registry).decode()
    return {(sample.name.removeprefix('climate_'),
             *(value for _, value in sorted(sample.labels.items()))): sample.value
            for family in parser.text_string_to_metric_families(text) for sample in family.samples}


def test_series_with_known_labels_exist_at_zero_from_the_start(manager):
    found = read_samples(manager)
    for kind in event_kinds.KINDS:
        for result in counters.RESULTS:
            assert found['events_total', kind, result] == 0
    for service in ('Nova', 'Placement', 'Neutron', 'Cinder', 'Heat', 'Magnum', 'Glance',
                    'Keystone'):
        for result in ('answered', 'refused', 'unreachable', 'trust_dead'):
            assert ('cloud_calls_total', result, service) in found
    for state in lifecycle.STATES:
        assert found['leases', state] == 0
    for pool in manager.core.registry.pools:
        for state in ('sick', 'quarantined', 'out_of_order'):
            assert found['resources_sick', pool, state] == 0
    for kind in ('start_lease', 'end_lease', 'delete_lease'):
        assert found['event_overdue_seconds', kind] == 0
    for kind in ('start_lease', 'end_lease'):
        assert found['event_lateness_seconds_count', kind] == 0
    for transport in ('mail', 'webhook', 'calendar'):
        assert found['subscriptions', 'true', transport] == 0
    for name in ('error_leases_holding', 'outbox_waiting', 'outbox_oldest_seconds',
                 'events_running', 'clock_ahead_seconds'):
        assert found[name,] == 0
    assert found['database_up',] == 1


def test_limits_and_their_refusals_are_counted(manager):
    manager.enrol(2)
    found = read_samples(manager)
    assert (found['limits',], found['projects_near_limits',]) == (0, 0)
    assert {str(measure): found['limit_refusals_total', measure] for measure in rules.Measure} == (
        dict.fromkeys(map(str, rules.Measure), 0))
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': [
        {'name': 'open', 'measure': 'open_leases', 'most': 1},
        {'name': 'week', 'measure': 'lease_length', 'most': '7d'}]})
    manager.book()
    for _ in range(2):
        with pytest.raises(errors.LimitExceeded):
            manager.book()
    near.report_near(manager.core, manager.clock())
    found = read_samples(manager)
    assert (found['limits',], found['projects_near_limits',]) == (2, 1)
    assert found['limit_refusals_total', 'open_leases'] == 2
    assert found['limit_refusals_total', 'lease_length'] == 0


def test_metrics_count_results_and_lateness_of_events(manager):
    manager.enrol(2)
    manager.book()
    manager.book(start=builders.at(2), end=builders.at(3))
    before = read_samples(manager)
    manager.run()
    manager.clock.now = builders.at(2) + builders.minutes(4)
    found = read_samples(manager)
    assert found['event_overdue_seconds', 'start_lease'] == 240
    assert found['event_overdue_seconds', 'end_lease'] == 64 * 60
    # Nova does not answer to the end, which goes first, and refuses the start.
    manager.cloud.fail('nova.add_host', 1, errors.CloudUnreachable(service='Nova', reason='busy'))
    manager.run()
    manager.cloud.fail('nova.add_host', 1, errors.CloudError(service='Nova', reason='no'))
    manager.run_until(manager.clock.now + builders.minutes(2))
    found = read_samples(manager)
    assert found['leases', 'ACTIVE'] == 1
    assert found['events_total', 'end_lease', 'done'] == 1
    assert found['events_total', 'start_lease', 'done'] == 2
    assert found['events_total', 'end_lease', 'retried'] == 1
    assert found['events_total', 'start_lease', 'retried'] == 1
    assert found['events_total', 'start_lease', 'given_up'] == 0
    assert found['event_overdue_seconds', 'start_lease'] == 0
    # The clock stands while events are carried out. Each was tried twice, two seconds apart.
    assert found['event_lateness_seconds_bucket', 'start_lease', '0.5'] == 1
    assert found['event_lateness_seconds_bucket', 'start_lease', '300.0'] == 2
    assert found['event_lateness_seconds_sum', 'end_lease'] == 64 * 60 + 2

    def more(result):
        key = 'cloud_calls_total', result, 'Nova'
        return found[key] - before[key]
    assert (more('unreachable'), more('refused'), more('trust_dead')) == (1, 1, 0)
    assert more('answered') > 5


def test_a_lease_in_error_that_keeps_its_host_is_counted_until_it_is_healed(manager):
    manager.enrol(1)
    lease = manager.book(end=builders.at(1))
    manager.run()
    manager.cloud.fail('nova.remove_host', 6, errors.CloudError(service='Nova', reason='no'))
    manager.run_until(builders.at(1) + builders.minutes(2))
    found = read_samples(manager)
    assert manager.lease(lease).state == lifecycle.ERROR
    assert found['error_leases_holding',] == found['leases', 'ERROR'] == 1
    assert found['events_total', 'end_lease', 'given_up'] == 1
    manager.expect(lease, lifecycle.TERMINATED, manager.clock.now + builders.hours(1))
    assert read_samples(manager)['error_leases_holding',] == 0


class Down:
    """A database that does not answer."""

    @staticmethod
    def reader():
        raise errors.DatabaseUnreachable(retry_after=5)


def test_metrics_that_need_no_database_are_served_without_it(manager):
    manager.core = dataclasses.replace(manager.core, database=Down())
    found = read_samples(manager)
    assert found['database_up',] == 0
    assert found['events_total', 'start_lease', 'done'] == 0
    assert ('leases', 'ACTIVE') not in found


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
        metrics_server.check(manager.core.conf)
        servers.append(metrics_server.serve(
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
    text = read(address, certificate[0])
    assert 'climate_events_running 0.0' in text
    assert f'climate_build_info{{version="{version.text()}"}} 1.0' in text
    assert 'process_start_time_seconds' in text
    with pytest.raises(urllib.error.URLError, match='CERTIFICATE_VERIFY_FAILED'):
        read(address, None)


def test_metrics_can_require_a_client_certificate(served, certificate):
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
    for name, value in {'metrics_port': 9, **options}.items():
        conf.set_override(name, value, group='manager')
    with pytest.raises(errors.ConfigurationError, match='metrics_cert_file'):
        metrics_server.check(conf)


@pytest.mark.parametrize('host', ['127.0.0.1', '192.0.2.1', 'nowhere.invalid'])
def test_an_address_on_which_the_manager_cannot_listen_is_refused(conf, manager, host):
    conf.set_override('metrics_host', host, group='manager')
    metrics_server.check_address(conf)  # The default port 0 means no metrics.
    with socket.create_server(('127.0.0.1', 0)) as other:
        conf.set_override('metrics_port', other.getsockname()[1], group='manager')
        for refused in (lambda: metrics_server.check_address(conf),
                        lambda: metrics_server.serve(manager.core, None, None, None)):
            with pytest.raises(errors.ConfigurationError,
                               match=rf'metrics_port: .* listen on {host}:'):
                refused()


def test_a_free_address_is_accepted(conf):
    for host in ('127.0.0.1', '::1', 'localhost'):
        with socket.create_server(('127.0.0.1', 0)) as other:
            port = other.getsockname()[1]
        conf.set_override('metrics_host', host, group='manager')
        conf.set_override('metrics_port', port, group='manager')
        metrics_server.check_address(conf)
