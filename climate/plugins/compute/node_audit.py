# SPDX-License-Identifier: Apache-2.0
"""The audit of instance capacity for several flavors of one reservation: see ``node_capacity``."""
import collections
import re

from climate.domain import audit
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool
from climate.plugins.compute import node_capacity

_FLAVOR = re.compile(r'(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?P<key>[a-z0-9]+)')
_CLASS = re.compile(rf'{capacity.CLASS_PREFIX}'
                    r'(?P<id>[0-9A-F]{8}(_[0-9A-F]{4}){3}_[0-9A-F]{12})_(?P<key>[A-Z0-9]+)')


def traces(conf, observed, resource_type):
    """Return the Traces, as ``Audited.traces``.

    :param observed: a ``capacity_audit.Observed``.
    """
    return [*capacity_audit.traces(conf, observed, resource_type),
            *(audit.Trace(made_for, 'flavor', flavor_id)
              for made_for, _, flavor_id in _flavors(observed.flavors)),
            *(audit.Trace(made_for, 'resource class', name)
              for made_for, _, name in _classes(observed.classes))]


def lacks(conf, observed, lease, reservation, resources):
    """Return the Drifts of a reservation, as ``Audited.lacks``."""
    problems = list(_of_aggregate(conf, observed, lease, reservation, resources))
    for key, some in resources.items():
        problems += [*_of_flavor(observed, reservation, key),
                     *_of_slots(conf, observed, reservation, key, some)]
    return [*(audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                          reservation.id) for problem in problems),
            *aggregates.renamed(conf, observed.aggregates, reservation)]


def clear(conf, cloud, reservation_id):
    """Remove what an ended reservation left, unless servers of its flavors still exist.

    :raises StillBusy: such servers exist; nothing was removed.
    """
    services = cloud.as_service()
    found = [*_flavors(services.flavors.every()),
             *_classes(services.placement.classes())]
    keys = {host_pool.NEED, *(key for made_for, key, _ in found if made_for == reservation_id)}
    capacity_end.clear(conf, cloud, reservation_id, sorted(keys))


def _flavors(flavors):
    """Yield (reservation id, need key, flavor id) of the further flavors of reservations."""
    for each in flavors:
        found = _FLAVOR.fullmatch(each.id)
        if found is not None and each.name == node_capacity.flavor_name(found['id'], found['key']):
            yield found['id'], found['key'], each.id


def _classes(names):
    """Yield (reservation id, need key, name) of the further resource classes of reservations."""
    for name in names:
        found = _CLASS.fullmatch(name)
        if found is not None:
            yield found['id'].lower().replace('_', '-'), found['key'].lower(), name


def _of_aggregate(conf, observed, lease, reservation, resources):
    found = next(iter(aggregates.all_of(conf, observed.aggregates, reservation.id)), None)
    if found is None:
        yield 'its aggregate is missing'
        return
    hosts = {each.facts['service_name'] for some in resources.values() for each in some}
    for host in sorted(hosts - set(found.hosts)):
        yield f'{host} is not in its aggregate'
    yield from aggregates.unmarked(found, capacity.marks(conf, lease, reservation.id))


def _of_flavor(observed, reservation, key):
    flavor_id = node_capacity.flavor_id(reservation.id, key)
    found = next((each for each in observed.flavors if each.id == flavor_id), None)
    if found is None:
        yield f'its flavor {flavor_id} is missing'
        return
    for name, text in node_capacity.ties(reservation.id, key).items():
        if found.extra_specs.get(name) != text:
            yield f'its flavor {flavor_id} has not {name}={text}'


def _of_slots(conf, observed, reservation, key, resources):
    resource_class = node_capacity.class_name(reservation.id, key)
    if resource_class not in observed.classes:
        yield f'its resource class {resource_class} is missing'
    slots = collections.Counter(reservation.allocated[key])
    for resource in resources:
        child = host_pool.child_name(conf, resource.name)
        has = observed.children.get(child, {}).get(resource_class, {}).get('total', 0)
        if has != slots[resource.id]:
            yield f'it has {has} slots of {resource_class} on {child}, not {slots[resource.id]}'
