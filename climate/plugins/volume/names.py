# SPDX-License-Identifier: Apache-2.0
"""The volume types of a reservation, one for each back end, and their volumes."""
from climate.domain import cloud_objects

#: The extra spec of a volume type with the name of its back end; also the name of the fact.
BACKEND_SPEC = cloud_objects.BACKEND_SPEC
#: The fact with the availability zone of a back end.
ZONE = 'availability_zone'
#: The key of the reservation's id in extra specs of volume types and in metadata of volumes.
#: Cinder's scheduler ignores extra specs with the scope "climate".
MARK = 'climate:reservation'
#: Prefix of the names of the volume types of reservations.
TYPE_PREFIX = 'reservation:'


def type_name(reservation_id, resource_id):
    """Return the name of the reservation's type for the back end with that resource id."""
    return f'{TYPE_PREFIX}{reservation_id}:{resource_id}'


def specs(resource):
    """Return the extra specs of a volume type for the back end of a Resource.

    If they have no zone, Cinder uses its default zone for a volume that names none.
    """
    zone = resource.facts.get(ZONE)
    return {BACKEND_SPEC: resource.facts[BACKEND_SPEC],
            **({} if zone is None else {cloud_objects.ZONES_SPEC: zone})}


def made_for(name):
    """Return the id of the reservation in the name of a volume type, or None."""
    prefix, _, ids = name.partition(':')
    reservation_id, _, resource_id = ids.rpartition(':')
    is_own = f'{prefix}:' == TYPE_PREFIX and resource_id.isdigit()
    return (reservation_id or None) if is_own else None


def reservation_of(volume_type):
    """Return the id of the reservation for which a VolumeType was created, or None.

    If somebody renamed the type, its extra spec has the id.
    """
    return made_for(volume_type.name) or volume_type.extra_specs.get(MARK)


def types_of(volumes, reservation_id):
    """Return the sorted names of the existing volume types of a reservation.

    :param volumes: the Cinder interface, as Climate itself.
    """
    return sorted(kind.name for kind in volumes.types() if reservation_of(kind) == reservation_id)


def volumes_of(volumes, reservation_id, project_id=None, types=None):
    """Return the Volumes of the volume types of a reservation, oldest first.

    :param project_id: only volumes of this project; None: of all projects.
    :param types: the result of `types_of` if the caller has it.
    """
    if types is None:
        types = types_of(volumes, reservation_id)
    return [volume for volume in volumes.every(project_id)
            if volume.type_name in types or made_for(volume.type_name) == reservation_id]


def named(thing):
    """Return the name and the id of a Volume or an Image, as text."""
    return f'{thing.name[:80]} ({thing.id})' if thing.name else thing.id
