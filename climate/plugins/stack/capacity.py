# SPDX-License-Identifier: Apache-2.0
"""The capacity of hosts that a stack needs, counted from its preview: one need for each flavor.

Floating IPs, volumes and networks that a template creates are not reserved. A stack can use the
objects of other reservations of its lease instead: see ``template_parameters``.
"""
import collections

from climate import errors
from climate.domain import extra_specs
from climate.plugins.compute import capacity as instance_capacity
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements
from climate.plugins.stack import previews
from climate.plugins.stack import quotas
from climate.plugins.stack import template_parameters

# {type of a part that another reservation could reserve: the type in words}.
_NOT_HELD = {'OS::Neutron::FloatingIP': 'floating IP', 'OS::Nova::FloatingIP': 'floating IP',
             'OS::Cinder::Volume': 'volume', 'OS::Neutron::Net': 'network'}
# A message names at most this number of objects.
_NAMED = 5


def of(cloud, request, spec, occasion):
    """Return the fields about capacity of a resolved request, as a dict.

    * `room`: {need key: {'flavor', 'amount', 'parameters'}} of the capacity, or None.
    * `time_only`: why the lease reserves no capacity although the stack has servers, or None.
    * `not_held`: the objects of the template that no reservation of the lease reserves, or None.
    * `uses`: the quotas of the project that the stack uses, {service: {name: units}}.

    :raises BadField: Heat refuses the stack, or its servers cannot be placed as requested.
    """
    preview = previews.of(cloud, request, spec, occasion)
    flavors = _Flavors(cloud, occasion.project_id)
    servers = previews.servers(preview)
    uses = quotas.used_by(preview.parts, [
        flavors.by_id[flavors.id_of(server)] for server in servers])
    quotas.refuse_at_request(cloud, occasion, uses)
    fields = {'uses': uses, 'not_held': _not_held(preview)}
    return fields | _placed(request, preview, servers, flavors) if servers else fields


def _placed(request, preview, servers, flavors):
    names = template_parameters.flavor_parameters(request)
    if _placed_elsewhere(request) and names:
        raise errors.BadField(field='flavor_parameter', reason=(
            'it places the servers on capacity of the stack, but hint_parameter and zone_parameter '
            'place them on the hosts of another reservation: use one or the other.'))
    if _placed_elsewhere(request):
        return {}
    if not names:
        return _time_only(request, 'flavor_parameter', (
            'the stack has servers, and neither flavor_parameter, hint_parameter nor '
            'zone_parameter names a parameter of the template, so that they cannot be placed on '
            'reserved hosts'))
    parameters = collections.defaultdict(list)
    for name in names:
        parameters[flavors.named('flavor_parameter', preview.parameters[name],
                                 f'parameter "{name}"')].append(name)
    others = [server.name for server in servers if flavors.id_of(server) not in parameters]
    if others:
        quoted = ', '.join(f'"{name}"' for name in names)
        return _time_only(request, 'flavor_parameter', (
            f'the servers {", ".join(others[:_NAMED])} have another flavor than the parameter '
            f'{quoted} says, so that they cannot be placed on reserved hosts'))
    counts = collections.Counter(flavors.id_of(server) for server in servers)
    capacity = {}
    for flavor_id, flavor_parameters in parameters.items():
        flavor = requirements.as_dict(flavors.by_id[flavor_id])
        requirements.refuse_uncountable(flavor, 'flavor_parameter')
        if counts[flavor_id]:
            capacity[_key(len(capacity))] = {'flavor': flavor, 'amount': counts[flavor_id],
                                             'parameters': flavor_parameters}
    return {'room': capacity}


def needs(request):
    """Return the Needs of a resolved request."""
    return [instance_capacity.need(
        {'amount': each['amount']}, requirements.units(each['flavor'], 'flavor_parameter'),
        extra_specs.from_extra_specs(requirements.traits(each['flavor'])),
        f'server of flavor {each["flavor"]["name"]}', key)
        for key, each in sorted((request['room'] or {}).items())]


