# SPDX-License-Identifier: Apache-2.0
"""A leased server, as it is asked for, kept and shown.

A lease that starts at once leaves the server the compute that it has. One that starts later lets
it sleep until then, and holds the room that it will need.
"""
import dataclasses
import re

from climate import errors
from climate.domain import agenda
from climate.domain import extra_specs
from climate.domain import lifecycle
from climate.plugins import footprint
from climate.plugins import room

#: The fields of a request for a leased server, and those of one for room for instances.
FIELDS = ('resource_id', 'flavor_id', 'on_end')
SIZED_FIELDS = ('vcpus', 'memory_mb', 'disk_gb', 'amount', 'affinity', 'resource_properties')
#: What can become of the server at the end.
ENDINGS = ('snapshot', 'delete', 'suspend', 'shelve', 'migrate')
#: Metadata of a server: the id of its lease.
LEASE_KEY = 'climate:lease_id'

# As Nova writes it; it would take other text for a part of an address, or for the same server.
_SERVER_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_SIZES = ('vcpus', 'memory_mb', 'disk_gb')


def is_meant(request):
    """True for a request for a leased server, resolved or not."""
    return not set(FIELDS).isdisjoint(request)


def is_resolved(request):
    """True for a request for a leased server that was resolved."""
    return 'sleeps' in request


def lenient(request):
    """A request of REST 1.0, one of whose clients may send back all that it was shown.

    Only room for instances has an amount; what else was shown is dropped.
    """
    other = SIZED_FIELDS
    if 'resource_id' not in request or request.get('amount') is not None:
        other = FIELDS
    elif request['resource_id'] is not None:
        other = (*SIZED_FIELDS, 'flavor_id')
    found = {key: value for key, value in request.items() if key not in other}
    return footprint.lenient(found)


def asked(request):
    """Of a resolved request what a client may send."""
    names = FIELDS if request['resource_id'] is None else ('resource_id', 'on_end')
    return {name: request[name] for name in names}


def resolve(options, cloud, request, occasion):
    """The request with the size of the server, and whether it sleeps until the start.

    :param options: the group [virtual:instance] of the configuration.
    :raises BadField: the server or the flavor cannot be had, or the fields contradict each other.
    """
    _refuse_mixed(request)
    on_end = request.get('on_end') or options.on_end
    if occasion.before is not None:
        _refuse_changes(request, occasion.before)
        return {**occasion.before.request, 'on_end': on_end}
    if request['resource_id'] is not None:
        server = _find(cloud, request, occasion.project_id)
        found, field = server.flavor, 'resource_id'
    else:
        server, field = None, 'flavor_id'
        found = footprint.find(cloud, _flavor_id(request), occasion.project_id)
    flavor = footprint.as_dict(found)
    resolved = {
        'resource_id': None if server is None else server.id,
        'flavor_id': found.id or None, 'on_end': on_end, **footprint.sizes(flavor),
        'sleeps': not occasion.starts_now, 'hold_room': options.hold_room,
        'units': {}, 'traits': {}}
    if resolved['sleeps']:
        resolved |= {'units': footprint.units(flavor, field), 'traits': footprint.traits(flavor)}
    return resolved


def refuse_room(request, occasion):
    """Refuse room for instances in place of a leased server.

    :raises BadField: it names the fields that a leased server does not have.
    """
    if occasion.before is not None and is_meant(occasion.before.request):
        raise errors.BadField(
            field=', '.join(name for name in SIZED_FIELDS if request.get(name) is not None),
            reason='the reservation leases a server; make another lease for room for instances.')


def needs(request):
    """The Needs of a resolved request: its room, where it sleeps."""
    if not request['sleeps']:
        return []
    need = room.need({'amount': 1}, request['units'],
                     extra_specs.from_extra_specs(request['traits']))
    return [dataclasses.replace(need, optional=request['hold_room'] == 'preferred')]


def leased_id(reservation):
    """The id of the server, or None while it is not known."""
    return reservation.binding.get('resource_id') or reservation.request['resource_id']


