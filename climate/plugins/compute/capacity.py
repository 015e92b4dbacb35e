# SPDX-License-Identifier: Apache-2.0
"""Instance capacity: slots on hosts for servers with the private flavors of a reservation.

Each need of a reservation has its own resource class in Placement, and one slot is one unit of the
class. Only the private flavor of the need requests the class. So Placement admits exactly as many
servers of that flavor to a host as the host has slots, and no other server can use a slot. All
hosts of a reservation are in one aggregate.
"""
import collections
import dataclasses
from typing import Any

from oslo_log import log

from climate import errors
from climate.domain import requirement
from climate.domain import selection
from climate.domain import shares
from climate.domain import texts
from climate.plugins import base
from climate.plugins.compute import aggregates
from climate.plugins.compute import host_pool
from climate.plugins.compute import server_history
from climate.plugins.compute import use

LOG = log.getLogger(__name__)

AMOUNT = {'description': 'The number of instances.', 'type': 'integer', 'minimum': 1,
          'maximum': 1000000}
AFFINITY = {
    'description': 'true: all on one host; false: each on a different host; null: on any hosts.',
    'type': ['boolean', 'null'],
}
#: The key of the need for the workers of a cluster.
WORKERS = 'workers'
# The needs whose flavor has the id of the reservation itself.
_FIRST = (host_pool.NEED, WORKERS)
_SPREADS = {True: selection.Spread.TOGETHER, False: selection.Spread.APART,
            None: selection.Spread.ANY}
_WHERE = {True: ' on one host', False: ', each on another host', None: ''}
CLASS_PREFIX = 'CUSTOM_RESERVATION_'
NAME_PREFIX = 'reservation:'


def need(request, units, criteria, called, key=host_pool.NEED):
    """Return the Need for the requested amount of instances on hosts that meet the criteria.

    :param units: {resource class of Placement: units of one instance}.
    :param called: one instance, in words for users.
    """
    units = {name: count for name, count in units.items() if count > 0}
    limits = [requirement.Leaf('>=', f'max_unit:{name}', count)
              for name, count in sorted(units.items())]
    demand = selection.Demand(amount=units, at_least=request['amount'], at_most=request['amount'],
                              spread=_SPREADS[request.get('affinity')])
    return base.Need(key, host_pool.HostPool.name, demand,
                     requirement.conjunction(criteria, *limits),
                     called=called + _WHERE[request.get('affinity')])


def flavor_id(reservation_id, key=host_pool.NEED):
    """Return the id of the private flavor for a need of a reservation."""
    return reservation_id if key in _FIRST else f'{reservation_id}-{key}'


def name_of(reservation_id, key=host_pool.NEED):
    """Return the name of the private flavor for a need, and of the server group."""
    name = NAME_PREFIX + reservation_id
    return name if key in _FIRST else f'{name}:{key}'


def class_name(reservation_id, key=host_pool.NEED):
    """Return the name of the resource class for a need; one slot is one unit of the class."""
    name = CLASS_PREFIX + reservation_id.upper().replace('-', '_')
    return name if key in _FIRST else f'{name}_{key.upper()}'


def ties(reservation_id, key=host_pool.NEED):
    """Return the extra specs that tie a private flavor to its reservation."""
    return {use.FLAVOR_KEY: reservation_id,
            f'resources:{class_name(reservation_id, key)}': '1'}


def marks(conf, lease, reservation_id):
    """Return the metadata of a reservation's aggregate, without `affinity_id`."""
    return {aggregates.RESERVATION_KEY: reservation_id, 'filter_tenant_id': lease.project_id,
            conf.nova.aggregate_owner_key: lease.project_id}


def service_hosts(resources):
    """Return the service hosts of {need key: Resources}, as a set."""
    return {resource.facts['service_name'] for need_resources in resources.values()
            for resource in need_resources}


def users(lease):
    """Return the ids of the projects that may boot servers: that of the lease, and its guests."""
    return [lease.project_id, *sorted(shares.guests(lease.shares))]


def delete(cloud, lease, reservation, servers):
    """Begin to delete servers of the reservation.

    :raises StillBusy: there are such servers.
    """
    cloud.announce(server_history.DELETE, server_history.servers(
        [server for server in servers if server.task != 'deleting'], lease.project_id))
    for server in servers:
        cloud.as_service().nova.delete_server(server.id)
    if servers:
        raise errors.StillBusy.plain('Nova', texts.counted(
            len(servers), f'server of reservation {reservation.id} is being deleted.',
            f'servers of reservation {reservation.id} are being deleted.'))


