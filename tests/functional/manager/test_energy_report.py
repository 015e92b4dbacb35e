# SPDX-License-Identifier: Apache-2.0
"""Utilisation and metrics count what sleeps, and what is out of order for any cause."""
import prometheus_client
import pytest
import sleepers_world
from support import builders

from climate.domain import maintenance_windows
from climate.domain import utilisation
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch
from climate.manager.maintenance import windows

pytestmark = pytest.mark.usefixtures('sleeping_hosts')

NOON, hours = builders.NOON, builders.hours
ADMIN = builders.an_admin()


def _mean(manager, figure, start, end):
    """The resource-hours of a figure between two hours after noon."""
    answer = manager.client.report_utilisation(ADMIN, utilisation.UtilisationQuery(
        NOON + hours(start), NOON + hours(end), 3600, 'host'))
    return sum(step.seconds[figure] for step in answer.steps) / 3600


def test_the_energy_report_counts_resources_that_are_not_well_as_out_of_order(manager):
    host, _ = manager.enrol(2)
    manager.client.set_out_of_order(ADMIN, 'host', host.id, 'a fan is broken')
    manager.clock.advance(hours(2))
    manager.client.set_out_of_order(ADMIN, 'host', host.id, '')
    manager.clock.advance(hours(2))
    assert _mean(manager, utilisation.OUT_OF_ORDER, 0, 4) == 2


def test_a_resource_out_of_order_for_several_causes_counts_once(manager):
    host, _ = manager.enrol(2)
    care = windows.Windows(manager.core, 'this manager')
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON + hours(1), NOON + hours(3), 'new firmware', resources=(host.name,)))
    manager.client.set_out_of_order(ADMIN, 'host', host.id, 'a fan is broken')
    for _ in range(4):
        manager.clock.advance(hours(1))
        care.carry_on(manager.clock())
        if manager.clock() == NOON + hours(2):
            manager.client.set_out_of_order(ADMIN, 'host', host.id, '')
    assert _mean(manager, utilisation.OUT_OF_ORDER, 0, 4) == 3


def test_metrics_count_sleeping_resources_and_the_saved_power(manager, conf):
    conf.set_override('watts', 120, group='energy')
    manager.enrol(2, saved_watts='250.5')
    manager.cloud.mark_host('compute-2', enabled=False, reason='mine')
    keeping = sleepers_world.Keeping(manager, conf)
    keeping.all_asleep()
    manager.clock.advance(hours(2))
    assert _mean(manager, utilisation.ASLEEP, 0, 3) == 2
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'this manager'),
        clock_watch.ClockWatch(manager.core, 'this manager')))
    text = prometheus_client.generate_latest(registry).decode()
    assert 'climate_power_saved_watts{pool="host"} 250.5' in text
    assert 'climate_power_resources{state="asleep"} 1.0' in text
