# SPDX-License-Identifier: Apache-2.0
"""virtual:instance, in two forms: room for instances of given sizes, or one leased server."""
from oslo_config import cfg

from climate.domain import requirement
from climate.plugins import base
from climate.plugins import criteria
from climate.plugins import footprint
from climate.plugins import pools
from climate.plugins import room
from climate.plugins import room_audit
from climate.plugins import server
from climate.plugins import server_audit
from climate.plugins import server_end
from climate.plugins import server_start

# Of more servers than this all ids are read at once.
_FEW = 10


def _names(fields):
    return {'anyOf': [{'required': [name]} for name in fields]}


def _says(fields):
    """Of a request that names one of them, and not with null, which is the same as nothing."""
    return {'anyOf': [{'required': [name], 'properties': {name: {'not': {'type': 'null'}}}}
                      for name in fields]}


class InstancePlugin(base.ResourcePlugin):
    resource_type = 'virtual:instance'
    pools = (pools.HostPool,)
    leases_things = True
    schema = {
        'type': 'object',
        'description': 'Room for instances (vcpus, memory_mb, disk_gb, amount, affinity, '
                       'resource_properties), or one leased server (resource_id, flavor_id, '
                       'on_end).',
        'properties': {
            'vcpus': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
                      'maximum': 1000000},
            'memory_mb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
                          'maximum': 1000000000},
            'disk_gb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 0,
                        'maximum': 1000000000},
            'amount': room.AMOUNT,
            'affinity': room.AFFINITY,
            'resource_properties': criteria.SCHEMA,
            'resource_id': {
                'description': 'The id of the server that is leased; null: it is booted with the '
                               'lease and not known yet.',
                'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 64},
            'flavor_id': {'description': 'The flavor of the server that is not known yet.',
                          **footprint.FLAVOR_ID, 'type': ['string', 'null']},
            'on_end': {
                'description': 'What becomes of the leased server at the end. snapshot: an image '
                               'is made, then it is deleted. null: as the cloud has it.',
                'enum': [*server.ENDINGS, None]},
        },
        # What is mixed of both is refused in words by `resolve`.
        'allOf': [
            {'if': {'not': _names(server.FIELDS)},
             'then': {'required': ['vcpus', 'memory_mb', 'disk_gb', 'amount']}},
            {'if': {'allOf': [_names(server.FIELDS), {'not': _says(server.SIZED_FIELDS)}]},
             'then': {'required': ['resource_id']}},
        ],
        'additionalProperties': False,
    }
    example = {'vcpus': 2, 'memory_mb': 4096, 'disk_gb': 20, 'amount': 2, 'affinity': False}
    options = (
        cfg.StrOpt('on_end', default='snapshot', choices=list(server.ENDINGS),
                   help='What becomes of a leased server at the end of its lease where the lease '
                        'does not say. snapshot: an image of it is made, and when that is active '
                        'the server is deleted. delete, suspend, shelve: so. migrate: it is moved '
                        'off the enrolled hosts and goes on running.'),
        cfg.StrOpt('hold_room', default='required', choices=['required', 'preferred'],
                   help='Whether room on the enrolled hosts is held for a leased server that '
                        'sleeps until its lease starts. required: a lease for which there is no '
                        'room is refused. preferred: it is accepted, and in error if no host '
                        'takes the server at the start.'),
        cfg.IntOpt('bind_seconds', default=120, min=0,
                   help='How long a lease that was made for a server to be booted waits for that '
                        'server, in seconds. Then it ends. 0: not at all.'),
        cfg.IntOpt('image_seconds', default=3600, min=0,
                   help='How long after the end of a lease the image of a leased server may take '
                        'to become active, in seconds. Then the server is suspended instead of '
                        'deleted. 0: for ever.'),
        cfg.IntOpt('audit_seconds', default=60, min=0,
                   help='How often is looked whether leased servers are still there, in seconds: '
                        'the lease of one that its user deleted ends. 0: never.'),
    )

    @property
    def patience_seconds(self):
        return self.conf[self.resource_type].bind_seconds

    @property
    def audit_seconds(self):
        return self.conf[self.resource_type].audit_seconds

    @classmethod
    def lenient(cls, request):
        return super().lenient(room.lenient(server.lenient(request)))

    @classmethod
    def asked(cls, request):
        return server.asked(request) if server.is_resolved(request) else request

    def resolve(self, cloud, request, occasion):
        request = self.asked(request)
        if server.is_meant(request):
            return server.resolve(self.conf[self.resource_type], cloud, request, occasion)
        server.refuse_room(request, occasion)
        found = {'affinity': None, **request,
                 'resource_properties': criteria.as_text(request.get('resource_properties'))}
        requirement.parse(found['resource_properties'])
        room.refuse_while_it_runs(occasion.before, found, (
            'vcpus', 'memory_mb', 'disk_gb', 'affinity', 'resource_properties'))
        return found

    def needs(self, request):
        if server.is_meant(request):
            return server.needs(request)
        units = {'VCPU': request['vcpus'], 'MEMORY_MB': request['memory_mb'],
                 'DISK_GB': request['disk_gb']}
        return [room.need(request, units, requirement.parse(request['resource_properties']))]

    def leased_id(self, reservation):
        return server.leased_id(reservation) if _is_server(reservation) else None

    def awaits_thing(self, reservation):
        return _is_server(reservation) and server.leased_id(reservation) is None

    def arrivals(self, cloud, lease):
        servers = cloud.as_service().servers
        return [each.id for each in servers.marked(lease.project_id, server.LEASE_KEY, lease.id)]

    def check_thing(self, cloud, lease, reservation, leased_id):
        server.check(cloud, lease, reservation, leased_id)

    def bound(self, reservation, leased_id):
        return server.bound(reservation, leased_id)

    def gone(self, cloud, leased_ids):
        servers = cloud.as_service().servers
        if len(leased_ids) > _FEW:
            return frozenset(leased_ids) - servers.ids()
        return frozenset(each for each in leased_ids if servers.server(each) is None)

    def roams(self, lease, reservation):
        return _is_server(reservation) and server.roams(lease, reservation)

    def wakes(self, reservation):
        return (self.leased_id(reservation) is not None and reservation.request['sleeps']
                and bool(reservation.resource_ids))

    def prepares(self, request):
        return request.get('sleeps', False)

    def prepare(self, cloud, lease, reservation, resources):
        return server_start.prepare(cloud, lease, reservation)

    def start(self, cloud, lease, reservation, resources):
        if _is_server(reservation):
            return server_start.start(self.conf, cloud, lease, reservation, resources)
        return room.start(self.conf, cloud, lease, reservation, resources,
                          _sizes(reservation), {})

    def end(self, cloud, lease, reservation, resources):
        if _is_server(reservation):
            server_end.end(self.conf, cloud, lease, reservation, resources)
        else:
            room.end(cloud, lease, reservation)

    def traces(self, picture):
        return [*room_audit.traces(self.conf, picture, self.resource_type),
                *server_audit.traces(picture, self.resource_type)]

    def lacks(self, picture, lease, reservation, resources):
        if _is_server(reservation):
            return server_audit.lacks(picture, lease, reservation)
        return room_audit.lacks(self.conf, picture, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        if _is_server(reservation):
            return server_audit.complete(cloud, lease, reservation)
        return room.complete(self.conf, cloud, lease, reservation, resources,
                             _sizes(reservation), {})

    def clear(self, cloud, made_for, resources):
        room.clear(cloud, made_for)
        server_audit.clear(cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        return server.fields(reservation) if _is_server(reservation) else room.fields(reservation)


def _sizes(reservation):
    request = reservation.request
    return {'vcpus': request['vcpus'], 'ram': request['memory_mb'], 'disk': request['disk_gb'],
            'ephemeral': 0, 'swap': 0}


def _is_server(reservation):
    return server.is_meant(reservation.request)
