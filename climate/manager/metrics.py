# SPDX-License-Identifier: Apache-2.0
"""The metrics of a manager for Prometheus, and the server of /metrics."""
import datetime
import ssl

import prometheus_client
from prometheus_client import core as prometheus

from climate.db import leases
from climate.db import power
from climate.domain import audit
from climate.domain import sleep
from climate.manager.usage import gauges

_DAY = datetime.timedelta(days=1)


class Unusable(Exception):
    """The configuration of /metrics cannot be used; the message says why."""


class Collector:
    """A collector that reads the database at each request and keeps no counters of its own."""

    def __init__(self, core, event_loop, audit_schedule, clock_watch):
        self._core = core
        self._event_loop = event_loop
        self._audit_schedule = audit_schedule
        self._clock_watch = clock_watch

    def collect(self):
        """Yield the metrics, as prometheus_client expects them."""
        by_state = prometheus.GaugeMetricFamily(
            'climate_leases', 'Leases that are not deleted, by state', labels=['state'])
        with self._core.database.reader() as connection:
            for state, count in leases.counts(connection).items():
                by_state.add_metric([state], count)
        yield by_state
        yield prometheus.GaugeMetricFamily(
            'climate_events_running', 'Events that this manager is carrying out',
            value=self._event_loop.running)
        yield prometheus.GaugeMetricFamily(
            'climate_clock_ahead_seconds', 'How far the clock of the database is ahead of what '
            'this manager expects, while it doubts it; else 0',
            value=self._clock_watch.ahead_seconds)
        yield from gauges.families(self._core.database, self._core.clock())
        if self._core.conf.energy.driver:
            yield from _power(self._core.database, self._core.clock())
        counts = self._audit_schedule.counts
        if counts is not None:
            drift = prometheus.GaugeMetricFamily(
                'climate_audit_drift', 'Differences that the last audit found between the cloud '
                'and the allocations, by kind', labels=['kind'])
            for kind in audit.KINDS:
                drift.add_metric([kind], counts[kind])
            yield drift


def _power(database, now):
    """Yield the metrics of resources that sleep."""
    with database.reader() as connection:
        states, changes = power.counts(connection, now - _DAY)
    for name, words, label, known, counts in (
            ('climate_power_resources', 'Resources that sleep or slept, by state', 'state',
             sleep.STATES, states),
            ('climate_power_changes_day', 'How often resources fell asleep, woke up and did not '
             'wake up in the last 24 hours', 'kind',
             (sleep.SLEPT, sleep.WOKE, sleep.FAILED_TO_WAKE), changes)):
        family = prometheus.GaugeMetricFamily(name, words, labels=[label])
        for each in known:
            family.add_metric([each], counts.get(each, 0))
        yield family


def check(conf):
    """Raise Unusable unless `conf` lets /metrics be served, or says not to serve it.

    :raises Unusable: a certificate is missing or cannot be read.
    """
    certificate, key, authority = _files(conf.manager)
    # With only one of the two, /metrics would be served without TLS.
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


def serve(core, event_loop, audit_schedule, clock_watch):
    """Serve /metrics on [manager] metrics_port; return the server, or None if the port is 0."""
    conf = core.conf.manager
    if not conf.metrics_port:
        return None
    registry = prometheus_client.CollectorRegistry()
    registry.register(Collector(core, event_loop, audit_schedule, clock_watch))
    certificate, key, authority = _files(conf)
    server, _ = prometheus_client.start_http_server(
        conf.metrics_port, addr=conf.metrics_host, registry=registry, certfile=certificate,
        keyfile=key, client_cafile=authority, client_auth_required=authority is not None)
    return server


def _files(conf):
    """Return (certificate, key, CA of the clients) as file names; None for one that is not set."""
    return (conf.metrics_cert_file or None, conf.metrics_key_file or None,
            conf.metrics_client_ca_file or None)