def refuse_elsewhere(reservation, preview):
    """Refuse a stack with servers that would not use the private flavors of the reservation.

    Such servers are allowed if the lease reserves no capacity and its request says so, or if they
    are placed on the hosts of another reservation.

    :param preview: the StackPreview with the private flavors.
    :raises CloudError: some servers have another flavor, or the template creates servers only with
        the parameters that the lease sets.
    """
    request = reservation.request
    if request['room'] is None and (request['hold_room'] != 'required' or _placed_elsewhere(
            request)):
        return
    free_slots = {instance_capacity.flavor_id(reservation.id, key): each['amount']
                  for key, each in (request['room'] or {}).items()}
    others = []
    for server in previews.servers(preview):
        flavor_id = server.properties.get('flavor')
        free_slots[flavor_id] = free_slots.get(flavor_id, 0) - 1
        if free_slots[flavor_id] < 0:
            others.append(server.name)
    if others and request['room'] is None:
        raise errors.CloudError.plain('Heat', (
            f'the template makes the servers {", ".join(others[:_NAMED])} only with the parameters '
            'that the lease sets, so that no capacity is reserved for them: make another lease '
            'with hold_room=preferred, or with a template that makes them in any case.'))
    if others:
        quoted = ', '.join(f'"{name}"' for name in template_parameters.flavor_parameters(request))
        raise errors.CloudError.plain('Heat', (
            f'the servers {", ".join(others[:_NAMED])} of the template do not take their flavor '
            f'from the parameter {quoted}, so that they would not use their capacity: make another '
            'lease with a template whose servers use it.'))


def _placed_elsewhere(request):
    """Return whether the servers are placed on the hosts of another reservation."""
    return request['hint_parameter'] or request['zone_parameter']


def _key(number):
    """Return the key of the need for the flavor with this number, from 0."""
    return host_pool.NEED if number == 0 else f'flavor{number + 1}'


def _not_held(preview):
    parts = [f'{_NOT_HELD[part.kind]} "{part.name}"' for part in preview.parts
             if part.kind in _NOT_HELD]
    if not parts:
        return None
    omitted = f' and {len(parts) - _NAMED} more' if len(parts) > _NAMED else ''
    return (f'The lease does not reserve these objects of the template: '
            f'{", ".join(parts[:_NAMED])}{omitted}. To reserve them, add reservations to the same '
            'lease, and pass their objects to the template with lease_parameters.')


def _time_only(request, field, why):
    """Return the field `time_only` of a reservation without capacity.

    :raises BadField: the request requires capacity.
    """
    if request['hold_room'] == 'required':
        raise errors.BadField(field=field, reason=(
            f'{why}. Declare such a parameter in the template and use it, or send '
            'hold_room=preferred for a lease without capacity.'))
    return {'time_only': f'The lease holds its time only, and no capacity: {why}.'}


class _Flavors:
    """The flavors of the servers of a preview, each read once.

    :ivar by_id: {id: Flavor}.
    """

    def __init__(self, cloud, project_id):
        self.by_id = {}
        self._cloud = cloud
        self._project_id = project_id
        self._ids = {}

    def id_of(self, part):
        """Return the id of the flavor of a server.

        :raises BadField: the project may not use it.
        """
        return self.named('template', part.properties.get('flavor'), f'server "{part.name}"')

    def named(self, field, id_or_name, owner):
        """Return the id of the flavor of that id or name.

        :param field: the field that an error names.
        :param owner: the object with the flavor, in words.
        :raises BadField: the project may not use the flavor, or it is not known before the start.
        """
        if not isinstance(id_or_name, str) or not id_or_name:
            raise errors.BadField(field=field, reason=(
                f'{owner} has no flavor that is known before the start: give its id or name.'))
        if id_or_name not in self._ids:
            try:
                flavor = requirements.find(self._cloud, id_or_name, self._project_id)
            except errors.BadField as error:
                raise errors.BadField(field=field, reason=(
                    f'{owner}: {error.kwargs["reason"]}')) from error
            self._ids[id_or_name] = flavor.id
            self.by_id[flavor.id] = flavor
        return self._ids[id_or_name]
