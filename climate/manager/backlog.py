# SPDX-License-Identifier: Apache-2.0
"""Prometheus gauges of late and stuck work. Every manager reports the same values."""
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
        'climate_event_overdue_seconds', 'How long the oldest unfinished event is overdue, by kind '
        'of event; 0 if no event is overdue', ['kind'],
        {kind: (now - moments.get(kind, now)).total_seconds() for kind in backlog.NOTICED})
    yield prometheus.GaugeMetricFamily(
        'climate_error_leases_holding', 'Leases in ERROR that keep resources from other leases',
        value=backlog.errors_that_hold(connection, now))
    count, oldest = backlog.outbox(connection)
    yield prometheus.GaugeMetricFamily(
        'climate_outbox_waiting', 'Notifications that wait to be copied to subscriptions and sent '
        'to the bus', value=count)
    yield prometheus.GaugeMetricFamily(
        'climate_outbox_oldest_seconds', 'Age of the oldest notification in the outbox; 0 if the '
        'outbox is empty', value=(now - (oldest or now)).total_seconds())
    # The database does not list managers that were stopped cleanly.
    services = heartbeat.judged(managers.every(connection), now, conf.claim_seconds)
    up = sum(service.up for service in services)
    yield counters.gauge(
        'climate_managers', 'Managers seen in the last hour, by whether they are up or down',
        ['state'], {'up': up, 'down': len(services) - up})
