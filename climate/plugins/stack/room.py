# SPDX-License-Identifier: Apache-2.0
"""The room on hosts that a stack needs, counted from its preview: one need for each flavor.

Addresses and volumes that a template makes are not held. Neutron gives users only addresses that
nobody can lease, and a leased volume type exists only from its start on. A stack gets leased ones
from other reservations of its lease: see ``handover``.
"""
import collections
import dataclasses

from climate import errors
from climate.domain import extra_specs
from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool
from climate.plugins.compute import node_capacity
from climate.plugins.compute import requirements
from climate.plugins.stack import handover
from climate.plugins.stack import previews
from climate.plugins.stack import quotas

# Parts that take something which other reservations could hold: {type: in words}.
_NOT_HELD = {'OS::Neutron::FloatingIP': 'floating IP', 'OS::Nova::FloatingIP': 'floating IP',
             'OS::Cinder::Volume': 'volume', 'OS::Neutron::Net': 'network'}
_FEW = 5


def of(cloud, request, spec, occasion):
    """Return what a resolved request adds about room, as a dict.

    * `room`: {need key: {'flavor', 'amount', 'parameters'}}, or None.
    * `time_only`: why the lease holds no room although the stack has servers, or None.
    * `not_held`: what the template makes that no reservation of the lease holds, or None.
    * `uses`: what the stack uses of the quotas of the project, {service: {name: units}}.

    :raises BadField: Heat refuses the stack, or its servers cannot be placed as asked.
    """
    preview = previews.of(cloud, request, spec, occasion)
    read = _Flavors(cloud, occasion.project_id)
    servers = previews.servers(preview)
    uses = quotas.used_by(preview.parts, [read.flavors[read.id_of(each)] for each in servers])
    quotas.refuse_at_request(cloud, occasion, uses)
    found = {'uses': uses, 'not_held': _not_held(preview)}
    return found | _placed(request, preview, servers, read) if servers else found


def _placed(request, preview, servers, read):
    names = handover.flavor_parameters(request)
    if _placed_elsewhere(request) and names:
        raise errors.BadField(field='flavor_parameter', reason=(
            'it places the servers on room of their own; hint_parameter and zone_parameter '
            'place them on the hosts of another reservation: ask for one or the other.'))
    if _placed_elsewhere(request):
        return {}
    if not names:
        return _time_only(request, 'flavor_parameter', (
            'the stack has servers, and neither flavor_parameter, hint_parameter nor '
            'zone_parameter names a parameter of the template, so that they cannot be placed on '
            'reserved hosts'))
    parameters = collections.defaultdict(list)
    for name in names:
        parameters[read.named('flavor_parameter', preview.parameters[name],
                              f'parameter "{name}"')].append(name)
    others = [each.name for each in servers if read.id_of(each) not in parameters]
    if others:
        said = ', '.join(f'"{name}"' for name in names)
        return _time_only(request, 'flavor_parameter', (
            f'the servers {", ".join(others[:_FEW])} have another flavor than the parameter '
            f'{said} says, so that they cannot be placed on reserved hosts'))
    counts = collections.Counter(read.id_of(each) for each in servers)
    room = {}
    for flavor_id, those in parameters.items():
        flavor = requirements.as_dict(read.flavors[flavor_id])
        # Called for its errors: it refuses a flavor that cannot be leased.
        requirements.refuse_uncountable(flavor, 'flavor_parameter')
        if counts[flavor_id]:
            room[_key(len(room))] = {'flavor': flavor, 'amount': counts[flavor_id],
                                     'parameters': those}
    return {'room': room}


def needs(request):
    """Return the Needs of a resolved request."""
    return [dataclasses.replace(capacity.need(
        {'amount': each['amount']}, requirements.units(each['flavor'], 'flavor_parameter'),
        extra_specs.from_extra_specs(requirements.traits(each['flavor'])),
        f'server of flavor {each["flavor"]["name"]}'), key=key)
        for key, each in sorted((request['room'] or {}).items())]


