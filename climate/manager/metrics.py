# SPDX-License-Identifier: Apache-2.0
"""The metrics of a manager for Prometheus."""
import collections
import datetime

import prometheus_client
from prometheus_client import core as prometheus

from climate import errors
from climate import version
from climate.cloud import call_guard
from climate.db import backlog
from climate.db import bills
from climate.db import deliveries
from climate.db import enforcement_calls
from climate.db import health as stored
from climate.db import idle_leases
from climate.db import leases
from climate.db import limit_notices
from climate.db import managers
from climate.db import power
from climate.db import resources
from climate.db import subscriptions
from climate.domain import audit
from climate.domain import enforcement
from climate.domain import health
from climate.domain import heartbeat
from climate.domain import lifecycle
from climate.domain import sleep
from climate.domain import subscriptions as domain
from climate.manager import counters
from climate.manager.energy import machines
from climate.manager.energy import report
from climate.manager.limits import books as limit_books
from climate.manager.notifications import delivery_results
from climate.manager.usage import gauges

_DAY = datetime.timedelta(days=1)


class Collector:
    """A collector that reads the database at each request.

    :param deliverers: the Deliverers of this manager, which count their attempts.
    """

    def __init__(self, core, event_loop, audit_schedule, clock_watch, deliverers=()):
        self._core = core
        self._deliverers = deliverers
        self._event_loop = event_loop
        self._audit_schedule = audit_schedule
        self._clock_watch = clock_watch

    def collect(self):
        """Yield the metrics, as prometheus_client expects them.

        If the database does not answer, only the metrics of this process are yielded.
        """
        yield from self._own()
        reachable, stored_families = 1, []
        try:
            stored_families = list(self._stored())
        except errors.DatabaseUnreachable:
            reachable = 0
        yield from stored_families
        yield prometheus.GaugeMetricFamily(
            'climate_database_up', '1 if the database answered for these metrics, else 0',
            value=reachable)

    def _own(self):
        """Yield the metrics of this process, which need no database."""
        yield from self._core.counts.collect()
        yield from call_guard.CALLS.collect()
        yield self._attempts()
        yield prometheus.GaugeMetricFamily(
            'climate_events_running', 'Events that this manager is carrying out',
            value=self._event_loop.running)
        yield prometheus.GaugeMetricFamily(
            'climate_event_loop_silent_seconds', 'How long ago this manager last checked which '
            'events are due', value=self._event_loop.silent_seconds)
        yield prometheus.GaugeMetricFamily(
            'climate_clock_ahead_seconds', 'How far the clock of the database is ahead of the '
            'expected time, while this manager does not trust that clock; else 0',
            value=self._clock_watch.ahead_seconds)
        counts = self._audit_schedule.counts
        if counts is not None:
            yield counters.gauge(
                'climate_audit_drift', 'Differences that the last audit found between the cloud '
                'and the allocations, by kind', ['kind'],
                {kind: counts[kind] for kind in audit.KINDS})

    def _stored(self):
        """Yield the metrics of the database; every manager reports the same values."""
        now = self._core.clock()
        with self._core.database.reader() as connection:
            by_state = leases.counts(connection)
            idle = idle_leases.count(connection)
            sick = stored.counts(connection)
            unbilled = bills.count_failed(connection)
            near = limit_notices.count_near(connection)
            late = list(_backlog(self._core, connection, now))
        yield counters.gauge('climate_leases', 'Leases that are not deleted, by state', ['state'],
                             {state: by_state.get(state, 0) for state in lifecycle.STATES})
        yield counters.gauge(
            'climate_resources_sick', 'Enrolled resources that are sick, quarantined or '
            'out_of_order, by pool and state', ['pool', 'state'],
            {(pool, state): sick.get((pool, state), 0)
             for pool in sorted(self._core.registry.pools) for state in health.STATES[1:]})
        yield from late
        yield from self._notifications()
        if self._core.enforcement is not None:
            yield from _enforcement(self._core.database, now)
        yield prometheus.GaugeMetricFamily(
            'climate_idle_leases', 'Running leases that are idle', value=idle)
        yield prometheus.GaugeMetricFamily(
            'climate_billing_failed_leases', 'Leases whose last billing failed', value=unbilled)
        book = limit_books.known(self._core, now)
        yield prometheus.GaugeMetricFamily(
            'climate_limits', 'Limits of the limit book that is valid now',
            value=0 if book is None else len(book.limits))
        yield prometheus.GaugeMetricFamily(
            'climate_projects_near_limits', 'Projects that have used most of a limit', value=near)
        yield from gauges.families(self._core.database, now)
        if self._core.conf.energy.driver:
            yield from _power(self._core.database, now)
            yield self._saved()

    def _saved(self):
        """Return the metric of the power that sleeping resources save now."""
        with self._core.database.reader() as connection:
            ids = [asleep.resource_id
                   for asleep in power.in_states(connection, (sleep.ASLEEP,))]
            sleeping = resources.enrolled(connection, ids) if ids else ()
            shares = machines.shares(self._core, connection) if ids else {}
        sums = collections.Counter()
        for resource in sleeping:
            sums[resource.pool] += report.watts_of(self._core.conf, resource, shares) or 0
        return counters.gauge(
            'climate_power_saved_watts', 'Power that the sleeping resources of a pool save, as far '
            'as it is known', ['pool'],
            {pool: sums[pool] for pool in machines.pools(self._core)})

    def _notifications(self):
        """Yield the metrics of subscriptions and of waiting deliveries."""
        with self._core.database.reader() as connection:
            by_transport, now = deliveries.waiting(connection), self._core.clock()
            counts = subscriptions.counts(connection)
        waiting = {transport: by_transport.get(transport, (0, now))
                   for transport in sorted({*domain.SENT, *by_transport})}
        yield counters.gauge(
            'climate_notifications_waiting', 'Notifications that wait to be delivered to '
            'subscriptions, by transport', ['transport'],
            {transport: count for transport, (count, _) in waiting.items()})
        yield counters.gauge(
            'climate_notifications_oldest_seconds', 'Age of the oldest notification that waits to '
            'be delivered; 0 if none waits', ['transport'],
            {transport: (now - oldest).total_seconds()
             for transport, (_, oldest) in waiting.items()})
        transports = sorted({domain.CALENDAR, *domain.SENT, *(name for name, _ in counts)})
        yield counters.gauge(
            'climate_subscriptions', 'Subscriptions, by transport and whether they are on',
            ['transport', 'enabled'],
            {(transport, str(enabled).lower()): counts.get((transport, enabled), 0)
             for transport in transports for enabled in (True, False)})

    def _attempts(self):
        """Return the metric of the attempts of this manager to deliver notifications."""
        family = prometheus.CounterMetricFamily(
            'climate_notifications_attempts', 'Attempts of this manager to deliver notifications, '
            'by transport and result', labels=['transport', 'result'])
        for deliverer in self._deliverers:
            for result in delivery_results.RESULTS:
                family.add_metric([deliverer.name, result], deliverer.counts[result])
        return family


