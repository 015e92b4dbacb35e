# SPDX-License-Identifier: Apache-2.0
"""The use cases of the properties of resources."""
import unicodedata

from climate import errors
from climate.db import allocations
from climate.db import resource_properties
from climate.domain import requirement
from climate.manager import core as cores


class Properties:
    """The use cases of the properties of a pool."""

    def __init__(self, core):
        self._core = core

    def find(self, pool):
        """Return the Property records of a pool, also private ones, ordered by name."""
        self._core.registry.pool(pool)
        with self._core.database.reader() as connection:
            return resource_properties.find(connection, pool)

    @cores.again_after_a_race
    def set_private(self, pool, name, private):
        """Show a property to admins only, or to everybody; return the Property.

        :raises PropertyNotFound: no resource of the pool has such a property.
        """
        self._core.registry.pool(pool)
        now, name = self._core.clock(), unicodedata.normalize('NFC', name)
        with self._core.database.writer() as connection:
            stored = resource_properties.named(connection, pool, name)
            if stored is None:
                raise errors.PropertyNotFound(pool=pool, name=name)
            resource_properties.set_private(connection, stored.id, private, now)
            return resource_properties.named(connection, pool, name)

    def refuse_used(self, connection, resource, changed, now):
        """Refuse to change properties of a Resource on which a reservation depends.

        :param changed: the names of the properties.
        :raises PropertyInUse: a current or future reservation on the resource has one of them as a
            criterion.
        """
        for reservation_id, kind, request in allocations.requests_on(connection, resource.id,
                                                                     now):
            for need in self._core.registry.plugin(kind).needs(request):
                used = requirement.names(need.requirement) & set(changed)
                if need.pool == resource.pool and used:
                    raise errors.PropertyInUse(name=min(used), pool=resource.pool,
                                               resource=resource.name,
                                               reservation_id=reservation_id)
