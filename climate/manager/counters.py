# SPDX-License-Identifier: Apache-2.0
"""The Prometheus counters of one manager, and a helper to build gauges.

Each series has the value 0 from the start of the manager, because an alert on an increase does not
see the first failure of a series that begins at 1.
"""
import prometheus_client
from prometheus_client import core as prometheus

from climate.domain import event_kinds
from climate.domain.limits import rules

#: The counted results of a try of an event. A try that must wait for the cloud is not counted.
DONE, MOOT, RETRIED, GIVEN_UP = 'done', 'moot', 'retried', 'given_up'
RESULTS = (DONE, MOOT, RETRIED, GIVEN_UP)
#: The calls of the enforcement service, and their counted results.
ENFORCEMENT_CALLS = ('ask', 'commit', 'end')
ALLOWED, REFUSED, UNAVAILABLE = 'allowed', 'refused', 'unavailable'
#: The kinds of events whose lateness is measured, because users know their time.
PUNCTUAL = (event_kinds.START, event_kinds.END)

_LATENESS_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21600)


def gauge(name, description, labels, values):
    """Return a family of gauges.

    :param labels: the names of the labels.
    :param values: {label values: number}; a key is a tuple, or a string if there is one label.
    """
    family = prometheus.GaugeMetricFamily(name, description, labels=list(labels))
    for key, number in values.items():
        family.add_metric([key] if isinstance(key, str) else list(key), number)
    return family


class Counters:
    """The counters of one manager."""

    def __init__(self):
        self._events = prometheus_client.Counter(
            'climate_events', 'Tries of events by this manager, by kind of event and result',
            ['kind', 'result'], registry=None)
        for kind in event_kinds.KINDS:
            for result in RESULTS:
                self._events.labels(kind, result)
        self._lateness = prometheus_client.Histogram(
            'climate_event_lateness_seconds', 'How long after its planned time an event was done, '
            'by kind of event', ['kind'], buckets=_LATENESS_SECONDS, registry=None)
        for kind in PUNCTUAL:
            self._lateness.labels(kind)
        self._tasks = prometheus_client.Counter(
            'climate_task_runs', 'Runs of the periodic tasks of this manager, by task and result',
            ['task', 'result'], registry=None)
        self._limit_refusals = prometheus_client.Counter(
            'climate_limit_refusals', 'Requests that a limit of the limit book refused, by measure '
            'of the limit', ['measure'], registry=None)
        for measure in rules.Measure:
            self._limit_refusals.labels(str(measure))
        self._enforcement = prometheus_client.Counter(
            'climate_enforcement_calls', 'Calls of the enforcement service by this manager, by '
            'call and result', ['call', 'result'], registry=None)
        for call in ENFORCEMENT_CALLS:
            for result in (ALLOWED, REFUSED, UNAVAILABLE):
                self._enforcement.labels(call, result)

    def event(self, kind, result):
        """Count one try of an event."""
        self._events.labels(kind, result).inc()

    def late(self, kind, span):
        """Record how late an event was done.

        :param kind: one of PUNCTUAL.
        :param span: a timedelta; a negative one counts as 0.
        """
        self._lateness.labels(kind).observe(max(0, span.total_seconds()))

    def enforcement(self, call, result):
        """Count one call of the enforcement service."""
        self._enforcement.labels(call, result).inc()

    def add_task(self, name):
        """Create the series of a periodic task."""
        for result in ('done', 'failed'):
            self._tasks.labels(name, result)

    def task(self, name, failed):
        """Count one run of a periodic task."""
        self._tasks.labels(name, 'failed' if failed else 'done').inc()

    def limit_refusal(self, measure):
        """Count one request that a limit refused.

        :param measure: a ``rules.Measure`` as text.
        """
        self._limit_refusals.labels(measure).inc()

    def collect(self):
        """Yield the metrics, as prometheus_client expects them."""
        for metric in (self._events, self._lateness, self._tasks, self._limit_refusals,
                       self._enforcement):
            yield from metric.collect()