def _enforcement(database, now):
    """Yield the metrics of the reports to the enforcement service."""
    with database.reader() as connection:
        count, oldest = enforcement_calls.counts(connection).get(enforcement.DUE, (0, now))
    yield prometheus.GaugeMetricFamily(
        'climate_enforcement_waiting', 'Reports to the enforcement service that are due',
        value=count)
    yield prometheus.GaugeMetricFamily(
        'climate_enforcement_oldest_seconds', 'Age of the oldest report to the enforcement service '
        'that is due; 0 if none is due', value=(now - oldest).total_seconds())


def _power(database, now):
    """Yield the metrics of the power states of resources."""
    with database.reader() as connection:
        states, changes = power.counts(connection, now - _DAY)
    yield counters.gauge(
        'climate_power_resources', 'Resources that sleep or slept, by state', ['state'],
        {state: states.get(state, 0) for state in sleep.STATES})
    yield counters.gauge(
        'climate_power_changes_day', 'Times that resources fell asleep, woke up or failed to wake '
        'up in the last 24 hours', ['kind'],
        {kind: changes.get(kind, 0) for kind in (sleep.SLEPT, sleep.WOKE, sleep.FAILED_TO_WAKE)})


def _backlog(core, connection, now):
    """Yield the metrics of late and stuck work."""
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
    services = heartbeat.with_liveness(managers.every(connection), now, conf.claim_seconds)
    up = sum(service.up for service in services)
    yield counters.gauge(
        'climate_managers', 'Managers seen in the last hour, by whether they are up or down',
        ['state'], {'up': up, 'down': len(services) - up})


def registry_of(collector):
    """Return a registry with the metrics of a Collector, of the version and of this process."""
    registry = prometheus_client.CollectorRegistry()
    registry.register(collector)
    prometheus_client.ProcessCollector(registry=registry)
    prometheus_client.Info('climate_build', 'The version of this manager', registry=registry).info(
        {'version': version.text()})
    return registry
