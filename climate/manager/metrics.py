# SPDX-License-Identifier: Apache-2.0
"""What Prometheus may read of a manager."""
import ssl

import prometheus_client
from prometheus_client import core as prometheus

from climate.db import leases
from climate.domain import audit


class Unusable(Exception):
    """/metrics cannot be served as it is configured; says why."""


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


def check(conf):
    """Nothing, where /metrics can be served as `conf` says, or not at all.

    :raises Unusable: a certificate is missing or cannot be read.
    """
    certificate, key, authority = _files(conf.manager)
    # Without one of the two it would be served, but in the clear.
    if (certificate is None) != (key is None) or (authority and not certificate):
        raise Unusable('[manager] metrics_cert_file and metrics_key_file must both be set, or '
                       'none of the metrics_*_file options.')
    if certificate is None:
        return
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise Unusable(f'[manager] metrics_cert_file, metrics_key_file or metrics_client_ca_file '
                       f'cannot be used: {error}.') from error


def serve(core, clockwork, patrol):
    """Serve /metrics on [manager] metrics_port; returns the server, None where that is 0."""
    conf = core.conf.manager
    if not conf.metrics_port:
        return None
    registry = prometheus_client.CollectorRegistry()
    registry.register(Collector(core, clockwork, patrol))
    certificate, key, authority = _files(conf)
    server, _ = prometheus_client.start_http_server(
        conf.metrics_port, addr=conf.metrics_host, registry=registry, certfile=certificate,
        keyfile=key, client_cafile=authority, client_auth_required=authority is not None)
    return server


def _files(conf):
    """Certificate, key and authority of the clients; None for one that is not set."""
    return (conf.metrics_cert_file or None, conf.metrics_key_file or None,
            conf.metrics_client_ca_file or None)
