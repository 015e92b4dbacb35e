# SPDX-License-Identifier: Apache-2.0
"""What Prometheus reads of a manager."""
import builders
import prometheus_client

from climate.manager import metrics
from climate.manager import patrol


def test_metrics_count_leases_by_state_and_running_events(manager):
    manager.enrol(2)
    manager.create(builders.a_lease())
    manager.create(builders.a_lease(start=builders.NOON + builders.hours(2),
                                    end=builders.NOON + builders.hours(3)))
    manager.run()
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(manager.core, manager.clockwork,
                                        patrol.Patrol(manager.core, 'this manager')))
    text = prometheus_client.generate_latest(registry).decode()
    assert 'climate_leases{state="ACTIVE"} 1.0' in text
    assert 'climate_leases{state="PENDING"} 1.0' in text
    assert 'climate_events_running 0.0' in text
