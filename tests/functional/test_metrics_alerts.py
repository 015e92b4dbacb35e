# SPDX-License-Identifier: Apache-2.0
"""Each alert fires by its cause: with promtool, and with a real Prometheus and real managers."""
import logging
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import uuid

from functional.manager import daemons
import oslo_messaging as messaging
import prometheus_client
import pytest
import sqlalchemy as sa
from support import builders
from support import delivery_rounds
from support import prometheus_server
from support import waiting

from climate import errors
from climate import yaml_text
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import endpoint
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.billing import biller
from climate.manager.events import clock_watch
from climate.rpc import client

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / 'etc/climate/prometheus/climate-alerts.yaml'
PROMTOOL = shutil.which('promtool')
#: The part of prometheus.yml on the page "Monitoring".
PAGE_JOBS = re.compile(r'^   scrape_configs:\n(?:     .*\n)+', re.MULTILINE)
#: The rules with a second for a minute, and for longer times still less.
HASTE = (('for: ', 'for: 0s  # '), ('[1h]', '[8s]'), ('[15m]', '[15s]'), ('[5m]', '[5s]'),
         ('> 3600', '> 2'), ('> 600', '> 2'), ('> 120', '> 2'), ('> 60', '> 2'),
         ('le="60.0"', 'le="1.0"'))
# The amount of an hour of a thousand million copies is larger than a statement can have.
BOOK = {'currency': 'BHD', 'lease_fee': '0', 'rates': [{'rate': '99999999'}]}


def rules():
    [group] = yaml_text.read(RULES.read_text())['groups']
    return group['rules']


def hastened():
    text = RULES.read_text()
    for slow, fast in HASTE:
        assert slow in text, slow
        text = text.replace(slow, fast)
    return text


