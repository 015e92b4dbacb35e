# SPDX-License-Identifier: Apache-2.0
"""What Prometheus may read of a manager."""
import prometheus_client
from prometheus_client import core as prometheus

from climate.db import leases
from climate.domain import audit


class Collector:
    """Looks at the database when it is asked, so that nothing is counted twice."""

    def __init__(self, core, clockwork, patrol):
        self._core = core
        self._clockwork = clockwork
        self._patrol = patrol

    def collect(self):
        """The metrics, as prometheus_client wants them."""
        by_state = prometheus.GaugeMetricFamily(
            'climate_leases', 'Leases that are not deleted, by state', labels=['state'])
        with self._core.database.reader() as connection:
            for state, count in leases.counts(connection).items():
                by_state.add_metric([state], count)
        yield by_state
        yield prometheus.GaugeMetricFamily(
            'climate_events_running', 'Events that this manager is carrying out',
            value=self._clockwork.running)
        counts = self._patrol.counts
        if counts is not None:
            drift = prometheus.GaugeMetricFamily(
                'climate_audit_drift', 'Things that the last audit found not to be as the '
                'accounts say, by kind', labels=['kind'])
            for kind in audit.KINDS:
                drift.add_metric([kind], counts[kind])
            yield drift


def serve(core, clockwork, patrol):
    """Serve /metrics on [manager] metrics_port; nothing where that is 0."""
    conf = core.conf.manager
    if conf.metrics_port:
        registry = prometheus_client.CollectorRegistry()
        registry.register(Collector(core, clockwork, patrol))
        prometheus_client.start_http_server(conf.metrics_port, addr=conf.metrics_host,
                                            registry=registry)
