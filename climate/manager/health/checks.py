# SPDX-License-Identifier: Apache-2.0
"""Check the health of all resources, periodically and when Nova reports a changed service."""
import collections
import contextlib
import datetime
import threading

from oslo_log import log
import oslo_messaging as messaging

from climate import errors
from climate.db import health as stored
from climate.db import maintenances
from climate.db import managers
from climate.db import resources
from climate.domain import health
from climate.manager import core as cores
from climate.manager.energy import sleep_states
from climate.manager.health import blocking
from climate.manager.health import states
from climate.plugins.health import sources

LOG = log.getLogger(__name__)

# If two checks are further apart than this number of pauses, the time between them is unknown.
_GAP = 3
_SERVICE_CHANGED = r'^service\.(create|update|delete)$'


class HealthChecks:
    """Checks the health of all resources and stores the changes.

    :param owner: the id of this manager. Only the manager that has run longest should check.
        Several managers at once are harmless, because each change is decided in its transaction.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._states = states.States(core)
        self._sleep_states = sleep_states.SleepStates(core)
        self._sources = sources.load(core.conf)
        self._turn = threading.Lock()
        self._silent = set()
        conf = core.conf.health
        self._rules = health.HealthRules(
            *(datetime.timedelta(seconds=seconds) for seconds in (
                conf.sick_after_seconds, conf.well_after_seconds,
                _GAP * max(conf.poll_seconds, 1))))

    def is_mine(self, now):
        """Return whether this manager has run longest."""
        with self._core.database.reader() as connection:
            return managers.is_eldest(connection, self._owner, now)

    def check(self, now):
        """Check all resources; return the ids of those whose state changed."""
        with self._turn:
            changed = self._check(now)
            blocking.prolong(self._core, now)
        if changed:
            self._core.notify()
        return changed

    def _check(self, now):
        with self._core.database.reader() as connection:
            enrolled = [resource for name in self._core.registry.pools
                        for resource in resources.find(connection, name)]
            ids = [resource.id for resource in enrolled]
            healths = stored.find(connection, ids)
            # Failures during maintenance are normal, and no lease gets these resources meanwhile.
            ignored = maintenances.touched(connection)
        # Climate itself switches sleeping resources off.
        ignored = {*ignored, *self._sleep_states.asleep(ids)}
        findings, unknown = self._findings([resource for resource in enrolled
                                            if resource.id not in ignored])
        changed = []
        for resource in enrolled:
            def judged(before, resource=resource):
                if resource.id in ignored:
                    return before
                finding = findings.get(resource.id)
                if finding is None and before.source in unknown[resource.pool]:
                    return before
                return health.after_check(before, finding, self._rules, now)
            before = healths[resource.id]
            after = judged(before)
            if after == before and after.verdict(now).state == resource.health_state:
                continue
            with cores.isolated('Health of %s %s', resource.pool, resource.name), (
                    contextlib.suppress(errors.ResourceNotFound)):
                self._states.change(resource, judged, now)
                if after.verdict(now).state != resource.health_state:
                    changed.append(resource.id)
        return changed

    def _findings(self, to_check):
        """Return ({resource id: HealthFinding}, {pool: names of sources that do not answer})."""
        findings, unknown = {}, collections.defaultdict(set)
        for pool in self._core.registry.pools.values():
            of_pool = [resource for resource in to_check if resource.pool == pool.name]
            if not of_pool:
                continue
            unknown[pool.name].add(f'pool:{pool.name}')
            with cores.isolated('The health of the pool %s', pool.name):
                findings |= {key: health.HealthFinding(f'pool:{pool.name}', why) for key, why in
                             pool.unhealthy(self._core.cloud, of_pool).items()}
                unknown[pool.name].discard(f'pool:{pool.name}')
        for name, source in self._sources.items():
            for pool in self._core.registry.pools:
                unknown[pool].add(name)
            with cores.isolated('The source of health "%s"', name):
                try:
                    sick = source.sick(to_check)
                except sources.SourceUnreachable as error:
                    self._log_silent(name, error)
                    continue
                self._silent.discard(name)
                findings = {**{key: health.HealthFinding(name, why) for key, why in sick.items()},
                            **findings}
                for pool in self._core.registry.pools:
                    unknown[pool].discard(name)
        return findings, unknown

    def _log_silent(self, name, error):
        log_it = LOG.debug if name in self._silent else LOG.warning
        log_it('The source of health "%s" does not answer: %s', name, error)
        self._silent.add(name)


class ServiceListener:
    """Checks the health at once when Nova notifies of a changed service.

    A failing resource still becomes sick only after [health] sick_after_seconds.

    :param clock: a function that returns the current time.
    """

    filter_rule = messaging.NotificationFilter(event_type=_SERVICE_CHANGED)

    def __init__(self, checks, clock):
        self._checks = checks
        self._clock = clock

    def info(self, context, publisher_id, event_type, payload, metadata):
        """Handle Nova's versioned notification of a service."""
        if payload.get('nova_object.data', {}).get('binary') == 'nova-compute':
            self._checks.check(self._clock())
