# SPDX-License-Identifier: Apache-2.0
"""Requests for a leased server: their fields, their checks, and their stored form."""
from climate import errors
from climate.domain import requirement
from climate.plugins import request_fields
from climate.plugins.compute import requirements
from climate.plugins.compute import sized_capacity
from climate.plugins.compute import use
from climate.plugins.compute.servers import nova_server

#: The values of `on_end`: what Climate does with the server at the end.
ENDINGS = ('snapshot', 'delete', 'suspend', 'shelve', 'migrate')
#: JSON schemas of the fields of a request.
PROPERTIES = {
    'resource_id': {
        'description': 'The id of the leased server. null: the server is booted later, with the '
                       'lease.',
        'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 64},
    'flavor_id': {'description': 'The id or the name of the flavor of a server that is booted '
                                 'later.',
                  **requirements.FLAVOR_ID, 'type': ['string', 'null']},
    'on_end': {
        'description': 'What happens to the leased server at the end. snapshot: an image is made, '
                       'and then the server is deleted. null: the default of the cloud.',
        'enum': [*ENDINGS, None]},
}
_CRITERIA = 'resource_properties'
#: The fields of a request for a leased server.
FIELDS = tuple(PROPERTIES)
#: The fields that only a request for instance capacity may have.
SIZED_FIELDS = tuple(name for name in sized_capacity.PROPERTIES if name != _CRITERIA)


def is_for_server(request):
    """Return True for a request for a leased server, resolved or not."""
    return not set(FIELDS).isdisjoint(request)


def is_resolved(request):
    """Return True for a request for a leased server that was resolved."""
    return 'sleeps' in request


def asked(request):
    """Return the part of a resolved request that a client may send."""
    names = FIELDS if request['resource_id'] is None else ('resource_id', 'on_end')
    criteria = {_CRITERIA: request[_CRITERIA]} if request.get(_CRITERIA) else {}
    return {name: request[name] for name in names} | criteria


def resolve(options, cloud, request, occasion):
    """Add to a request the sizes of the server, and whether it is shelved until the start.

    :param options: the group [virtual:instance] of the configuration.
    :raises BadField: the project cannot use the server or the flavor, or the fields contradict
        each other.
    :raises ReservedFlavor: the flavor belongs to a reservation.
    """
    _refuse_mixed(request, occasion.before)
    on_end = request.get('on_end') or options.on_end
    if occasion.before is not None:
        _refuse_changes(cloud, request, occasion)
        return {**occasion.before.request, 'on_end': on_end}
    if request['resource_id'] is not None:
        server = _find(cloud, request, occasion.project_id)
        nova_flavor, field = server.flavor, 'resource_id'
    else:
        server, field = None, 'flavor_id'
        nova_flavor = requirements.find(cloud, _flavor_id(request), occasion.project_id)
        _refuse_reserved(nova_flavor)
    flavor = requirements.as_dict(nova_flavor)
    resolved = {
        'resource_id': None if server is None else server.id,
        'resource_name': None if server is None else server.name,
        'zone': None if server is None else server.zone,
        _CRITERIA: request_fields.criteria_text(request.get(_CRITERIA)),
        'flavor_id': flavor['id'] or None, 'flavor_name': flavor['name'] or None, 'on_end': on_end,
        **requirements.sizes(flavor),
        'sleeps': not occasion.starts_now, 'hold_room': options.hold_room,
        'units': {}, 'traits': {}}
    requirement.parse(resolved[_CRITERIA])
    if resolved['sleeps']:
        requirements.refuse_uncountable(flavor, field)
        resolved |= {'units': requirements.units(flavor, field),
                     'traits': requirements.traits(flavor)}
    return resolved


def _refuse_reserved(flavor):
    reservation_id = flavor.extra_specs.get(use.FLAVOR_KEY)
    if reservation_id is not None:
        raise errors.ReservedFlavor(field='flavor_id', reason=(
            f'flavor {flavor.id} belongs to reservation {reservation_id}, and so do its servers: '
            'boot the server without another lease.'))


def refuse_sized(request, occasion):
    """Refuse to change a leased server into instance capacity.

    :raises BadField: the reservation leases a server; the error names the fields of the request.
    """
    if occasion.before is not None and is_for_server(occasion.before.request):
        raise errors.BadField(
            field=', '.join(name for name in SIZED_FIELDS if request.get(name) is not None),
            reason='the reservation leases a server; make another lease for instance capacity.')


def find(cloud, server_id, project_id):
    """Return the Server of that id.

    :raises BadField: the project has no such server.
    """
    return request_fields.existing(
        'server', server_id, cloud.as_service().servers.server,
        lambda server: server.project_id == project_id and server.task != 'deleting')


def _refuse_mixed(request, before):
    wrong_fields = [name for name in SIZED_FIELDS if request.get(name) is not None]
    if wrong_fields:
        way_out = ('use one or the other.' if before is None else
                   'the reservation leases a server; make another lease for instance capacity.')
        raise errors.BadField(field=', '.join(wrong_fields), reason=(
            'this requests instance capacity, but '
            f'{", ".join(name for name in FIELDS if name in request)}: a leased server; {way_out}'))


def _refuse_changes(cloud, request, occasion):
    """Refuse to change the server, the flavor or the criteria of a reservation.

    A client may send back the values of a response.

    :raises BadField: one of these fields would change.
    """
    before = occasion.before
    server_id = request.get('resource_id')
    if server_id is not None and server_id != nova_server.id_of(before):
        raise errors.BadField(field='resource_id', reason=(
            'a reservation keeps its server; make another lease for another server.'))
    criteria = request_fields.criteria_text(request.get(_CRITERIA))
    if criteria not in ('', before.request.get(_CRITERIA, '')):
        raise errors.BadField(field=_CRITERIA, reason=(
            'a reservation keeps the criteria for the host of its server; make another lease '
            'instead.'))
    kept = (None, before.request['flavor_id'])
    if request.get('flavor_id') not in kept and (
            requirements.find(cloud, request['flavor_id'], occasion.project_id).id not in kept):
        raise errors.BadField(field='flavor_id', reason=(
            'a reservation keeps the flavor that it was made with; make another lease instead.'))


def _find(cloud, request, project_id):
    if request.get('flavor_id') is not None:
        raise errors.BadField(field='flavor_id', reason=(
            'an existing server keeps its own flavor: leave this out if you send resource_id.'))
    server = find(cloud, request['resource_id'], project_id)
    if server.status == 'ERROR':
        raise errors.BadField(field='resource_id', reason=(
            f'server {server.id} is in the status ERROR; repair it or boot another one first.'))
    return server


def _flavor_id(request):
    if request.get('flavor_id') is None:
        raise errors.BadField(field='flavor_id', reason=(
            'it is required if resource_id is null: give the flavor of the future server.'))
    return request['flavor_id']
