# SPDX-License-Identifier: Apache-2.0
"""Instance capacity: slots on hosts, which a private flavor named after the reservation uses.

Each reservation has a resource class of its own in Placement, and one slot is one unit of it. Only
the private flavor requests that class. So Placement admits exactly as many servers of that flavor
to each host as there are slots, and no other servers to the slots.
"""
import collections

from oslo_log import log

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import requirement
from climate.domain import selection
from climate.domain import texts
from climate.plugins import base
from climate.plugins.compute import aggregates
from climate.plugins.compute import host_pool
from climate.plugins.compute import told

LOG = log.getLogger(__name__)

AMOUNT = {'description': 'How many instances.', 'type': 'integer', 'minimum': 1,
          'maximum': 1000000}
AFFINITY = {
    'description': 'true: all on one host; false: each on another; null: anywhere.',
    'type': ['boolean', 'null'],
}
_SPREADS = {True: selection.Spread.TOGETHER, False: selection.Spread.APART,
            None: selection.Spread.ANY}
_WHERE = {True: ' on one host', False: ', each on another host', None: ''}
_POLICIES = {True: 'affinity', False: 'anti-affinity'}
_RESERVED = 'aggregate_instance_extra_specs:reservation'
CLASS_PREFIX = 'CUSTOM_RESERVATION_'
NAME_PREFIX = 'reservation:'


def need(request, units, criteria, called):
    """Return the Need for the requested amount of instances on hosts that meet the criteria.

    :param units: {resource class of Placement: how much one instance takes}.
    :param called: one instance in the words of a user.
    """
    units = {name: count for name, count in units.items() if count > 0}
    limits = [requirement.Leaf('>=', f'max_unit:{name}', count)
              for name, count in sorted(units.items())]
    demand = selection.Demand(amount=units, at_least=request['amount'], at_most=request['amount'],
                              spread=_SPREADS[request.get('affinity')])
    return base.Need(host_pool.NEED, host_pool.HostPool.name, demand,
                     requirement.conjunction(criteria, *limits),
                     called=called + _WHERE[request.get('affinity')])


def refuse_while_it_runs(before, request, names):
    """Refuse a change of these fields, unless the reservation is still pending.

    :raises Conflict: the value of one of the fields would change.
    """
    if before is None or before.state == lifecycle.RESERVATION_PENDING:
        return
    changed = [name for name in names if request.get(name) != before.request.get(name)]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: cannot change while the reservation is {before.state}. '
            'The amount and the dates can; for anything else make another lease.'))


