# SPDX-License-Identifier: Apache-2.0
"""The room that a stack needs, counted from its preview, and where its servers are placed.

Room on hosts is counted here. What else a stack draws, such as addresses and volumes, is to be
added to `of` and `needs`, each as a need of its own pool with a key of its own.
"""
import collections

from climate import errors
from climate.domain import extra_specs
from climate.plugins.compute import capacity
from climate.plugins.compute import requirements
from climate.plugins.stack import quotas

#: The parameters through which Climate says where the servers of a stack are placed.
PARAMETERS = ('flavor_parameter', 'hint_parameter', 'zone_parameter')
_SERVER = 'OS::Nova::Server'
# Types of other packages by which a template makes leases itself.
_LEASES = ('OS::Blazar::', 'OS::Climate::')


def of(cloud, request, spec, occasion):
    """Return what a resolved request adds about room: `room`, `time_only` and `uses`.

    `room` is the flavor of the servers and their amount, or None; `time_only` is why the lease
    holds no room although the stack has servers, or None; `uses` is what all its servers use of
    the quotas of the project.

    :raises BadField: Heat refuses the stack, or its servers cannot be placed as asked.
    """
    preview = _preview(cloud, spec, occasion)
    _refuse_leases(preview)
    named = {name: request[name] for name in PARAMETERS if request[name] is not None}
    _refuse_undeclared(named, preview)
    servers = [each for each in preview.parts if each.kind == _SERVER]
    if not servers:
        return {}
    read = _Flavors(cloud, occasion.project_id)
    counts = collections.Counter(read.id_of(each) for each in servers)
    uses = read.sizes(counts)
    quotas.refuse_at_request(cloud, occasion, uses)
    return {**_placed(request, named, preview, servers, read), 'uses': uses}


def _placed(request, named, preview, servers, read):
    if 'hint_parameter' in named or 'zone_parameter' in named:
        if 'flavor_parameter' in named:
            raise errors.BadField(field='flavor_parameter', reason=(
                'it places the servers on room of their own; hint_parameter and zone_parameter '
                'place them on the hosts of another reservation: ask for one or the other.'))
        return {}
    if 'flavor_parameter' not in named:
        return _time_only(request, 'flavor_parameter', (
            'the stack has servers, and neither flavor_parameter, hint_parameter nor '
            'zone_parameter names a parameter of the template, so that they cannot be placed on '
            'reserved hosts'))
    flavor_id = read.named('flavor_parameter', preview.parameters[named['flavor_parameter']],
                           f'parameter "{named["flavor_parameter"]}"')
    others = [each.name for each in servers if read.id_of(each) != flavor_id]
    if others:
        return _time_only(request, 'flavor_parameter', (
            f'the servers {", ".join(others[:5])} have another flavor than the parameter '
            f'"{named["flavor_parameter"]}" says, so that they cannot be placed on reserved '
            'hosts'))
    flavor = requirements.as_dict(read.flavors[flavor_id])
    # Called for its errors: it refuses a flavor that cannot be leased.
    requirements.units(flavor, 'flavor_parameter')
    return {'room': {'flavor': flavor, 'amount': len(servers)}}


def needs(request):
    """Return the Needs of a resolved request."""
    if request['room'] is None:
        return []
    flavor = request['room']['flavor']
    return [capacity.need({'amount': request['room']['amount']},
                          requirements.units(flavor, 'flavor_parameter'),
                          extra_specs.from_extra_specs(requirements.traits(flavor)),
                          f'server of flavor {flavor["name"]}')]


def sizes_and_specs(request):
    """Return (sizes, extra specs) of the private flavor, as ``capacity.start`` takes them."""
    flavor = request['room']['flavor']
    return {name: flavor[name] for name in requirements.SIZES}, flavor['extra_specs']


def refuse_elsewhere(reservation, preview):
    """Refuse a stack with servers that would not use the flavor of the reservation.

    :param preview: the StackPreview with that flavor.
    :raises CloudError: the template has a flavor of its own for some servers.
    """
    others = [each.name for each in preview.parts if each.kind == _SERVER
              and each.properties.get('flavor') != reservation.id]
    if others:
        raise errors.CloudError.plain('Heat', (
            f'the servers {", ".join(others[:5])} of the template do not take their flavor from '
            f'the parameter "{reservation.request["flavor_parameter"]}", so that they would be '
            'outside of their room: make another lease with a template in which they do.'))


def _preview(cloud, spec, occasion):
    if occasion.caller is None:
        # As the service, Heat would look at what belongs to others.
        raise errors.NotAuthenticated()
    try:
        return cloud.as_service().stacks.preview(spec, occasion.caller)
    except errors.BadRequest as error:
        raise errors.BadField(field='template', reason=(
            f'Heat refuses the stack: {error.message[:500]}')) from error


def _refuse_leases(preview):
    found = [each for each in preview.parts if each.kind.startswith(_LEASES)]
    if found:
        raise errors.BadField(field='template', reason=(
            f'its resource "{found[0].name}" is of type {found[0].kind} and makes a lease itself: '
            'leave it out, and lease what it asks for in the same lease as the stack.'))


def _refuse_undeclared(named, preview):
    for field, name in named.items():
        if name not in preview.parameters:
            declared = ', '.join(sorted(preview.parameters)) or 'none'
            raise errors.BadField(field=field, reason=(
                f'the template declares no parameter "{name}"; it declares: {declared[:500]}.'))


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

    def sizes(self, counts):
        """Return {name of a quota: units} of that many servers of each flavor, {id: count}."""
        total = collections.Counter()
        for flavor_id, count in counts.items():
            total.update(quotas.used_by(requirements.as_dict(self.flavors[flavor_id]), count))
        return dict(total)