def test_alerts_read_existing_metrics_and_have_sections_on_the_page(manager):
    registry = metrics.registry_of(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager')))
    served = prometheus_client.generate_latest(registry).decode() + (
        'climate_audit_drift\nup\nprobe_success\n')
    page = (ROOT / 'doc/source/admin/monitoring.rst').read_text()
    caused = pathlib.Path(__file__).read_text()
    tests = RULES.with_name('climate-alerts-test.yaml').read_text()
    for rule in rules():
        name = rule['alert']
        for metric in re.findall(r'climate_\w+|\bup\b|\bprobe_success\b', rule['expr']):
            assert f'\n{metric}' in served or f' {metric} ' in served, (name, metric)
        assert f'\n{name}\n{"-" * len(name)}\n' in page
        assert f'alertname="{name}"' in tests
        assert f"'{name}'" in caused
        assert rule['labels']['severity'] in ('info', 'warning', 'critical')
        assert {'summary', 'description', 'runbook_url'} == set(rule['annotations'])
        assert rule['annotations']['runbook_url'].endswith(f'monitoring.html#{name.lower()}')


@pytest.mark.proof
@pytest.mark.skipif(PROMTOOL is None, reason='promtool is not installed.')
def test_the_tests_of_the_rules_pass():
    done = subprocess.run([PROMTOOL, 'test', 'rules', 'climate-alerts-test.yaml'],
                          cwd=RULES.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Alerts:
    """The alerts of a real Prometheus with the hastened rules."""

    def __init__(self, prometheus):
        self.prometheus = prometheus

    def await_alerts(self, *names):
        """Wait until each of these alerts fires."""
        waiting.until(lambda: set(names) <= self.prometheus.firing(),
                      lambda: f'{names} do not all fire, but {self.prometheus.firing()}.')

    def await_silence(self, *names):
        """Wait until none of these alerts fires."""
        waiting.until(lambda: not set(names) & self.prometheus.firing(),
                      lambda: f'{names} still fire: {self.prometheus.firing()}.')


class Scene(Alerts):
    """A real manager that such a Prometheus reads."""

    def __init__(self, manager, prometheus):
        super().__init__(prometheus)
        self.manager, self.cloud = manager, manager.core.cloud
        self.client = client.ManagerClient(builders.Wire(endpoint.InProcess(manager.endpoint)))

    def lease(self, *reservations, **more):
        now = self.manager.core.clock()
        return self.client.create_lease(builders.a_member(), str(uuid.uuid4()), builders.a_lease(
            *reservations, end=now + builders.hours(2), **more))

    def end(self, lease):
        self.client.update_lease(builders.a_member(), lease.id, records.LeaseChanges(end_now=True))

    def await_state(self, lease, state):
        waiting.until(lambda: self.client.get_lease(
            builders.a_member(), lease.id).state == state, f'Lease {lease.id} is never {state}.')


needs_prometheus = pytest.mark.skipif(prometheus_server.PROGRAM is None,
                                      reason='Prometheus is not installed.')
OPTIONS = {'retry_seconds': 0.2, 'retry_longest_seconds': 0.2, 'event_max_retries': 15,
           'heal_seconds': 1, 'audit_interval_seconds': 1, 'audit_grace_seconds': 0,
           'metrics_host': '127.0.0.1'}


@pytest.fixture
def scene(conf, database, tmp_path):
    for group, name, value in (('health', 'poll_seconds', 1), ('health', 'sick_after_seconds', 0),
                               ('billing', 'interval_seconds', 0)):
        conf.set_override(name, value, group=group)
    port = builders.a_free_port()
    with daemons.running(conf, database, metrics_port=port, **OPTIONS) as manager:
        (tmp_path / 'prometheus').mkdir()
        with prometheus_server.running(tmp_path / 'prometheus', port, hastened()) as prometheus:
            made = Scene(manager, prometheus)
            for number in range(1, 5):
                made.client.create_resource(builders.an_admin(), 'host', f'compute-{number}', {})
            made.client.create_price_book(builders.an_admin(), None, BOOK)
            waiting.until(lambda: prometheus.query('climate_audit_drift'))
            waiting.until(lambda: not prometheus.firing())
            yield made


@pytest.mark.proof
@needs_prometheus
def test_faults_of_the_cloud_fire_their_alerts(scene, caplog):
    # Nova does not answer; later it does.
    scene.cloud.fail('nova.add_host', 10 ** 6, errors.CloudUnreachable(service='Nova', reason='-'))
    lease = scene.lease()
    scene.await_alerts('ClimateServiceUnreachable', 'ClimateEventsOverdue')
    scene.cloud.fail('nova.add_host', 0, None)
    scene.await_state(lease, lifecycle.ACTIVE)
    scene.await_alerts('ClimateEventsLate')
    scene.await_silence('ClimateServiceUnreachable', 'ClimateEventsOverdue')
    # An outage that ended by itself needs nobody.
    assert [each for each in caplog.records
            if each.levelno >= logging.ERROR and each.name.startswith('climate')] == []
    # Nova refuses an end.
    scene.cloud.fail('nova.delete_aggregate', 10 ** 6, errors.CloudError(
        service='Nova', reason='Forbidden'))
    scene.end(lease)
    scene.await_alerts('ClimateServiceRefuses', 'ClimateEventsGivenUp',
                       'ClimateLeasesHoldResources')
    scene.cloud.fail('nova.delete_aggregate', 0, None)
    scene.await_state(lease, lifecycle.TERMINATED)
    scene.await_silence('ClimateLeasesHoldResources')
    # A host breaks, and another one is taken out of the freepool.
    scene.cloud.mark_host('compute-4', up=False)
    scene.await_alerts('ClimateResourcesBroken')
    scene.cloud.mark_host('compute-4', up=True)
    nova = scene.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-3'])
    scene.await_alerts('ClimateAuditDrift')


@pytest.mark.proof
@needs_prometheus
def test_a_lost_trust_and_a_bill_that_is_too_large_fire_their_alerts(scene, database):
    lease = scene.lease()
    scene.await_state(lease, lifecycle.ACTIVE)
    scene.end(lease)
    scene.await_state(lease, lifecycle.TERMINATED)
    # Its user goes between the request and the start of a stack.
    scene.lease(records.ReservationRequest('virtual:stack', {'template': {
        'heat_template_version': '2021-04-16',
        'resources': {'word': {'type': 'OS::Heat::RandomString'}}}}),
        start=scene.manager.core.clock() + builders.seconds(2))
    scene.cloud.delete_trustor('demo')
    scene.await_alerts('ClimateTrustsDead')
    with database.writer() as connection:
        connection.execute(sa.update(tables.ALLOCATIONS).values(copies=10 ** 12))
    biller.Biller(scene.manager.core).bill(scene.manager.core.clock())
    scene.await_alerts('ClimateBillingFails')


@pytest.mark.proof
@needs_prometheus
def test_faults_of_a_manager_fire_their_alerts(conf, database, opened, tmp_path):
    if database.dialect != 'sqlite':
        pytest.skip('The file of the database is taken away.')
    for group, name, value in (('mail', 'host', '127.0.0.1'), ('mail', 'tls', 'none'),
                               ('mail', 'port', builders.a_free_port())):
        conf.set_override(name, value, group=group)
    messaging.get_notification_transport(conf, url='fake:/')  # It registers the options.
    port, moved = builders.a_free_port(), []
    manager = daemons.made(conf, database, login_seconds=0.2, metrics_port=port, **OPTIONS,
                           clock=lambda: database.now() + sum(moved, builders.hours(0)))
    conf.set_override('driver', ['messagingv2'], group='oslo_messaging_notifications')
    conf.set_override('transport_url', f'rabbit://nobody@127.0.0.1:{builders.a_free_port()}/',
                      group='oslo_messaging_notifications')
    refused = errors.CloudError(service='Keystone', reason='Unauthorized')
    for call in ('keystone.log_in', 'nova.aggregates'):
        manager.core.cloud.fail(call, 10 ** 6, refused)
    manager.start()
    try:
        (tmp_path / 'prometheus').mkdir()
        with prometheus_server.running(tmp_path / 'prometheus', port, hastened()) as prometheus:
            scene = Scene(manager, prometheus)
            scene.await_alerts('ClimateEventLoopStalled', 'ClimateTaskFails')
            for call in ('keystone.log_in', 'nova.aggregates'):
                scene.cloud.fail(call, 0, None)
            scene.await_silence('ClimateEventLoopStalled', 'ClimateTaskFails')
            scene.client.create_resource(builders.an_admin(), 'host', 'compute-1', {})
            delivery_rounds.subscribe(scene, 'ann@example.org', transport='mail')
            scene.lease()
            scene.await_alerts('ClimateMailWaits', 'ClimateBusNotificationsWait')
            moved.append(builders.hours(3))
            scene.await_alerts('ClimateClockDoubted', 'ClimateEventLoopStalled')
            moved.clear()
            scene.await_silence('ClimateClockDoubted')
            opened[1].unlink()
            manager.core.database.dispose()
            scene.await_alerts('ClimateDatabaseUnreachable')
            opened[1].symlink_to(tmp_path)
            scene.await_silence('ClimateDatabaseUnreachable')
    finally:
        manager.stop()


def _standalone(folder, port, api_port=None):
    """Start a climate-standalone that serves metrics at that port.

    :param api_port: the port of its API; None: any free one.
    """
    options = folder / 'standalone.conf'
    options.write_text(f'[api]\nport = {api_port or builders.a_free_port()}\n'
                       f'[console]\nport = {builders.a_free_port()}\n'
                       f'[manager]\nmetrics_port = {port}\nclaim_seconds = 3\npoll_seconds = 0.2\n')
    return subprocess.Popen(
        [pathlib.Path(sys.executable).parent / 'climate-standalone', '--config-file', options],
        env={**os.environ, 'CLIMATE_STATE': str(folder),
             'CLIMATE_STANDALONE_FILE': str(folder / 'note.json')},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.proof
@needs_prometheus
def test_a_manager_that_is_killed_fires_its_alerts(tmp_path):
    port, began = builders.a_free_port(), []
    try:
        began.append(_standalone(tmp_path, port))
        (tmp_path / 'prometheus').mkdir()
        with prometheus_server.running(tmp_path / 'prometheus', port, hastened()) as prometheus:
            alerts = Alerts(prometheus)
            waiting.until(lambda: not prometheus.firing())
            began[0].send_signal(signal.SIGKILL)
            alerts.await_alerts('ClimateManagerDown', 'ClimateNoManager')
            began.append(_standalone(tmp_path, port))
            alerts.await_silence('ClimateManagerDown', 'ClimateNoManager')
            alerts.await_alerts('ClimateManagerLost')
    finally:
        for process in began:
            process.kill()
            process.wait(waiting.SECONDS)


@pytest.mark.proof
@needs_prometheus
@pytest.mark.skipif(prometheus_server.EXPORTER is None,
                    reason='The blackbox exporter is not installed.')
def test_an_api_that_is_killed_fires_its_alert(tmp_path):
    port, api_port, began = builders.a_free_port(), builders.a_free_port(), []
    # The job as on the page, with the addresses of this test.
    job = next(item for item in yaml_text.read(textwrap.dedent(PAGE_JOBS.search(
        (ROOT / 'doc/source/admin/monitoring.rst').read_text())[0]))['scrape_configs']
        if item['job_name'] == 'reservation-api')
    job['static_configs'] = [{'targets': [f'http://127.0.0.1:{api_port}/healthcheck']}]
    for name in ('prometheus', 'exporter'):
        (tmp_path / name).mkdir()
    try:
        began.append(_standalone(tmp_path, port, api_port))
        with prometheus_server.exporting(tmp_path / 'exporter') as exporter_port:
            job['relabel_configs'][-1]['replacement'] = f'127.0.0.1:{exporter_port}'
            with prometheus_server.running(
                    tmp_path / 'prometheus', port, hastened(), [job]) as prometheus:
                alerts = Alerts(prometheus)
                waiting.until(lambda: prometheus.query('probe_success == 1'))
                waiting.until(lambda: not prometheus.firing())
                began[0].send_signal(signal.SIGKILL)
                alerts.await_alerts('ClimateApiDown')
                began.append(_standalone(tmp_path, port, api_port))
                alerts.await_silence('ClimateApiDown')
    finally:
        for process in began:
            process.kill()
            process.wait(waiting.SECONDS)
