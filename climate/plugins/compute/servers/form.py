# SPDX-License-Identifier: Apache-2.0
"""One leased server, the second form of virtual:instance.

If the lease starts at once, the server stays on its host. If it starts later, the server is
shelved until then, and the lease reserves the capacity that the server will need.
"""
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import event_kinds
from climate.domain import extra_specs
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import base
from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements
from climate.plugins.compute import use
from climate.plugins.compute.servers import audit
from climate.plugins.compute.servers import end
from climate.plugins.compute.servers import leased
from climate.plugins.compute.servers import parsing
from climate.plugins.compute.servers import start

# To look for more servers than this, the ids of all servers are read at once.
_FEW = 10


class LeasedServer(base.ResourcePlugin):
    resource_type = 'virtual:instance'
    leases_targets = True
    target_kind = 'server'
    measures_use = True
    options = (
        cfg.StrOpt('on_end', default='snapshot', choices=list(parsing.ENDINGS),
                   help='What happens to a leased server at the end of its lease if the lease does '
                        'not say it. snapshot: an image of the server is made, and the server is '
                        'deleted when the image is active. delete, suspend, shelve: the server '
                        'is deleted, suspended or shelved. migrate: it is moved off the enrolled '
                        'hosts and goes on running.'),
        cfg.StrOpt('hold_room', default='required', choices=['required', 'preferred'],
                   help='Whether capacity on the enrolled hosts is held for a leased server that '
                        'sleeps until its lease starts. required: the lease is refused if no '
                        'host has the capacity. preferred: the lease is accepted, and goes into '
                        'error if no host takes the server at the start.'),
        cfg.IntOpt('bind_seconds', default=120, min=0,
                   help='How long a lease that was made for a server to be booted waits for that '
                        'server, in seconds. Then the lease ends. 0: it does not wait.'),
        cfg.IntOpt('image_seconds', default=3600, min=0,
                   help='How long after the end of a lease the image of a leased server may take '
                        'to become active, in seconds. After that the server is suspended instead '
                        'of deleted, or deleted if it is still being built. 0: for ever.'),
        cfg.IntOpt('audit_seconds', default=60, min=0,
                   help='How often Climate checks whether leased servers still exist, in seconds. '
                        'The lease of a server that its user deleted ends. 0: never.'),
    )

    @property
    def patience_seconds(self):
        return self.conf[self.resource_type].bind_seconds

    @property
    def audit_seconds(self):
        return self.conf[self.resource_type].audit_seconds

    @classmethod
    def asked(cls, request):
        return parsing.asked(request)

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def needs(self, request):
        if not request['sleeps']:
            return []
        # A request of an older release has no name of its flavor.
        flavor = request.get('flavor_name') or request['flavor_id']
        called = f'of flavor {flavor}' if flavor else f'with {requirements.described(request)}'
        need = capacity.need({'amount': 1}, request['units'], _criteria(request),
                             f'server {called}')
        return [dataclasses.replace(need, optional=request['hold_room'] == 'preferred')]

    def needs_owner(self, request):
        if not request['sleeps']:
            return None
        return 'start', ('until then the server is shelved as you, so that you can unshelve it; '
                         'leave start out')

    def leased_id(self, reservation):
        return leased.id_of(reservation)

    def awaits_target(self, reservation):
        return leased.id_of(reservation) is None

    def discovered_targets(self, cloud, lease):
        servers = cloud.as_service().servers
        return [each.id for each in servers.marked(lease.project_id, leased.LEASE_KEY, lease.id)]

    def check_target(self, cloud, lease, reservation, leased_id):
        server = parsing.find(cloud, leased_id, lease.project_id)
        if not reservation.request['sleeps']:
            return server.name
        sizes = leased.larger(server.flavor, reservation.request)
        if sizes:
            raise errors.BadField(field='resource_id', reason=(
                f'server {leased_id} is larger than the flavor that the lease was made with '
                f'({", ".join(sizes)}): boot it with flavor {reservation.request["flavor_id"]}.'))
        return server.name

    def bound(self, reservation, leased_id, name=None):
        return {**reservation.binding, 'resource_id': leased_id, 'resource_name': name}

    def gone(self, cloud, leased_ids):
        servers = cloud.as_service().servers
        if len(leased_ids) > _FEW:
            return frozenset(leased_ids) - servers.ids()
        return frozenset(each for each in leased_ids if servers.server(each) is None)

    def may_leave_pool(self, lease, reservation):
        if (_is_over(lease, reservation) or not reservation.request['sleeps']
                or leased.id_of(reservation) is None):
            return True
        if lease.state == lifecycle.PENDING and lease.task != 'start':
            return not reservation.binding.get('asleep', False)
        # If capacity is reserved for the server, it must stay on that host.
        return not reservation.resource_ids

    def target_capacity(self, reservation):
        return dict(reservation.request['units']) if reservation.resource_ids else None

    def schedules_in_start(self, reservation):
        return (leased.id_of(reservation) is not None and reservation.request['sleeps']
                and bool(reservation.resource_ids))

    def prepares(self, request):
        return request['sleeps']

    def prepare(self, cloud, lease, reservation, resources):
        return start.prepare(cloud, lease, reservation)

    def start(self, cloud, lease, reservation, resources):
        return start.start(self.conf, cloud, lease, reservation, resources.get(host_pool.NEED, ()))

    def end(self, cloud, lease, reservation, resources):
        end.end(self.conf, cloud, lease, reservation)

    def use(self, cloud, parts):
        return use.of_servers(cloud, parts)

    def observe(self, cloud):
        return audit.observe(cloud)

    def traces(self, observed):
        return audit.traces(observed, self.resource_type)

    def lacks(self, observed, lease, reservation, resources):
        return audit.lacks(observed, lease, reservation)

    def complete(self, cloud, lease, reservation, resources):
        return audit.complete(cloud, lease, reservation)

    def clear(self, cloud, made_for, resources):
        audit.clear(cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        return {**cls._of_both(reservation), 'resource_name': leased.name_of(reservation)}

    @classmethod
    def shown(cls, reservation):
        return cls._of_both(reservation)

    @staticmethod
    def _of_both(reservation):
        """Return the fields that a reservation has at each version of REST."""
        request = reservation.request
        return {'resource_id': leased.id_of(reservation), 'flavor_id': request['flavor_id'],
                'on_end': request['on_end'], **{name: request[name] for name in leased.SIZES}}


def _criteria(request):
    """Return what the host must be, as a Requirement; older requests have neither of the last two.

    A server stays in the zone that its user asked for.
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