@dataclasses.dataclass(frozen=True)
class Capacity:
    """The slots, the private flavors and the aggregate of one reservation in the cloud.

    :ivar cloud: the LeaseCloud of the action.
    :ivar resources: {need key: Resources} that the reservation has now.
    """

    conf: Any
    cloud: Any
    lease: Any
    reservation: Any
    resources: Any

    def grant(self, flavors, group_id=None, exactly=False):
        """Create all missing objects, but do not allow the project to use the flavors.

        :param flavors: {need key: (sizes, extra specs)} of the private flavors, as for
            ``flavors.ensure``.
        :param group_id: the id of the reservation's server group, or None.
        :param exactly: whether flavors with other sizes or extra specs are recreated.
        :returns: the aggregate before this call.
        """
        services, own_id = self.cloud.as_service(), self.reservation.id
        aggregate = services.nova.ensure_aggregate(own_id)
        services.nova.add_hosts(aggregate, sorted(service_hosts(self.resources)))
        # Always set the metadata, and only after adding the hosts. If several hosts are added at
        # once, Nova notifies its scheduler of only some of them. When the metadata is set, Nova
        # sends the whole aggregate. None removes the server group of an earlier request.
        services.nova.set_aggregate_metadata(aggregate, {
            **marks(self.conf, self.lease, own_id), 'affinity_id': group_id})
        for key, (sizes, specs) in flavors.items():
            services.placement.ensure_class(class_name(own_id, key))
            self.set_slots(key)
            services.flavors.ensure(flavor_id(own_id, key), name_of(own_id, key), sizes,
                                    {**specs, **ties(own_id, key)}, exactly=exactly)
        return aggregate

    def set_slots(self, key):
        """Set the slots of a need on each of its hosts."""
        slots = collections.Counter(self.reservation.allocated[key])
        for resource in self.resources[key]:
            self.cloud.as_service().placement.set_slots(
                host_pool.child_name(self.conf, resource.name),
                class_name(self.reservation.id, key), slots[resource.id])

    def allow(self, keys):
        """Allow the project and its guests to use the private flavors of needs with these keys."""
        flavors = self.cloud.as_service().flavors
        for key in keys:
            for project_id in users(self.lease):
                flavors.allow(flavor_id(self.reservation.id, key), project_id)

    def excess(self, key):
        """Return (the Servers of a need with a slot, the Servers without a slot).

        The oldest servers keep their slots.
        """
        slots = collections.Counter(self.reservation.allocated[key])
        free_slots = collections.Counter({resource.facts['service_name']: slots[resource.id]
                                          for resource in self.resources[key]})
        kept, lost = [], []
        for server in self.cloud.as_service().flavors.servers(flavor_id(self.reservation.id, key)):
            if server.host is not None:
                free_slots[server.host] -= 1
            (lost if free_slots[server.host] < 0 else kept).append(server)
        return kept, lost

    def surplus(self):
        """Return the Servers of all needs that have no slot any more."""
        return [server for key in self.resources for server in self.excess(key)[1]]

    def lost_hosts(self, aggregate):
        """Return the service hosts of an aggregate that the reservation does not have any more."""
        return sorted(set(aggregate.hosts) - service_hosts(self.resources))

    def reclaim(self, aggregate):
        """Remove the hosts and the slots that the reservation does not have any more.

        :param aggregate: the aggregate as it was before `grant`.
        :raises StillBusy: servers that have no slot any more are being deleted.
        """
        lost_hosts = self.lost_hosts(aggregate)
        services = self.cloud.as_service()
        delete(self.cloud, self.lease, self.reservation, self.surplus())
        if lost_hosts or len(self.resources) > 1:
            names = {hypervisor.name for hypervisor in services.nova.hypervisors()
                     if hypervisor.service_host in aggregate.hosts}
            for key, need_resources in self.resources.items():
                for name in sorted(names - {resource.name for resource in need_resources}):
                    services.placement.set_slots(host_pool.child_name(self.conf, name),
                                                 class_name(self.reservation.id, key), 0)
        if lost_hosts:
            services.nova.remove_hosts(aggregate, lost_hosts)
            LOG.info('Reservation %s: has no slots on %s any more', self.reservation.id,
                     ', '.join(lost_hosts))
