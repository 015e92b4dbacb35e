# SPDX-License-Identifier: Apache-2.0
"""What reservations of room for instances have in the cloud, and what they should have."""
import collections

from climate.domain import audit
from climate.plugins import pools
from climate.plugins import room


def traces(conf, picture, resource_type):
    """As ``Audited.traces``; the type signs for all that lease room."""
    return [*_aggregates(conf, picture, resource_type), *_flavors(picture), *_groups(picture),
            *_classes(picture), *_slots(picture, resource_type)]


def lacks(conf, picture, lease, reservation, resources):
    """As ``Audited.lacks``."""
    slots = collections.Counter(reservation.resource_ids)
    problems = [*_of_aggregate(conf, picture, lease, reservation, resources),
                *_of_flavor(picture, reservation),
                *_of_slots(conf, picture, reservation,
                           {resource.name: slots[resource.id] for resource in resources})]
    group_id = reservation.binding.get('server_group_id')
    if group_id is not None and group_id not in {each.id for each in picture.groups}:
        problems.append('its server group is missing')
    return [audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                        reservation.id) for problem in problems]


def _aggregates(conf, picture, resource_type):
    for each in picture.aggregates:
        if audit.is_id(each.name):
            mine = (each.metadata.get('reservation') == each.name
                    and conf.nova.aggregate_owner_key in each.metadata)
            yield audit.Trace(each.name, 'aggregate', each.name,
                              signed_by=resource_type if mine else None)


def _flavors(picture):
    for each in picture.flavors:
        if audit.is_id(each.id) and each.name == room.name_of(each.id):
            yield audit.Trace(each.id, 'flavor', each.id)


def _groups(picture):
    for name in (each.name for each in picture.groups):
        reservation_id = name.removeprefix(room.NAME_PREFIX)
        if name != reservation_id and audit.is_id(reservation_id):
            yield audit.Trace(reservation_id, 'server group', name)


def _classes(picture):
    for name in picture.classes:
        reservation_id = _reservation_of(name)
        if reservation_id is not None:
            yield audit.Trace(reservation_id, 'resource class', name)


def _slots(picture, resource_type):
    for child, inventory in picture.children.items():
        for reservation_id in filter(None, map(_reservation_of, inventory)):
            # Nobody else puts anything into Climate's own providers.
            yield audit.Trace(reservation_id, 'slots on', child, signed_by=resource_type)


def _reservation_of(resource_class):
    """The id of the reservation that has a resource class, or None."""
    found = resource_class.removeprefix(room.CLASS_PREFIX).lower().replace('_', '-')
    return found if audit.is_id(found) and room.class_name(found) == resource_class else None


def _of_aggregate(conf, picture, lease, reservation, resources):
    found = picture.aggregate(reservation.id)
    if found is None:
        yield 'its aggregate is missing'
        return
    for resource in resources:
        if resource.facts['service_name'] not in found.hosts:
            yield f'{resource.facts["service_name"]} is not in its aggregate'
    for key, text in room.marks(conf, lease, reservation.id).items():
        if found.metadata.get(key) != text:
            yield f'its aggregate has not {key}={text}'


def _of_flavor(picture, reservation):
    found = next((each for each in picture.flavors if each.id == reservation.id), None)
    if found is None:
        yield 'its flavor is missing'
        return
    for key, text in room.ties(reservation.id).items():
        if found.extra_specs.get(key) != text:
            yield f'its flavor has not {key}={text}'


def _of_slots(conf, picture, reservation, slots):
    resource_class = room.class_name(reservation.id)
    if resource_class not in picture.classes:
        yield f'its resource class {resource_class} is missing'
    for name, count in sorted(slots.items()):
        child = pools.child_name(conf, name)
        has = picture.children.get(child, {}).get(resource_class, {}).get('total', 0)
        if has != count:
            yield f'it has {has} slots on {child}, not {count}'
