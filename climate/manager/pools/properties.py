# SPDX-License-Identifier: Apache-2.0
"""The use cases of the properties of resources, and the rules for property names."""
import unicodedata

from climate import errors
from climate.db import allocations
from climate.db import resource_properties
from climate.domain import requirement
from climate.manager import core as cores

_LONGEST_NAME = 64
# The fields of every resource in API responses. No property may have one of these names.
_OWN_NAMES = ('id', 'name', 'region', 'reservable', 'status', 'trust_id', 'created_at',
              'updated_at', 'health', 'maintenances', 'out_of_order', 'power_state', 'power_since')


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


def check_names(source, properties):
    """Refuse names that no property of a Pool may have.

    :param properties: the names of properties to set or to remove.
    :raises BadField: a name is reserved, or is not readable; the error names it.
    :raises PropertyNameTooLong: a name is too long.
    """
    reserved = {*source.capacity_names, *source.fact_names, source.name_fact, *_OWN_NAMES,
                *requirement.ALIASES}
    for name in properties:
        if len(name) > _LONGEST_NAME:
            raise errors.PropertyNameTooLong(name=name[:80], length=len(name))
        if name in reserved or name.startswith(('capabilities:', 'trait:',
                                                *source.fact_prefixes)):
            raise errors.BadField(field=name, reason=(
                f'each {source.name} has a value of this name already; choose another property '
                'name.'))
        if not name or not name.isprintable() or any(character.isspace() for character in name):
            raise errors.BadField(field=name or 'properties', reason=(
                'a property name has one or more printable characters and no spaces.'))
        if not unicodedata.is_normalized('NFC', name):
            raise errors.BadField(field=name, reason=(
                'a property name must have the composed form of Unicode (NFC), so that no two '
                f'names look the same. Write it as "{unicodedata.normalize("NFC", name)}".'))
