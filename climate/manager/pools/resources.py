# SPDX-License-Identifier: Apache-2.0
"""The use cases of enrolled resources: enrol, find, change, withdraw."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import resource_leases
from climate.db import resource_properties
from climate.db import resources
from climate.domain import property_names
from climate.domain import records
from climate.manager import core as cores
from climate.manager import owner_names
from climate.manager.energy import sleep_states
from climate.manager.health import states
from climate.manager.pools import criteria_filter
from climate.manager.pools import properties as properties_of
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class ResourceRequests:
    """The use cases of enrolled resources."""

    def __init__(self, core):
        self._core = core
        self._states = states.States(core)
        self._sleep_states = sleep_states.SleepStates(core)
        self._properties = properties_of.Properties(core)

    def enrol(self, pool, name, properties, fields=None):
        """Enrol a resource and return it; from now on, only leases can use it.

        The cloud is changed first, and the row is written last. After a crash between these steps,
        a second call completes the first one.

        :param fields: {field: value}, by the enrol schema of the pool.
        :raises ResourceKnown: the resource is already enrolled.
        :raises ResourceInUse: something runs on the resource.
        :raises ResourceNotFound: the cloud has no resource of exactly that name.
        """
        source = self._core.registry.pool(pool)
        [resource] = self._enrol(
            source, [source.identify(self._core.cloud, name, dict(fields or {}))], properties)
        return resource

    def enrol_range(self, pool, name, properties, fields=None):
        """Enrol all resources of a range, or none; return them in order.

        The parameters and errors are those of `enrol`.
        """
        source = self._core.registry.pool(pool)
        candidates = source.identify_range(self._core.cloud, name, dict(fields or {}))
        return self._enrol(source, candidates, properties)

    def _enrol(self, source, candidates, properties):
        """Enrol Founds; return the Resources."""
        properties = {key: text for key, text in properties.items() if text is not None}
        property_names.check(source, properties)
        self._refuse_enrolled(source.name, candidates)
        for candidate in candidates:
            source.admit(self._core.cloud, candidate)
        try:
            enrolled = self._add(source.name, candidates, properties)
        except engine.Duplicate:
            self._refuse_enrolled(source.name, candidates)
            raise
        self._core.notify()
        for resource in enrolled:
            LOG.info('Resource %s (%s %s): enrolled', resource.id, source.name, resource.name)
        return self._described(source.name, enrolled)

    @cores.again_after_a_race
    def _add(self, pool, candidates, properties):
        """Write the new Resources and return them."""
        # Read the clock now: the admission to the cloud may have taken long.
        now = self._core.clock()
        ids = []
        with self._core.database.writer() as connection:
            for candidate in candidates:
                resource_id = resources.add(connection, pool, candidate.name, candidate.capacity,
                                            now)
                resource_properties.set_values(connection, pool, resource_id, candidate.facts, now,
                                               fact=True)
                resource_properties.set_values(connection, pool, resource_id, properties, now)
                ids.append(resource_id)
            enrolled = resources.find(connection, pool, ids=ids)
            wakeups.wake(connection, now)
        return enrolled

    def find(self, pool, marker=None, limit=None, most_bytes=None, query=None):
        """Return the Resources of a pool in the order of their ids.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

        :param marker: the id after which to begin; None for the first page.
        :param limit: the greatest number to return; None means all.
        :param query: a ResourceQuery; None: all resources.
        :raises BadRequest: the criteria are malformed, or name an unknown property.
        """
        self._core.registry.pool(pool)
        query = query or records.ResourceQuery()
        with self._core.database.reader() as connection:
            page, end = resources.page(
                connection, pool, marker, limit, most_bytes, search=query.search,
                ids=self._meeting(connection, pool, query, marker))
            if query.with_leases:
                page = self._with_leases(connection, page)
        return self._described(pool, page) + end

    def _with_leases(self, connection, page):
        """Return Resources with the leases that have them now."""
        by_resource = resource_leases.current(
            connection, [resource.id for resource in page], self._core.clock())
        named = iter(owner_names.named(
            connection, [lease for resource in page for lease in by_resource[resource.id]]))
        return [dataclasses.replace(resource, leases=tuple(
            next(named) for _ in by_resource[resource.id])) for resource in page]

    def _meeting(self, connection, pool, query, marker):
        """Return the ids after the marker of resources that meet criteria; None: no criteria."""
        if query.criteria is None:
            return None
        return [resource.id for resource in criteria_filter.matching(
            self._core, connection, pool, query.criteria, query.hidden)
            if marker is None or resource.id > marker]

    def with_ids(self, pool, ids):
        """Return the Resources of a pool that have these ids, in the order of their ids."""
        self._core.registry.pool(pool)
        with self._core.database.reader() as connection:
            found = resources.find(connection, pool, ids)
        return self._described(pool, found)

    def get(self, pool, resource_id):
        """Return one Resource.

        :raises ResourceNotFound: the pool has no resource with that id.
        """
        self._core.registry.pool(pool)
        with self._core.database.reader() as connection:
            resource = resources.get(connection, pool, resource_id)
        return self._described(pool, [resource])[0]

    def set_power(self, pool, resource_id, awake):
        """Wake a resource, or put it to sleep; return it with its new state.

        :raises ResourceInUse: the resource cannot sleep, or a lease has it or needs it soon.
        """
        self._sleep_states.set_power(pool, resource_id, awake, self._core.clock())
        return self.get(pool, resource_id)

    def _described(self, pool, stored):
        """Return Resources of a pool with their health, maintenance windows and power states."""
        return self._sleep_states.shown(pool, self._states.described(stored, self._core.clock()))

    def update(self, pool, resource_id, properties, reservable=None, out_of_order=None):
        """Make all changes of a resource, or none if one is refused; return the resource.

        :param properties: {name: value}; None removes a property.
        :param reservable: False takes the resource out of use: it gets no new allocations, and
            leases that have it allocated get a substitute when they start. None changes nothing.
        :param out_of_order: why it is out of service; '' if it is not. None changes nothing.
        :raises ResourceNotFound: the pool has no resource with that id.
        :raises ResourceInUse: `reservable` is True, but the withdrawal of the resource was
            interrupted, and something runs on it.
        :raises PropertyInUse: a current or future reservation on the resource has the property as a
            criterion.
        """
        source = self._core.registry.pool(pool)
        property_names.check(source, properties)
        if reservable:
            self._complete(source, resource_id)
        after = self._write(pool, resource_id, properties, reservable, out_of_order)
        self._core.notify()
        return self._described(pool, [after])[0]

    @cores.again_after_a_race
    def _write(self, pool, resource_id, properties, reservable, out_of_order):
        """Write the changes of `update`; return the Resource."""
        now = self._core.clock()
        with self._core.database.writer() as connection:
            resource = resources.get(connection, pool, resource_id)
            if not resources.lock_enrolled(connection, [resource_id]):
                raise errors.ResourceNotFound(pool=pool, resource=resource_id)
            changed = {key: text for key, text in properties.items()
                       if resource.properties.get(key) != text}
            self._properties.refuse_used(connection, resource, changed, now)
            resource_properties.set_values(connection, pool, resource_id, changed, now)
            resources.touch(connection, [resource_id], now)
            if reservable not in (None, resource.reservable):
                resources.change(connection, resource_id, now, reservable=reservable)
                LOG.info('Resource %s (%s %s): %s', resource_id, pool, resource.name,
                         'in use again' if reservable else 'out of use')
            if out_of_order is not None:
                states.set_out_of_order(connection, self._core.conf, resource_id, out_of_order,
                                        now)
            wakeups.wake(connection, now)
            return resources.get(connection, pool, resource_id)

    def _complete(self, source, resource_id):
        """Repair a resource that is out of use, because its withdrawal may be incomplete."""
        with self._core.database.reader() as connection:
            resource = resources.get(connection, source.name, resource_id)
        if not resource.reservable:
            source.mend(self._core.cloud, resource)

    def _refuse_enrolled(self, pool, candidates):
        """Refuse Founds if one is already enrolled; the error names the first such resource."""
        with self._core.database.reader() as connection:
            for candidate in candidates:
                enrolled = resources.named(connection, pool, candidate.name)
                if enrolled is not None:
                    raise errors.ResourceKnown(pool=pool, resource=candidate.name,
                                               resource_id=str(enrolled.id))
