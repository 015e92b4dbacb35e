# SPDX-License-Identifier: Apache-2.0
"""Room for instances: slots on hosts, reached with a private flavor called as the reservation.

Each slot is a unit of a resource class of the reservation's own, which only the private flavor asks
for. So Placement lets exactly so many servers of that flavor onto each host, and nobody else.
"""
import collections

from oslo_log import log

from climate import errors
from climate.domain import fit
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import base
from climate.plugins import pools

LOG = log.getLogger(__name__)

AMOUNT = {'description': 'How many instances.', 'type': 'integer', 'minimum': 1,
          'maximum': 1000000}
AFFINITY = {
    'description': 'true: all on one host; false: each on another; null: anywhere.',
    'type': ['boolean', 'null'],
}
_SPREADS = {True: fit.Spread.TOGETHER, False: fit.Spread.APART, None: fit.Spread.ANY}
_POLICIES = {True: 'affinity', False: 'anti-affinity'}
_WORDS = {'': None, 'none': None, 'null': None, 'true': True, 'yes': True, 'on': True,
          '1': True, 'false': False, 'no': False, 'off': False, '0': False}
_RESERVED = 'aggregate_instance_extra_specs:reservation'
CLASS_PREFIX = 'CUSTOM_RESERVATION_'
NAME_PREFIX = 'reservation:'


def lenient(request):
    """A request of REST 1.0 with its affinity as the schema wants it: "None" made null."""
    word = request.get('affinity')
    if isinstance(word, str) and word.strip().lower() in _WORDS:
        return {**request, 'affinity': _WORDS[word.strip().lower()]}
    return request


def need(request, units, criteria):
    """The Need of so many instances, each of `units`, on hosts that meet the criteria.

    :param units: {class of Placement: how much one instance takes}.
    """
    units = {name: count for name, count in units.items() if count > 0}
    limits = [requirement.Leaf('>=', f'max_unit:{name}', count)
              for name, count in sorted(units.items())]
    demand = fit.Demand(amount=units, at_least=request['amount'], at_most=request['amount'],
                        spread=_SPREADS[request.get('affinity')])
    return base.Need(pools.HostPool.name, demand, requirement.conjunction(criteria, *limits))


def refuse_while_it_runs(before, request, names):
    """Refuse other values than before of these fields, unless the reservation is still pending.

    :raises Conflict: one of them would change.
    """
    if before is None or before.state == lifecycle.RESERVATION_PENDING:
        return
    changed = [name for name in names if request[name] != before.request[name]]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: cannot change while the reservation is {before.state}. '
            'The amount and the dates can; for anything else make another lease.'))


