# SPDX-License-Identifier: Apache-2.0
"""The volume types of a reservation, one for each of its back ends, and what is of these types."""
from climate.domain import cloud_objects

#: The extra spec of a volume type, and the fact, that names the back end.
BACKEND_SPEC = cloud_objects.BACKEND_SPEC
#: The fact with the availability zone of a back end, and the extra spec by which the volumes of a
#: type get it. Without it, a volume that names no zone gets the default of Cinder.
ZONE = 'availability_zone'
#: The extra spec of a volume type that has the id of its reservation, and the metadata of a volume.
#: Cinder's scheduler passes over scoped extra specs of others.
MARK = 'climate:reservation'
#: Prefix of the names of the volume types of reservations.
TYPE_PREFIX = 'reservation:'


def type_name(reservation_id, resource_id):
    """Return the name of the type that leads to the back end which is that resource."""
    return f'{TYPE_PREFIX}{reservation_id}:{resource_id}'


def specs(resource):
    """Return the extra specs of a type that leads to the back end which is that Resource."""
    zone = resource.facts.get(ZONE)
    return {BACKEND_SPEC: resource.facts[BACKEND_SPEC],
            **({} if zone is None else {cloud_objects.ZONES_SPEC: zone})}


def made_for(name):
    """Return the id of the reservation that a type was made for; None: another type."""
    prefix, _, rest = name.partition(':')
    reservation_id, _, resource_id = rest.rpartition(':')
    is_ours = f'{prefix}:' == TYPE_PREFIX and resource_id.isdigit()
    return (reservation_id or None) if is_ours else None


def reservation_of(volume_type):
    """Return the id of the reservation that a VolumeType was made for; None: another type.

    Its name says so; if somebody renamed it, its extra spec does.
    """
    return made_for(volume_type.name) or volume_type.extra_specs.get(MARK)


def types_of(volumes, reservation_id):
    """Return the names of the reservation's types that exist, sorted.

    :param volumes: the face of Cinder, as Climate itself.
    """
    return sorted(each.name for each in volumes.types() if reservation_of(each) == reservation_id)


def volumes_of(volumes, reservation_id, project_id=None, types=None):
    """Return the Volumes of the reservation's types, oldest first.

    :param project_id: only those of this project; None: of all.
    :param types: what `types_of` returned; None: ask for it.
    """
    if types is None:
        types = types_of(volumes, reservation_id)
    return [each for each in volumes.every(project_id)
            if each.type_name in types or made_for(each.type_name) == reservation_id]


def named(thing):
    """Return a Volume or an Image in words: its name and its id."""
    return f'{thing.name[:80]} ({thing.id})' if thing.name else thing.id
