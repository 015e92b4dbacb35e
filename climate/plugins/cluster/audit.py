# SPDX-License-Identifier: Apache-2.0
"""The audit of virtual:cluster: what reservations have in the cloud, and what they should."""
import collections
import dataclasses

from climate import errors
from climate.domain import audit
from climate.plugins.cluster import created
from climate.plugins.cluster import parsing
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import host_pool
from climate.plugins.compute import node_capacity


@dataclasses.dataclass(frozen=True)
class Observed:
    """The observed state of the cloud.

    :ivar capacity: a ``capacity_audit.Observed``.
    :ivar clusters: {id: name}.
    """

    capacity: capacity_audit.Observed
    clusters: dict


def observe(conf, cloud):
    """Observe the cloud, as ``Audited.observe``."""
    return Observed(capacity_audit.observe(conf, cloud), cloud.as_service().clusters.names())


def traces(conf, observed, resource_type):
    """Return the Traces, as ``Audited.traces``."""
    return [*capacity_audit.traces(conf, observed.capacity, resource_type),
            *_of_masters(observed.capacity), *_clusters(observed)]


def lacks(conf, observed, lease, reservation, resources):
    """Return the Drifts of a reservation, as ``Audited.lacks``."""
    seen = observed.capacity
    problems = list(_of_aggregate(conf, seen, lease, reservation, resources))
    for key, some in resources.items():
        problems += _of_need(conf, seen, reservation, key, some)
    return [audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                        reservation.id) for problem in problems]


def clear(cloud, reservation_id):
    """Remove what an ended reservation left, unless its cluster or its servers still exist.

    :raises StillBusy: they do; nothing that they need was removed.
    """
    services = cloud.as_service()
    name = created.name_of(reservation_id)
    left = sorted(each for each, its_name in services.clusters.names().items()
                  if its_name == name)
    if left:
        # Whether somebody needs what runs there, only its owners know.
        raise errors.StillBusy.plain('Magnum', (
            f'an audit deletes no clusters, and these are there: {", ".join(left)}. Delete them.'))
    for key in created.KEYS:
        found = services.flavors.servers(node_capacity.flavor_id(reservation_id, key))
        if found:
            raise errors.StillBusy.plain('Nova', (
                f'servers of reservation {reservation_id} are there yet ({len(found)}).'))
    node_capacity.remove(services, reservation_id, created.KEYS)


def _clusters(observed):
    for name in observed.clusters.values():
        reservation_id = name.removeprefix(created.NAME_PREFIX)
        if name != reservation_id and audit.is_id(reservation_id):
            yield audit.Trace(reservation_id, 'cluster', name)


def _of_masters(seen):
    """Yield the Traces of the second flavor and the second class of a reservation."""
    suffix = f'-{parsing.MASTERS}'
    for each in seen.flavors:
        made_for = each.id.removesuffix(suffix)
        if made_for != each.id and audit.is_id(made_for) and (
                each.name == node_capacity.flavor_name(made_for, parsing.MASTERS)):
            yield audit.Trace(made_for, 'flavor', each.id)
    suffix = f'_{parsing.MASTERS.upper()}'
    for name in seen.classes:
        made_for = name.removesuffix(suffix).removeprefix(capacity.CLASS_PREFIX).lower().replace(
            '_', '-')
        if audit.is_id(made_for) and name == node_capacity.class_name(made_for, parsing.MASTERS):
            yield audit.Trace(made_for, 'resource class', name)


def _of_aggregate(conf, seen, lease, reservation, resources):
    found = aggregates.named(seen.aggregates, reservation.id)
    if found is None:
        yield 'its aggregate is missing'
        return
    hosts = {each.facts['service_name'] for some in resources.values() for each in some}
    for host in sorted(hosts - set(found.hosts)):
        yield f'{host} is not in its aggregate'
    for key, text in capacity.marks(conf, lease, reservation.id).items():
        if found.metadata.get(key) != text:
            yield f'its aggregate has not {key}={text}'


def _of_need(conf, seen, reservation, need, resources):
    flavor_id = node_capacity.flavor_id(reservation.id, need)
    found = next((each for each in seen.flavors if each.id == flavor_id), None)
    if found is None:
        yield f'its flavor for {need} is missing'
    else:
        for key, text in node_capacity.ties(reservation.id, need).items():
            if found.extra_specs.get(key) != text:
                yield f'its flavor for {need} has not {key}={text}'
    resource_class = node_capacity.class_name(reservation.id, need)
    if resource_class not in seen.classes:
        yield f'its resource class {resource_class} is missing'
    slots = collections.Counter(reservation.allocated[need])
    for resource in resources:
        child = host_pool.child_name(conf, resource.name)
        has = seen.children.get(child, {}).get(resource_class, {}).get('total', 0)
        if has != slots[resource.id]:
            yield f'it has {has} slots for {need} on {child}, not {slots[resource.id]}'
