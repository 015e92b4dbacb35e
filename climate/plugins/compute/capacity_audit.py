# SPDX-License-Identifier: Apache-2.0
"""The audit of instance capacity: what reservations have in the cloud, and what they should."""
import collections
import dataclasses

from climate.domain import audit
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is observed of the cloud; records as ``climate.cloud.models``.

    :ivar classes: the names of the resource classes of Placement.
    :ivar children: {name of a child provider of Climate: its inventory}.
    """

    aggregates: list
    flavors: list
    groups: list
    classes: frozenset
    children: dict


def observe(conf, cloud):
    """Observe the cloud, as ``Audited.observe``."""
    services = cloud.as_service()
    return Observed(aggregates=services.nova.aggregates(), flavors=services.flavors.every(),
                    groups=services.flavors.groups(), classes=services.placement.classes(),
                    children=services.placement.children(conf.placement.provider_prefix))


def traces(conf, observed, resource_type):
    """Return the Traces, as ``Audited.traces``; one type signs for all that lease capacity."""
    return [*_aggregates(conf, observed, resource_type), *_flavors(observed), *_groups(observed),
            *_classes(observed), *_slots(observed, resource_type)]


def lacks(conf, observed, lease, reservation, resources):
    """Return the Drifts of a reservation, as ``Audited.lacks``."""
    slots = collections.Counter(reservation.allocated[host_pool.NEED])
    problems = [*_of_aggregate(conf, observed, lease, reservation, resources),
                *_of_flavor(observed, reservation),
                *_of_slots(conf, observed, reservation,
                           {resource.name: slots[resource.id] for resource in resources})]
    group_id = reservation.binding.get('server_group_id')
    if group_id is not None and group_id not in {each.id for each in observed.groups}:
        problems.append('its server group is missing')
    return [*(audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                          reservation.id) for problem in problems),
            *aggregates.renamed(conf, observed.aggregates, reservation)]


def _aggregates(conf, observed, resource_type):
    for each in observed.aggregates:
        key = aggregates.made_for(conf, each)
        if key is not None:
            mine = (each.metadata.get(aggregates.RESERVATION_KEY) == key
                    and conf.nova.aggregate_owner_key in each.metadata)
            yield audit.Trace(key, 'aggregate', each.name,
                              signed_by=resource_type if mine else None)


def _flavors(observed):
    for each in observed.flavors:
        if audit.is_id(each.id) and each.name == capacity.name_of(each.id):
            yield audit.Trace(each.id, 'flavor', each.id)


def _groups(observed):
    for name in (each.name for each in observed.groups):
        reservation_id = name.removeprefix(capacity.NAME_PREFIX)
        if name != reservation_id and audit.is_id(reservation_id):
            yield audit.Trace(reservation_id, 'server group', name)


def _classes(observed):
    for name in observed.classes:
        reservation_id = _reservation_of(name)
        if reservation_id is not None:
            yield audit.Trace(reservation_id, 'resource class', name)


def _slots(observed, resource_type):
    for child, inventory in observed.children.items():
        for reservation_id in filter(None, map(_reservation_of, inventory)):
            # Only Climate writes to its own providers.
            yield audit.Trace(reservation_id, 'slots on', child, signed_by=resource_type)


def _reservation_of(resource_class):
    """Return the id of the reservation that has a resource class, or None."""
    found = resource_class.removeprefix(capacity.CLASS_PREFIX).lower().replace('_', '-')
    return found if audit.is_id(found) and capacity.class_name(found) == resource_class else None


def _of_aggregate(conf, observed, lease, reservation, resources):
    found = next(iter(aggregates.all_of(conf, observed.aggregates, reservation.id)), None)
    if found is None:
        yield 'its aggregate is missing'
        return
    for resource in resources:
        if resource.facts['service_name'] not in found.hosts:
            yield f'{resource.facts["service_name"]} is not in its aggregate'
    metadata = capacity.marks(conf, lease, reservation.id)
    if reservation.binding.get('server_group_id') is not None:
        metadata['affinity_id'] = reservation.binding['server_group_id']
    yield from aggregates.unmarked(found, metadata)


def _of_flavor(observed, reservation):
    found = next((each for each in observed.flavors if each.id == reservation.id), None)
    if found is None:
        yield 'its flavor is missing'
        return
    for key, text in capacity.ties(reservation.id).items():
        if found.extra_specs.get(key) != text:
            yield f'its flavor has not {key}={text}'


def _of_slots(conf, observed, reservation, slots):
    resource_class = capacity.class_name(reservation.id)
    if resource_class not in observed.classes:
        yield f'its resource class {resource_class} is missing'
    for name, count in sorted(slots.items()):
        child = host_pool.child_name(conf, name)
        has = observed.children.get(child, {}).get(resource_class, {}).get('total', 0)
        if has != count:
            yield f'it has {has} slots on {child}, not {count}'
