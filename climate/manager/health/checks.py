# SPDX-License-Identifier: Apache-2.0
"""Look at the health of all resources, periodically and when Nova says that a service changed."""
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
from climate.plugins.health import base
from climate.plugins.health import registry

LOG = log.getLogger(__name__)

# Looks that are further apart than so many pauses say nothing of the time between them.
_GAP = 3
_SERVICE_CHANGED = r'^service\.(create|update|delete)$'


class Checks:
    """Looks at the health of all resources and stores what changes.

    :param owner: the id of this manager; only the one that has run longest looks. Several at once
        are harmless, because each change is judged again in its transaction.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner
        self._states = states.States(core)
        self._sleep_states = sleep_states.SleepStates(core)
        self._sources = registry.load(core.conf)
        self._turn = threading.Lock()
        self._silent = set()
        conf = core.conf.health
        self._rules = health.Rules(
            *(datetime.timedelta(seconds=each) for each in (
                conf.sick_after_seconds, conf.well_after_seconds,
                _GAP * max(conf.poll_seconds, 1))))

    def is_mine(self, now):
        """Return whether this manager is the one that looks."""
        with self._core.database.reader() as connection:
            return managers.is_eldest(connection, self._owner, now)

    def look(self, now):
        """Look at all resources; return the ids of those whose state changed."""
        with self._turn:
            changed = self._look(now)
            blocking.prolong(self._core, now)
        if changed:
            self._core.notify()
        return changed

    def _look(self, now):
        with self._core.database.reader() as connection:
            everything = [each for name in self._core.registry.pools
                          for each in resources.find(connection, name)]
            known = stored.find(connection, [each.id for each in everything])
            # What is being maintained goes up and down, and nobody gets it meanwhile.
            resting = maintenances.touched(connection)
        # What sleeps, or is about to, is down because Climate wants it so.
        resting = {*resting, *self._sleep_states.asleep([each.id for each in everything])}
        awake = [each for each in everything if each.id not in resting]
        findings, unknown = self._ask(awake)
        changed = []
        for resource in everything:
            def judged(before, resource=resource):
                if resource.id in resting:
                    return before
                finding = findings.get(resource.id)
                if finding is None and before.source in unknown[resource.pool]:
                    return before
                return health.judged(before, finding, self._rules, now)
            before = known[resource.id]
            after = judged(before)
            if after == before and after.verdict(now).state == resource.health_state:
                continue
            with cores.isolated('Health of %s %s', resource.pool, resource.name), (
                    contextlib.suppress(errors.ResourceNotFound)):
                self._states.change(resource, judged, now)
                if after.verdict(now).state != resource.health_state:
                    changed.append(resource.id)
        return changed

    def _ask(self, everything):
        """Return ({resource id: Finding}, {pool: names of the sources that do not answer})."""
        findings, unknown = {}, collections.defaultdict(set)
        for pool in self._core.registry.pools.values():
            mine = [each for each in everything if each.pool == pool.name]
            if not mine:
                continue
            # Known only if it answers.
            unknown[pool.name].add(f'pool:{pool.name}')
            with cores.isolated('The health of the pool %s', pool.name):
                findings |= {key: health.Finding(f'pool:{pool.name}', why) for key, why in
                             pool.unhealthy(self._core.cloud, mine).items()}
                unknown[pool.name].discard(f'pool:{pool.name}')
        for name, source in self._sources.items():
            for pool in self._core.registry.pools:
                unknown[pool].add(name)
            with cores.isolated('The source of health "%s"', name):
                try:
                    sick = source.sick(everything)
                except base.Unreachable as error:
                    self._log_silent(name, error)
                    continue
                self._silent.discard(name)
                findings = {**{key: health.Finding(name, why) for key, why in sick.items()},
                            **findings}
                for pool in self._core.registry.pools:
                    unknown[pool].discard(name)
        return findings, unknown

    def _log_silent(self, name, error):
        log_it = LOG.debug if name in self._silent else LOG.warning
        log_it('The source of health "%s" does not answer: %s', name, error)
        self._silent.add(name)


class Listener:
    """Listener for Nova's notifications of services that changed: it looks at once.

    A change is believed after [health] sick_after_seconds all the same.

    :param clock: returns the present moment.
    """

    filter_rule = messaging.NotificationFilter(event_type=_SERVICE_CHANGED)

    def __init__(self, checks, clock):
        self._checks = checks
        self._clock = clock

    def info(self, context, publisher_id, event_type, payload, metadata):
        """Handle Nova's versioned notification of a service."""
        if payload.get('nova_object.data', {}).get('binary') == 'nova-compute':
            self._checks.look(self._clock())