def start(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """Let the project boot as many servers on each of the resources as it has slots there.

    :param sizes: of the private flavor, as ``flavors.ensure`` takes them.
    :param extra_specs: of that flavor, beside those that tie it to the reservation.
    :returns: the binding.
    """
    services = cloud.as_service()
    aggregate, binding = _build(conf, cloud, lease, reservation, resources, sizes, extra_specs)
    slots = collections.Counter(reservation.resource_ids)
    _take_back(conf, services, reservation, aggregate, {
        resource.facts['service_name']: slots[resource.id] for resource in resources})
    services.flavors.allow(reservation.id, lease.project_id)
    return binding


def complete(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """As `start`, but nothing is taken back."""
    _, binding = _build(conf, cloud, lease, reservation, resources, sizes, extra_specs)
    cloud.as_service().flavors.allow(reservation.id, lease.project_id)
    return binding


def _build(conf, cloud, lease, reservation, resources, sizes, extra_specs):
    """Make what is not there; returns (the aggregate as it was found, the binding)."""
    services = cloud.as_service()
    slots = collections.Counter(reservation.resource_ids)
    specs = {**extra_specs, **ties(reservation.id)}
    metadata = marks(conf, lease, reservation.id)
    group_id = None
    policy = _POLICIES.get(reservation.request.get('affinity'))
    if policy is not None:
        group_id = cloud.as_user().flavors.ensure_group(name_of(reservation.id), policy)
        specs['affinity_id'] = metadata['affinity_id'] = group_id
    aggregate = services.nova.ensure_aggregate(reservation.id)
    services.nova.add_hosts(aggregate,
                            [resource.facts['service_name'] for resource in resources])
    # After the hosts, and each time: of hosts that are added at once Nova tells its scheduler only
    # some, but with new metadata it tells it all of the aggregate.
    services.nova.set_aggregate_metadata(aggregate, metadata)
    services.placement.ensure_class(class_name(reservation.id))
    for resource in resources:
        services.placement.set_slots(pools.child_name(conf, resource.name),
                                     class_name(reservation.id), slots[resource.id])
    services.flavors.ensure(reservation.id, name_of(reservation.id), sizes, specs)
    return aggregate, {'flavor_id': reservation.id, 'aggregate_id': aggregate.id,
                       'server_group_id': group_id}


def end(cloud, lease, reservation):
    """Delete the servers of the private flavor, then all that `start` made."""
    services = cloud.as_service()
    # Nobody's from here on: no new server can be booted.
    services.flavors.forbid(reservation.id, lease.project_id)
    _delete(services, reservation, services.flavors.servers(reservation.id))
    _remove(services, reservation.id)


def clear(cloud, reservation_id):
    """Take away all that `start` made, unless servers of the private flavor are there.

    :raises StillBusy: some are; nothing was taken.
    """
    services = cloud.as_service()
    servers = services.flavors.servers(reservation_id)
    if servers:
        raise errors.StillBusy(service='Nova', reason=(
            f'servers of reservation {reservation_id} are there yet ({len(servers)}).'))
    _remove(services, reservation_id)


def fields(reservation):
    """What answers show of a reservation, made in the cloud already or not."""
    return {**reservation.request, 'flavor_id': reservation.id, 'aggregate_id': None,
            'server_group_id': None, **reservation.binding}


def _take_back(conf, services, reservation, aggregate, slots):
    """Take back the hosts and the slots that the reservation has no more.

    :param slots: {service host: how many servers it may have}.
    :raises StillBusy: servers that have no slot any more are being deleted.
    """
    lost = sorted(set(aggregate.hosts) - set(slots))
    if not lost and not reservation.binding:
        return
    excess, room = [], collections.Counter(slots)
    # The oldest servers keep their places.
    for server in services.flavors.servers(reservation.id):
        if server.host is not None:
            room[server.host] -= 1
            if room[server.host] < 0:
                excess.append(server)
    _delete(services, reservation, excess)
    if lost:
        for hypervisor in services.nova.hypervisors():
            if hypervisor.service_host in lost:
                services.placement.set_slots(pools.child_name(conf, hypervisor.name),
                                             class_name(reservation.id), 0)
        services.nova.remove_hosts(aggregate, lost)
        LOG.info('Reservation %s: has no room on %s any more', reservation.id, ', '.join(lost))


def _remove(services, reservation_id):
    # The class first: Placement keeps it where a server has come in after all.
    services.placement.delete_class(class_name(reservation_id))
    services.flavors.delete(reservation_id)
    aggregate = services.nova.aggregate(reservation_id)
    if aggregate is not None:
        services.nova.remove_hosts(aggregate, list(aggregate.hosts))
        services.nova.delete_aggregate(aggregate)
    services.flavors.delete_groups(name_of(reservation_id))


def _delete(services, reservation, servers):
    for server in servers:
        services.nova.delete_server(server.id)
    if servers:
        raise errors.StillBusy(service='Nova', reason=(
            f'{len(servers)} servers of reservation {reservation.id} are being deleted.'))


def ties(reservation_id):
    """The extra specs by which the private flavor belongs to a reservation."""
    return {_RESERVED: reservation_id, f'resources:{class_name(reservation_id)}': '1'}


def marks(conf, lease, reservation_id):
    """The metadata of the aggregate of a reservation, but for its server group."""
    return {'reservation': reservation_id, 'filter_tenant_id': lease.project_id,
            conf.nova.aggregate_owner_key: lease.project_id}


def class_name(reservation_id):
    """The resource class of which each slot of a reservation is a unit."""
    return CLASS_PREFIX + reservation_id.upper().replace('-', '_')


def name_of(reservation_id):
    """What the private flavor and the server group of a reservation are called."""
    return NAME_PREFIX + reservation_id
