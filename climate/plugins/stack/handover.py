# SPDX-License-Identifier: Apache-2.0
"""The parameters of a template that Climate sets when it creates the stack.

They tell the template where its servers are placed, and what the other reservations of the lease
made for it.
"""
import collections

from climate import errors
from climate.plugins.compute import node_capacity

_HOSTS = 'physical:host'
# The parameters that need the host reservation on which the stack depends.
_OF_HOSTS = ('hint_parameter', 'zone_parameter')


def flavor_parameters(request):
    """Return the parameters of the template that have the flavors of its servers, as a list."""
    said = request['flavor_parameter']
    return [] if said is None else [said] if isinstance(said, str) else list(said)


def flavor_ids(reservation):
    """Return {parameter of the template: id of the private flavor that it gets}."""
    return {name: node_capacity.flavor_id(reservation.id, key)
            for key, each in (reservation.request['room'] or {}).items()
            for name in each['parameters']}


def named(request):
    """Return the pairs (field, parameter of the template) of a request."""
    return [*(('flavor_parameter', name) for name in flavor_parameters(request)),
            *((field, request[field]) for field in _OF_HOSTS if request[field] is not None),
            *(('lease_parameters', name) for name in request['lease_parameters'] or ())]


def refuse_bad(request, depends_on):
    """Refuse a request that names what the reservation does not depend on.

    :param depends_on: {label: resource type}.
    :raises BadField: the error names the field.
    """
    twice = [name for name, count in collections.Counter(
        name for _, name in named(request)).items() if count > 1]
    if twice:
        raise errors.BadField(field='lease_parameters', reason=(
            f'the parameter "{twice[0]}" would be set twice: name it once.'))
    fields = [field for field in _OF_HOSTS if request[field] is not None]
    hosts = [label for label, kind in depends_on.items() if kind == _HOSTS]
    if fields and len(hosts) != 1:
        raise errors.BadField(field=fields[0], reason=(
            'it needs one host reservation of the same lease that the stack depends on, and it '
            f'depends on {len(hosts)}: give the host reservation a label, and name that in '
            'depends_on of the stack.'))
    for name, said in (request['lease_parameters'] or {}).items():
        if _label(said, depends_on) is None:
            known = ', '.join(sorted(depends_on)) or 'none'
            raise errors.BadField(field='lease_parameters', reason=(
                f'"{name}": "{said[:100]}" must be the label of a reservation, a dot and one of '
                f'its fields. The reservation depends on: {known}.'))


def values(conf, cloud, lease, reservation):
    """Return {parameter: value} of all parameters that Climate sets.

    :raises CloudError: another reservation has nothing under the name that the request gives.
    """
    request, found = reservation.request, flavor_ids(reservation)
    others = lease.dependencies(reservation)
    hosts = [each for each in others.values() if each.resource_type == _HOSTS]
    if request['hint_parameter'] is not None:
        found[request['hint_parameter']] = {'reservation': hosts[0].id}
    if request['zone_parameter'] is not None:
        found[request['zone_parameter']] = _zone(cloud, hosts[0])
    for name, said in (request['lease_parameters'] or {}).items():
        label = _label(said, others)
        found[name] = _read(said, cloud.fields(others[label]),
                            said.removeprefix(f'{label}.').split('.'))
    return found


def _zone(cloud, reservation):
    """Return the zone of the hosts of a reservation.

    :raises CloudError: it has none, because its hosts keep their own zones.
    """
    aggregate = cloud.as_service().nova.aggregate(reservation.id)
    if aggregate is None or aggregate.zone is None:
        raise errors.CloudError.plain('Nova', (
            'zone_parameter: the hosts of the lease keep the availability zones of the cloud and '
            'have none of their own: make another lease with hint_parameter.'))
    return aggregate.zone


def _label(said, labels):
    """Return the label with which "LABEL.FIELD" begins, the longest if there are several."""
    return max((each for each in labels if said.startswith(f'{each}.')), key=len, default=None)


def _read(said, fields, path):
    """Return the value at the end of a path of names of fields and places in lists."""
    found = fields
    for step in path:
        known = found if isinstance(found, dict) else {
            str(place): each for place, each in enumerate(found)} if isinstance(
                found, list | tuple) else {}
        if known.get(step) is None:
            raise errors.CloudError.plain('Climate', (
                f'lease_parameters: "{said}" names "{step}", and there is none; there are: '
                f'{", ".join(sorted(known)) or "none"}. Make another lease.'))
        found = known[step]
    return found
