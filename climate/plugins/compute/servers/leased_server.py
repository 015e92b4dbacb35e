# SPDX-License-Identifier: Apache-2.0
"""One leased server, a form of virtual:instance.

If the lease starts at once, the server stays on its host. If the lease starts later, the server is
shelved until then, and the lease reserves the capacity that the server will need.
"""
import dataclasses

from climate import errors
from climate.domain import event_kinds
from climate.domain import extra_specs
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import base
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements
from climate.plugins.compute.servers import audit
from climate.plugins.compute.servers import end
from climate.plugins.compute.servers import end_losses
from climate.plugins.compute.servers import nova_server
from climate.plugins.compute.servers import parsing


class LeasedServer(base.ResourcePlugin):
    """The form of virtual:instance that leases one server.

    Each call of `prepare` and `start` reads the server once and begins at most one change. As long
    as a change is in progress, the call raises StillBusy. All progress is stored in Nova, so the
    next call continues after a crash, too.
    """

    resource_type = 'virtual:instance'

    @classmethod
    def asked(cls, request):
        return parsing.asked(request) if parsing.is_resolved(request) else request

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(self.conf[self.resource_type], cloud, self.asked(request), occasion)

    def needs(self, request):
        if not request['sleeps']:
            return []
        # Requests of older releases do not have the name of the flavor.
        flavor = request.get('flavor_name') or request['flavor_id']
        called = f'of flavor {flavor}' if flavor else f'with {requirements.described(request)}'
        need = capacity.need({'amount': 1}, request['units'], _criteria(request),
                             f'server {called}')
        return [dataclasses.replace(need, optional=request['hold_room'] == 'preferred')]

    def needs_owner(self, request):
        if not request['sleeps']:
            return None
        return 'start', ('until the start, the server is shelved with your rights, so that you can '
                         'unshelve it; leave start out to avoid this')

    def acts_as_owner(self, request):
        return True

    def leased_id(self, reservation):
        return nova_server.id_of(reservation)

    def awaits_target(self, reservation):
        return nova_server.id_of(reservation) is None

    def check_target(self, cloud, lease, reservation, leased_id):
        server = parsing.find(cloud, leased_id, lease.project_id)
        if not reservation.request['sleeps']:
            return server.name
        sizes = nova_server.larger(server.flavor, reservation.request)
        if sizes:
            raise errors.BadField(field='resource_id', reason=(
                f'server {leased_id} is larger than the flavor that the lease was made with '
                f'({", ".join(sizes)}): boot it with flavor {reservation.request["flavor_id"]}.'))
        return server.name

    def bound(self, reservation, leased_id, name=None):
        return {**reservation.binding, 'resource_id': leased_id, 'resource_name': name}

    def may_leave_pool(self, lease, reservation):
        if (_is_over(lease, reservation) or not reservation.request['sleeps']
                or nova_server.id_of(reservation) is None):
            return True
        if lease.state == lifecycle.PENDING and lease.task != 'start':
            return not reservation.binding.get('asleep', False)
        # If capacity is reserved for the server, the server must stay on the host with it.
        return not reservation.resource_ids

    def target_capacity(self, reservation):
        return dict(reservation.request['units']) if reservation.resource_ids else None

    def schedules_in_start(self, reservation):
        return (nova_server.id_of(reservation) is not None and reservation.request['sleeps']
                and bool(reservation.resource_ids))

    def prepares(self, request):
        return request['sleeps']

    def prepare(self, cloud, lease, reservation, resources):
        """Shelve and offload the server; return the binding."""
        server = nova_server.NovaServer(cloud, lease, reservation)
        server.wait_for_calm()
        server.mark(nova_server.RESERVED)
        server.put_to_sleep()
        return {'resource_id': server.id, 'resource_name': server.name, 'asleep': True}

    def start(self, cloud, lease, reservation, resources):
        """Unshelve the server if Climate shelved it, and hand it over; return the binding.

        Changes that the owner made after the handover, such as stopping or shelving the server,
        are kept. A server that was not shelved in time is not shelved.

        :raises CloudError: the server cannot be unshelved or moved, is in the status ERROR, or is
            larger than the capacity reserved for it.
        """
        hosts = resources.get(host_pool.NEED, ())
        server = nova_server.NovaServer(cloud, lease, reservation)
        reserved_hosts = aggregates.service_hosts(hosts)
        if not server.was_handed_over:
            server.wait_for_calm()
            asleep = (nova_server.OFFLOADED, nova_server.SHELVED)
            if reservation.request['sleeps'] and server.status in asleep:
                _wake(server, hosts)
            if server.status not in (*nova_server.AWAKE, *asleep, nova_server.MOVED):
                server.give_up('handed over')
        # Hosts that the project has leased do not count, because Nova would move the server from
        # one of them to another, again and again.
        if (reserved_hosts and server.status in nova_server.MOVABLE
                and server.host in aggregates.enrolled_hosts(
                    self.conf, cloud.as_service().nova.aggregates(),
                    lessee=lease.project_id) - set(reserved_hosts)):
            # The capacity is reserved on another host, and others may lease the present host.
            server.move()
        server.mark(nova_server.ACTIVE)
        return {'resource_id': server.id, 'resource_name': server.name, 'handed_over': True}

    def end(self, cloud, lease, reservation, resources):
        end.end(self.conf, cloud, lease, reservation)

    def lost_at_end(self, cloud, lease, reservation, resources):
        return end_losses.lost(cloud, lease, reservation)

    def lacks(self, observed, lease, reservation, resources):
        return audit.lacks(observed.servers, lease, reservation)

    def complete(self, cloud, lease, reservation, resources):
        nova_server.NovaServer(cloud, lease, reservation).mark(nova_server.ACTIVE)
        return dict(reservation.binding)

    @classmethod
    def fields(cls, reservation):
        return {**cls.shown(reservation), 'resource_name': nova_server.name_of(reservation)}

    @classmethod
    def shown(cls, reservation):
        request = reservation.request
        return {'resource_id': nova_server.id_of(reservation), 'flavor_id': request['flavor_id'],
                'on_end': request['on_end'], **{name: request[name] for name in nova_server.SIZES}}


def _wake(server, hosts):
    """Begin to unshelve a server on its reserved host, or on any host if there is none."""
    if not hosts:
        server.wake(None)
        return
    if server.status == nova_server.SHELVED:
        # Offload the server first. Otherwise Nova unshelves it only on its old host.
        server.put_to_sleep()
    server.refuse_larger()
    server.wake(hosts[0].facts['service_name'], hosts[0].facts.get('availability_zone'))


def _criteria(request):
    """Return the criteria for the host, as a Requirement.

    A server stays in the zone that its user chose. Older requests have neither zone nor
    resource_properties.
    """
    zone = request.get('zone')
    return requirement.conjunction(
        extra_specs.from_extra_specs(request['traits']),
        requirement.parse(request.get('resource_properties')),
        requirement.NOTHING if zone is None else requirement.Leaf('==', 'availability_zone', zone))


def _is_over(lease, reservation):
    return (reservation.state == lifecycle.RESERVATION_DELETED or lease.deleted_at is not None
            or lease.state == lifecycle.TERMINATED or lease.task in lifecycle.TEARDOWN
            or lease.event(event_kinds.DELETE) is not None)
