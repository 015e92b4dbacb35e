# SPDX-License-Identifier: Apache-2.0
"""Look at regular moments how much of each running lease is used, and write it down."""
import collections
import datetime
import functools

from climate.cloud import caching_cloud
from climate.db import bills
from climate.db import engine
from climate.db import managers
from climate.db import resources
from climate.db import use_samples
from climate.db import work_slots
from climate.domain import use
from climate.manager import core as cores
from climate.plugins import measured

_WORK = 'use samples'


class Sampler:
    """Takes one sample of the use of all running leases in each slot of time.

    The slot is claimed in the transaction that writes the samples. So a crash may lose a slot, and
    several managers never count one twice.
    """

    def __init__(self, core, owner):
        self._core = core
        self._owner = owner

    def step(self, now):
        """Take the samples of the present slot; return how many there are, None if it is done."""
        slot = use.slot_of(now, self._core.conf.idle.sample_minutes)
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
            last = work_slots.last(connection, _WORK)
        # Only the manager that has run longest asks the cloud. Two of them are harmless.
        if not eldest or (last is not None and last >= slot.begin):
            return None
        found = self._look(now)
        try:
            return self._write(slot, found)
        except engine.Duplicate:
            return None

    def _look(self, now):
        """Return {key: Use} of all that runs and is known of; each list is read only once."""
        cloud = caching_cloud.CachingCloud(self._core.cloud)
        found = {}
        for resource_type, parts in self._parts(now).items():
            plugin = self._core.registry.plugins.get(resource_type)
            if plugin is None or not plugin.measures_use:
                continue
            # A server whose use is not known has no sample, so it does not count as idle.
            for used in cores.asked(functools.partial(plugin.use, cloud), parts,
                                    f'The use of {resource_type}'):
                found |= used
        return found

    def _parts(self, now):
        """Return {resource type: the Parts of its running reservations}."""
        with self._core.database.reader() as connection:
            rows = use_samples.running(connection, now)
            known = {each.id: each for each in resources.enrolled(
                connection, {key for _, _, key, _ in rows if key is not None})}
        found = collections.defaultdict(list)
        for reservation, project_id, resource_id, copies in rows:
            # What was withdrawn meanwhile has no name by which the cloud could be asked.
            if resource_id is None or resource_id in known:
                found[reservation.resource_type].append(measured.Part(
                    reservation, project_id, known.get(resource_id), copies))
        return found

    @cores.again_after_a_race
    def _write(self, slot, found):
        samples = {key: use.sampled(each, slot) for key, each in found.items()}
        oldest = slot.hour - datetime.timedelta(days=self._core.conf.idle.keep_days)
        with self._core.database.writer() as connection:
            if not work_slots.take(connection, _WORK, slot.begin):
                return None
            use_samples.add(connection, slot.hour, samples, slot.end)
            use_samples.delete(connection, oldest, *bills.settled_samples(connection, slot.begin))
        return len(samples)