def start(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """Let the project boot as many servers on each of the resources as it has slots there.

    :param sizes: the sizes of the private flavor, as ``flavors.ensure`` takes them.
    :param extra_specs: the extra specs of that flavor, without those that tie it to the
        reservation.
    :returns: the binding.
    """
    services = cloud.as_service()
    if cloud.attempt.is_first and _is_staged(conf, cloud, lease, reservation, sizes, extra_specs):
        return _open(conf, services, lease, reservation, resources)
    aggregate, binding = _build(conf, cloud, lease, reservation, resources, sizes, extra_specs)
    slots = collections.Counter(reservation.allocated[host_pool.NEED])
    _take_back(conf, cloud, lease, reservation, aggregate, {
        resource.facts['service_name']: slots[resource.id] for resource in resources})
    services.flavors.allow(reservation.id, lease.project_id)
    if binding['server_group_id'] is not None and not was_started(reservation):
        # A change of the affinity that was interrupted may have left another server group.
        services.flavors.delete_groups(name_of(reservation.id), but=binding['server_group_id'])
    return binding


def stage(conf, cloud, lease, reservation, sizes, extra_specs):
    """Make what `start` makes, without what lets the project boot servers; returns the binding.

    The parameters are those of `start`. The aggregate has no hosts, and nobody may use the flavor.
    """
    services = cloud.as_service()
    specs, metadata, group_id = _described(conf, cloud, lease, reservation, extra_specs)
    aggregate = services.nova.ensure_aggregate(reservation.id, metadata=metadata)
    services.placement.ensure_class(class_name(reservation.id))
    services.flavors.ensure(reservation.id, name_of(reservation.id), sizes, specs, exactly=True)
    group = {} if group_id is None else {'server_group_id': group_id}
    return {**reservation.binding, **group, records.STAGED: {
        'aggregate_id': aggregate.id, 'sizes': sizes, 'extra_specs': specs, 'metadata': metadata}}


def _is_staged(conf, cloud, lease, reservation, sizes, extra_specs):
    """Return whether `stage` has made exactly what this start needs."""
    staged = reservation.binding.get(records.STAGED)
    if staged is None:
        return False
    specs, metadata, _ = _described(conf, cloud, lease, reservation, extra_specs)
    return (staged['sizes'], staged['extra_specs'], staged['metadata']) == (sizes, specs, metadata)


def _open(conf, services, lease, reservation, resources):
    """Let the project use what was staged; returns the binding."""
    aggregate_id = reservation.binding[records.STAGED]['aggregate_id']
    services.nova.add_hosts(
        services.nova.empty_aggregate(aggregate_id, reservation.id),
        [resource.facts['service_name'] for resource in resources], alone=True)
    _set_slots(conf, services, reservation, resources)
    services.flavors.allow(reservation.id, lease.project_id)
    return {'flavor_id': reservation.id, 'aggregate_id': aggregate_id,
            'server_group_id': reservation.binding.get('server_group_id')}


def complete(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """Make all that is missing, as `start` does, but take nothing back; returns the binding."""
    _, binding = _build(conf, cloud, lease, reservation, resources, sizes, extra_specs)
    cloud.as_service().flavors.allow(reservation.id, lease.project_id)
    return binding


def _build(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """Make all that is missing; returns (the aggregate as it was found, the binding)."""
    services = cloud.as_service()
    specs, metadata, group_id = _described(conf, cloud, lease, reservation, extra_specs)
    aggregate = services.nova.ensure_aggregate(reservation.id)
    services.nova.add_hosts(aggregate,
                            [resource.facts['service_name'] for resource in resources])
    # The metadata is set after the hosts were added, and every time. When several hosts are added
    # at once, Nova tells its scheduler of some of them only. When the metadata changes, it sends
    # the whole aggregate.
    services.nova.set_aggregate_metadata(aggregate, metadata)
    services.placement.ensure_class(class_name(reservation.id))
    _set_slots(conf, services, reservation, resources)
    services.flavors.ensure(reservation.id, name_of(reservation.id), sizes, specs,
                            exactly=not was_started(reservation))
    return aggregate, {'flavor_id': reservation.id, 'aggregate_id': aggregate.id,
                       'server_group_id': group_id}


def _described(conf, cloud, lease, reservation, extra_specs):
    """Return (extra specs of the flavor, metadata of the aggregate, id of the server group)."""
    specs = {**extra_specs, **ties(reservation.id)}
    group_id = _group(cloud, reservation)
    if group_id is not None:
        specs['affinity_id'] = group_id
    # None removes what was there for an earlier request.
    return specs, {**marks(conf, lease, reservation.id), 'affinity_id': group_id}, group_id


def _set_slots(conf, services, reservation, resources):
    slots = collections.Counter(reservation.allocated[host_pool.NEED])
    for resource in resources:
        services.placement.set_slots(host_pool.child_name(conf, resource.name),
                                     class_name(reservation.id), slots[resource.id])


def _group(cloud, reservation):
    """Return the id of the reservation's server group, made again if it is gone.

    None if the request has no affinity.
    """
    policy = _POLICIES.get(reservation.request.get('affinity'))
    if policy is None:
        return None
    group_id = reservation.binding.get('server_group_id')
    if group_id is not None and cloud.as_service().flavors.has_group(group_id):
        return group_id
    return cloud.as_user().flavors.ensure_group(name_of(reservation.id), policy)


def needs_owner(request):
    """Answer ``ResourcePlugin.needs_owner``: only an affinity needs the owner."""
    if _POLICIES.get(request.get('affinity')) is None:
        return None
    return 'affinity', 'the server group that it asks for is created in your project, as you'


def creates_early(request):
    """Answer ``CreatesEarly.creates_early``: True if the request has an affinity."""
    return _POLICIES.get(request.get('affinity')) is not None


def create_early(cloud, reservation, before=None):
    """Create the server group, which clients name when they boot; returns the binding."""
    policy = _POLICIES[reservation.request['affinity']]
    if (before is not None and before.binding.get('server_group_id') is not None
            and before.request['affinity'] == reservation.request['affinity']):
        return dict(before.binding)
    # Always a new group: no other reservation can use it, so it can be deleted without a check.
    return {'server_group_id': cloud.as_user().flavors.create_group(
        name_of(reservation.id), policy)}


def delete_early(cloud, reservation_id, binding=None):
    """Delete the server group in the binding; without a binding, all groups of the reservation."""
    flavors = cloud.as_service().flavors
    if binding is None:
        flavors.delete_groups(name_of(reservation_id))
    elif binding.get('server_group_id') is not None:
        flavors.delete_group(binding['server_group_id'])


def was_started(reservation):
    """Answer ``CreatesEarly.was_started``: True if `start` has made the aggregate."""
    return reservation.binding.get('aggregate_id') is not None


def fields(reservation):
    """Return the fields of a reservation in answers, whether it was started or not."""
    made = {name: value for name, value in reservation.binding.items() if name != records.STAGED}
    return {**reservation.request, 'flavor_id': reservation.id, 'aggregate_id': None,
            'server_group_id': None, **made}


def _take_back(conf, cloud, lease, reservation, aggregate, slots):
    """Take back the hosts and the slots that the reservation does not have any more.

    :param slots: {service host: how many servers it may have}.
    :raises StillBusy: servers that have no slot any more are being deleted.
    """
    lost = sorted(set(aggregate.hosts) - set(slots))
    if not lost and not was_started(reservation):
        return
    services = cloud.as_service()
    excess, left = [], collections.Counter(slots)
    # The oldest servers keep their places.
    for server in services.flavors.servers(reservation.id):
        if server.host is not None:
            left[server.host] -= 1
            if left[server.host] < 0:
                excess.append(server)
    delete(cloud, lease, reservation, excess)
    if lost:
        for hypervisor in services.nova.hypervisors():
            if hypervisor.service_host in lost:
                services.placement.set_slots(host_pool.child_name(conf, hypervisor.name),
                                             class_name(reservation.id), 0)
        services.nova.remove_hosts(aggregate, lost)
        LOG.info('Reservation %s: has no slots on %s any more', reservation.id, ', '.join(lost))


def delete(cloud, lease, reservation, servers):
    """Delete servers of the reservation.

    :raises StillBusy: they are being deleted; to be called again in a moment.
    """
    cloud.announce(told.DELETE, told.servers(
        [each for each in servers if each.task != 'deleting'], lease.project_id))
    for server in servers:
        cloud.as_service().nova.delete_server(server.id)
    if servers:
        raise errors.StillBusy.plain('Nova', texts.counted(
            len(servers), f'server of reservation {reservation.id} is being deleted.',
            f'servers of reservation {reservation.id} are being deleted.'))


def ties(reservation_id):
    """Return the extra specs that tie the private flavor to a reservation."""
    return {_RESERVED: reservation_id, f'resources:{class_name(reservation_id)}': '1'}


def marks(conf, lease, reservation_id):
    """Return the metadata of a reservation's aggregate, without the one for its server group."""
    return {aggregates.RESERVATION_KEY: reservation_id, 'filter_tenant_id': lease.project_id,
            conf.nova.aggregate_owner_key: lease.project_id}


def class_name(reservation_id):
    """Return the name of a reservation's resource class, of which one slot is one unit."""
    return CLASS_PREFIX + reservation_id.upper().replace('-', '_')


def name_of(reservation_id):
    """Return the name of the private flavor and of the server group of a reservation."""
    return NAME_PREFIX + reservation_id