def flavors(request):
    """Return {need key: flavor, a dict}, as ``node_capacity.grant`` takes it."""
    return {key: each['flavor'] for key, each in sorted(request['room'].items())}


def refuse_elsewhere(reservation, preview):
    """Refuse a stack with servers that would not use the flavors of the reservation.

    A lease that holds no room may have them, if its request says so or places them elsewhere.

    :param preview: the StackPreview with these flavors.
    :raises CloudError: the template has a flavor of its own for some servers, or servers that only
        the parameters of the lease make.
    """
    request = reservation.request
    if request['room'] is None and (request['hold_room'] != 'required' or _placed_elsewhere(
            request)):
        return
    left = {node_capacity.flavor_id(reservation.id, key): each['amount']
            for key, each in (request['room'] or {}).items()}
    others = []
    for each in previews.servers(preview):
        flavor_id = each.properties.get('flavor')
        left[flavor_id] = left.get(flavor_id, 0) - 1
        if left[flavor_id] < 0:
            others.append(each.name)
    if others and request['room'] is None:
        raise errors.CloudError.plain('Heat', (
            f'the template makes the servers {", ".join(others[:_FEW])} only with the parameters '
            'that the lease sets, so that no room is held for them: make another lease with '
            'hold_room=preferred, or with a template that makes them without.'))
    if others:
        said = ', '.join(f'"{name}"' for name in handover.flavor_parameters(request))
        raise errors.CloudError.plain('Heat', (
            f'the servers {", ".join(others[:_FEW])} of the template do not take their flavor from '
            f'the parameter {said}, so that they would be outside of their room: make another '
            'lease with a template in which they do.'))


def _placed_elsewhere(request):
    """Return whether the servers go onto the hosts of another reservation."""
    return request['hint_parameter'] or request['zone_parameter']


def _key(place):
    """Return the key of the need for one of the flavors."""
    return host_pool.NEED if place == 0 else f'flavor{place + 1}'


def _not_held(preview):
    found = [f'{_NOT_HELD[each.kind]} "{each.name}"' for each in preview.parts
             if each.kind in _NOT_HELD]
    if not found:
        return None
    more = f' and {len(found) - _FEW} more' if len(found) > _FEW else ''
    return (f'The lease does not hold what the template makes besides servers: '
            f'{", ".join(found[:_FEW])}{more}. To hold it, reserve it in the same lease, and hand '
            'it to the template with lease_parameters.')


def _time_only(request, field, why):
    """Return that the lease holds its time only.

    :raises BadField: room is required.
    """
    if request['hold_room'] == 'required':
        raise errors.BadField(field=field, reason=(
            f'{why}. Let the template declare one and use it, or send hold_room=preferred: the '
            'lease then holds its time only.'))
    return {'time_only': f'The lease holds its time only, and no room: {why}.'}


class _Flavors:
    """The flavors of the servers of a preview, each read once."""

    def __init__(self, cloud, project_id):
        self.flavors = {}
        self._cloud = cloud
        self._project_id = project_id
        self._ids = {}

    def id_of(self, part):
        """Return the id of the flavor of a server.

        :raises BadField: the project may not use it.
        """
        return self.named('template', part.properties.get('flavor'), f'server "{part.name}"')

    def named(self, field, said, whose):
        """Return the id of the flavor of that id or name.

        :param field: the field that an error names.
        :param whose: what has the flavor, in words.
        :raises BadField: the project may not use it, or it is not known before the start.
        """
        if not isinstance(said, str) or not said:
            raise errors.BadField(field=field, reason=(
                f'{whose} has no flavor that is known before the start: give its id or name.'))
        if said not in self._ids:
            try:
                found = requirements.find(self._cloud, said, self._project_id)
            except errors.BadField as error:
                raise errors.BadField(field=field, reason=(
                    f'{whose}: {error.kwargs["reason"]}')) from error
            self._ids[said] = found.id
            self.flavors[found.id] = found
        return self._ids[said]
