# SPDX-License-Identifier: Apache-2.0
"""The names of the volume types of a reservation, one for each back end, and their volumes."""
from climate.domain import cloud_objects

#: The extra spec of a volume type, and the fact, that names the back end.
BACKEND_SPEC = cloud_objects.BACKEND_SPEC
#: The fact with the availability zone of a back end, and the extra spec by which the volumes of a
#: type get it. Without it, a volume that names no zone gets the default of Cinder.
ZONE = 'availability_zone'
#: The extra spec of a volume type, and the metadata of a volume, with the id of the reservation.
#: Cinder's scheduler ignores extra specs with a foreign scope.
MARK = 'climate:reservation'
#: Prefix of the names of the volume types of reservations.
TYPE_PREFIX = 'reservation:'


def type_name(reservation_id, resource_id):
    """Return the name of the reservation's type for the back end with that resource id."""
    return f'{TYPE_PREFIX}{reservation_id}:{resource_id}'


def specs(resource):
    """Return the extra specs of a type for the back end of a Resource."""
    zone = resource.facts.get(ZONE)
    return {BACKEND_SPEC: resource.facts[BACKEND_SPEC],
            **({} if zone is None else {cloud_objects.ZONES_SPEC: zone})}


def made_for(name):
    """Return the id of the reservation that a type was made for; None: another type."""
    prefix, _, rest = name.partition(':')
    reservation_id, _, resource_id = rest.rpartition(':')
    is_own = f'{prefix}:' == TYPE_PREFIX and resource_id.isdigit()
    return (reservation_id or None) if is_own else None


def reservation_of(volume_type):
    """Return the id of the reservation that a VolumeType was made for; None: another type.

    The name has the id, or, if somebody renamed the type, its extra spec.
    """
    return made_for(volume_type.name) or volume_type.extra_specs.get(MARK)


def types_of(volumes, reservation_id):
    """Return the names of the reservation's types that exist, sorted.

    :param volumes: the Cinder interface, as Climate itself.
    """
    return sorted(kind.name for kind in volumes.types() if reservation_of(kind) == reservation_id)


def volumes_of(volumes, reservation_id, project_id=None, types=None):
    """Return the Volumes of the reservation's types, oldest first.

    :param project_id: only those of this project; None: of all.
    :param types: the result of `types_of`; None: call it.
    """
    if types is None:
        types = types_of(volumes, reservation_id)
    return [volume for volume in volumes.every(project_id)
            if volume.type_name in types or made_for(volume.type_name) == reservation_id]


def named(thing):
    """Return the name and the id of a Volume or an Image, as text."""
    return f'{thing.name[:80]} ({thing.id})' if thing.name else thing.id
