# SPDX-License-Identifier: Apache-2.0
"""Sample at regular intervals how much of each running lease is used."""
import collections
import datetime
import functools

from climate.cloud import caching_cloud
from climate.db import bills
from climate.db import engine
from climate.db import managers
from climate.db import resources
from climate.db import use_samples
from climate.domain import use_sampling
from climate.manager import core as cores
from climate.plugins import measured

_WORK = 'use samples'


class Sampler:
    """Takes one sample of the use of all running leases in each time slot.

    The transaction that writes the samples also claims the slot. So a crash may lose a slot, but no
    slot is counted twice.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner

    def step(self, now):
        """Take the samples of the current slot, unless they exist; return their number or None."""
        slot = use_sampling.slot_of(now, self._core.conf.idle.sample_minutes)
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
            last = managers.last_slot(connection, _WORK)
        # Only the manager that has run longest asks the cloud. Two such managers are harmless.
        if not eldest or (last is not None and last >= slot.begin):
            return None
        try:
            return self._write(slot, self._measured(now))
        except engine.Duplicate:
            return None

    def _measured(self, now):
        """Return {key: Use} of the running leases; each list of the cloud is read only once."""
        cloud = caching_cloud.CachingCloud(self._core.cloud)
        uses = {}
        for resource_type, parts in self._parts(now).items():
            plugin = self._core.registry.plugins.get(resource_type)
            if plugin is None or not plugin.measures_use:
                continue
            # A part whose use is unknown has no sample, so it does not count as idle.
            for use_of in cores.ask_together_or_each(
                    functools.partial(plugin.use, cloud), parts, f'The use of {resource_type}'):
                uses |= use_of
        return uses

    def _parts(self, now):
        """Return {resource type: the MeasuredParts of its running reservations}."""
        with self._core.database.reader() as connection:
            rows = use_samples.running(connection, now)
            resource_of = {resource.id: resource for resource in resources.enrolled(
                connection, {key for _, _, key, _ in rows if key is not None})}
        parts = collections.defaultdict(list)
        for reservation, project_id, resource_id, copies in rows:
            # The name of a resource that was withdrawn meanwhile is not known.
            if resource_id is None or resource_id in resource_of:
                parts[reservation.resource_type].append(measured.MeasuredPart(
                    reservation, project_id, resource_of.get(resource_id), copies))
        return parts

    @cores.again_after_a_race
    def _write(self, slot, uses):
        samples = {key: use_sampling.sampled(measurement, slot)
                   for key, measurement in uses.items()}
        oldest = slot.hour - datetime.timedelta(days=self._core.conf.idle.keep_days)
        with self._core.database.writer() as connection:
            if not managers.take_slot(connection, _WORK, slot.begin):
                return None
            use_samples.add(connection, slot.hour, samples, slot.end)
            use_samples.delete(connection, oldest, *bills.settled_samples(connection, slot.begin))
        return len(samples)
