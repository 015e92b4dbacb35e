# SPDX-License-Identifier: Apache-2.0
"""The audit of instance capacity: the objects of reservations compared with the cloud."""
import collections
import dataclasses
import re

from climate.domain import audit
from climate.plugins import audited
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool

_FLAVOR = re.compile(r'(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(-(?P<key>[a-z0-9]+))?')
_CLASS = re.compile(rf'{capacity.CLASS_PREFIX}'
                    r'(?P<id>[0-9A-F]{8}(_[0-9A-F]{4}){3}_[0-9A-F]{12})(_(?P<key>[A-Z0-9]+))?')


@dataclasses.dataclass(frozen=True)
class ObservedCapacity:
    """The observed state of the cloud, in records of ``climate.cloud.models``.

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
    return ObservedCapacity(
        aggregates=services.nova.aggregates(), flavors=services.flavors.every(),
        groups=services.flavors.groups(), classes=services.placement.classes(),
        children=services.placement.children(conf.placement.provider_prefix))


def traces(conf, observed, resource_type):
    """Return the Traces, as ``Audited.traces``.

    :param resource_type: the value of `signed_by` in signed Traces. Any type that leases capacity
        can clear these objects.
    """
    return [*_aggregates(conf, observed, resource_type),
            *(audit.Trace(made_for, 'flavor', name)
              for made_for, _, name in _flavors(observed.flavors)),
            *_groups(observed),
            *(audit.Trace(made_for, 'resource class', name)
              for made_for, _, name in _classes(observed.classes)),
            *_slots(observed, resource_type)]


def lacks(conf, observed, lease, reservation, resources):
    """Return the Drifts of a reservation, as ``Audited.lacks``."""
    problems = list(_of_aggregate(conf, observed, lease, reservation, resources))
    for key, need_resources in resources.items():
        problems += [*_of_flavor(observed, reservation, key),
                     *_of_slots(conf, observed, reservation, key, need_resources)]
    group_id = reservation.binding.get('server_group_id')
    if group_id is not None and group_id not in {group.id for group in observed.groups}:
        problems.append('its server group is missing')
    return [*(audited.incomplete(reservation, problem) for problem in problems),
            *aggregates.renamed(conf, observed.aggregates, reservation)]


def keys_of(flavors, classes, reservation_id):
    """Return the keys of the needs for which a reservation has a private flavor or a class."""
    return {key for made_for, key, _ in (*_flavors(flavors), *_classes(classes))
            if made_for == reservation_id}


def _flavors(flavors):
    """Yield (reservation id, need key, flavor id) of the private flavors of reservations."""
    for flavor in flavors:
        match = _FLAVOR.fullmatch(flavor.id)
        if match is not None:
            key = match['key'] or host_pool.NEED
            if flavor.name == capacity.name_of(match['id'], key):
                yield match['id'], key, flavor.id


def _classes(names):
    """Yield (reservation id, need key, name) of the resource classes of reservations."""
    for name in names:
        match = _CLASS.fullmatch(name)
        if match is not None:
            key = (match['key'] or host_pool.NEED).lower()
            yield match['id'].lower().replace('_', '-'), key, name


def _aggregates(conf, observed, resource_type):
    for aggregate in observed.aggregates:
        reservation_id = aggregates.made_for(conf, aggregate)
        if reservation_id is not None:
            is_signed = (aggregate.metadata.get(aggregates.RESERVATION_KEY) == reservation_id
                         and conf.nova.aggregate_owner_key in aggregate.metadata)
            yield audit.Trace(reservation_id, 'aggregate', aggregate.name,
                              signed_by=resource_type if is_signed else None)


def _groups(observed):
    for name in (group.name for group in observed.groups):
        reservation_id = name.removeprefix(capacity.NAME_PREFIX)
        if name != reservation_id and audit.is_id(reservation_id):
            yield audit.Trace(reservation_id, 'server group', name)


def _slots(observed, resource_type):
    for child, inventory in observed.children.items():
        for reservation_id, key, _ in _classes(inventory):
            if key == host_pool.NEED:
                # Signed, because only Climate writes to its own providers.
                yield audit.Trace(reservation_id, 'slots on', child, signed_by=resource_type)


def _of_aggregate(conf, observed, lease, reservation, resources):
    aggregate = next(iter(aggregates.all_of(conf, observed.aggregates, reservation.id)), None)
    if aggregate is None:
        yield 'its aggregate is missing'
        return
    for host in sorted(capacity.service_hosts(resources) - set(aggregate.hosts)):
        yield f'{host} is not in its aggregate'
    metadata = capacity.marks(conf, lease, reservation.id)
    if reservation.binding.get('server_group_id') is not None:
        metadata['affinity_id'] = reservation.binding['server_group_id']
    yield from aggregates.unmarked(aggregate, metadata)


def _of_flavor(observed, reservation, key):
    flavor_id = capacity.flavor_id(reservation.id, key)
    flavor = next((flavor for flavor in observed.flavors if flavor.id == flavor_id), None)
    if flavor is None:
        yield f'its flavor {flavor_id} is missing'
        return
    for name, text in capacity.ties(reservation.id, key).items():
        if flavor.extra_specs.get(name) != text:
            yield f'its flavor {flavor_id} lacks {name}={text}'


def _of_slots(conf, observed, reservation, key, resources):
    resource_class = capacity.class_name(reservation.id, key)
    if resource_class not in observed.classes:
        yield f'its resource class {resource_class} is missing'
    slots = collections.Counter(reservation.allocated[key])
    for resource in sorted(resources, key=lambda resource: resource.name):
        child = host_pool.child_name(conf, resource.name)
        total = observed.children.get(child, {}).get(resource_class, {}).get('total', 0)
        if total != slots[resource.id]:
            yield (f'it has {total} slots of {resource_class} on {child}, not '
                   f'{slots[resource.id]}')
