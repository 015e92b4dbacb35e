# SPDX-License-Identifier: Apache-2.0
"""The late and stuck work, as gauges for Prometheus. Every manager reports the same."""
import datetime

from prometheus_client import core as prometheus

from climate.db import backlog
from climate.db import managers
from climate.domain import heartbeat
from climate.manager import counters


def families(core, connection, now):
    """Yield the metric families at a moment."""
    conf = core.conf.manager
    longest = datetime.timedelta(
        seconds=conf.heal_seconds + conf.heal_longest_seconds + conf.retry_longest_seconds)
    moments = backlog.overdue(connection, now, longest)
    yield counters.gauge(
        'climate_event_overdue_seconds', 'How long ago the oldest event should have happened that '
        'is not done, by kind of event; 0 if there is none', ['kind'],
        {kind: (now - moments.get(kind, now)).total_seconds() for kind in backlog.NOTICED})
    yield prometheus.GaugeMetricFamily(
        'climate_error_leases_holding', 'Leases in ERROR that keep resources from other leases',
        value=backlog.errors_that_hold(connection, now))
    count, oldest = backlog.outbox(connection)
    yield prometheus.GaugeMetricFamily(
        'climate_outbox_waiting', 'Notifications that wait to be copied to subscriptions and sent '
        'to the bus', value=count)
    yield prometheus.GaugeMetricFamily(
        'climate_outbox_oldest_seconds', 'How long ago the oldest notification happened that '
        'waits in the outbox; 0 if none waits', value=(now - (oldest or now)).total_seconds())
    # A manager that was stopped cleanly is in no list.
    services = heartbeat.judged(managers.every(connection), now, conf.claim_seconds)
    up = sum(service.up for service in services)
    yield counters.gauge(
        'climate_managers', 'Managers seen in the last hour, by whether they are up or down',
        ['state'], {'up': up, 'down': len(services) - up})
