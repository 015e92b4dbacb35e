# SPDX-License-Identifier: Apache-2.0
"""The counters of one manager, and how its metrics are built, for Prometheus.

Each series exists at 0 from the start: an alert on an increase cannot see the first failure of a
series that begins at 1.
"""
import prometheus_client
from prometheus_client import core as prometheus

from climate.domain import event_kinds

#: The results of one try of an event. WAITING is left out: it is neither a failure nor a success.
DONE, MOOT, RETRIED, GIVEN_UP = 'done', 'moot', 'retried', 'given_up'
RESULTS = (DONE, MOOT, RETRIED, GIVEN_UP)
#: The kinds of events whose time users know.
PUNCTUAL = (event_kinds.START, event_kinds.END)

_LATENESS_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21600)


def gauge(name, description, labels, values):
    """Return a family of gauges.

    :param labels: the names of its labels.
    :param values: {the values of the labels, a tuple or one string: number}.
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
            'climate_event_lateness_seconds', 'How much later than its moment an event was done, '
            'by kind of event', ['kind'], buckets=_LATENESS_SECONDS, registry=None)
        for kind in PUNCTUAL:
            self._lateness.labels(kind)
        self._tasks = prometheus_client.Counter(
            'climate_task_runs', 'Runs of the periodic tasks of this manager, by task and result',
            ['task', 'result'], registry=None)

    def event(self, kind, result):
        """Count one try of an event of a kind."""
        self._events.labels(kind, result).inc()

    def late(self, kind, span):
        """Record how late an event was done; early counts as 0.

        :param kind: one of PUNCTUAL.
        :param span: a timedelta.
        """
        self._lateness.labels(kind).observe(max(0, span.total_seconds()))

    def add_task(self, name):
        """Create the series of a periodic task."""
        for result in ('done', 'failed'):
            self._tasks.labels(name, result)

    def task(self, name, failed):
        """Count one run of a periodic task."""
        self._tasks.labels(name, 'failed' if failed else 'done').inc()

    def collect(self):
        """Yield the metrics, as prometheus_client expects them."""
        for metric in (self._events, self._lateness, self._tasks):
            yield from metric.collect()