def bound(reservation, server_id):
    """The binding of a reservation that leases this server from now on."""
    return {**reservation.binding, 'resource_id': server_id}


def check(cloud, lease, reservation, server_id):
    """Refuse a server that the reservation cannot lease.

    :raises BadField: it is not there, of another project, or larger than the room held for it.
    """
    server = _found(cloud, server_id, lease.project_id)
    if not reservation.request['sleeps']:
        return
    sizes = larger(server.flavor, reservation.request)
    if sizes:
        raise errors.BadField(field='resource_id', reason=(
            f'server {server_id} is larger than the flavor that the lease was made with '
            f'({", ".join(sizes)}): boot it with flavor {reservation.request["flavor_id"]}.'))


def larger(flavor, request):
    """In which sizes a Flavor, or None, is larger than a resolved request, as words in a list."""
    if flavor is None:
        return []
    has = footprint.sizes(footprint.as_dict(flavor))
    return [f'{name} {has[name]}' for name in _SIZES if has[name] > request[name]]


def held_room(reservation):
    """What the server may take of its host, {class: units}; None where no room is held for it."""
    return dict(reservation.request['units']) if reservation.resource_ids else None


def roams(lease, reservation):
    """True where the server may be placed on ordinary hosts just now.

    Not while it sleeps before the start, and not while room is held for it.
    """
    over = (reservation.state == lifecycle.RESERVATION_DELETED or lease.deleted_at is not None
            or lease.state == lifecycle.TERMINATED or lease.task in lifecycle.TEARDOWN
            or lease.event(agenda.DELETE) is not None)
    if over or not reservation.request['sleeps'] or leased_id(reservation) is None:
        return True
    if lease.state == lifecycle.PENDING and lease.task != 'start':
        return not reservation.binding.get('asleep', False)
    return not reservation.resource_ids


def fields(reservation):
    """What answers show of the reservation."""
    request = reservation.request
    return {'resource_id': leased_id(reservation), 'flavor_id': request['flavor_id'],
            'on_end': request['on_end'], **{name: request[name] for name in _SIZES}}


def _refuse_mixed(request):
    sized = [name for name in SIZED_FIELDS if request.get(name) is not None]
    if sized:
        raise errors.BadField(field=', '.join(sized), reason=(
            'these are of room for instances, and '
            f'{", ".join(name for name in FIELDS if name in request)} of a leased server: '
            'ask for one or the other.'))


def _refuse_changes(request, before):
    """Refuse everything that is not as it was; what was shown may be sent back.

    :raises BadField: another server or another flavor.
    """
    server_id = request.get('resource_id')
    if server_id is not None and server_id != leased_id(before):
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps its server; make another lease for another one.'))
    if request.get('flavor_id') not in (None, before.request['flavor_id']):
        raise errors.BadField(field='flavor_id', reason=(
            'a reservation keeps the flavor that it was made with; make another lease instead.'))


def _find(cloud, request, project_id):
    if request.get('flavor_id') is not None:
        raise errors.BadField(field='flavor_id', reason=(
            'a server that exists keeps its own flavor: leave this out where resource_id names '
            'one.'))
    server = _found(cloud, request['resource_id'], project_id)
    if server.status == 'ERROR':
        raise errors.BadField(field='resource_id', reason=(
            f'server {server.id} is in the status ERROR; mend it or boot another one first.'))
    return server


def _found(cloud, server_id, project_id):
    server = None
    if _SERVER_ID.fullmatch(server_id):
        server = cloud.as_service().servers.server(server_id)
    if server is None or server.project_id != project_id or server.task == 'deleting':
        raise errors.BadField(field='resource_id', reason=(
            f'there is no server "{server_id}" in this project; "openstack server list" has the '
            'ids.'))
    return server


def _flavor_id(request):
    if request.get('flavor_id') is None:
        raise errors.BadField(field='flavor_id', reason=(
            'it is needed where resource_id is null: the flavor of the server to come.'))
    return request['flavor_id']
