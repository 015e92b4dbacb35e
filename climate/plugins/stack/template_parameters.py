# SPDX-License-Identifier: Apache-2.0
"""The parameters of a template that Climate sets when it creates the stack.

Their values determine on which hosts Nova places the servers, and name the objects of other
reservations of the lease.
"""
import collections

from climate import errors
from climate.plugins.compute import capacity

_HOSTS = 'physical:host'
# The fields that need a host reservation on which the stack depends.
_OF_HOSTS = ('hint_parameter', 'zone_parameter')


def flavor_parameters(request):
    """Return the template's parameters for the flavors of its servers, as a list."""
    names = request['flavor_parameter']
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def flavor_ids(reservation):
    """Return {parameter of the template: id of its private flavor}."""
    return {name: capacity.flavor_id(reservation.id, key)
            for key, each in (reservation.request['room'] or {}).items()
            for name in each['parameters']}


def named(request):
    """Return the pairs (field, parameter of the template) of a request."""
    return [*(('flavor_parameter', name) for name in flavor_parameters(request)),
            *((field, request[field]) for field in _OF_HOSTS if request[field] is not None),
            *(('lease_parameters', name) for name in request['lease_parameters'] or ())]


def refuse_bad(request, depends_on):
    """Refuse parameters that are set twice, or that need a missing dependency.

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
            'it needs one host reservation of the same lease that the stack depends on, and the '
            f'stack depends on {len(hosts)}: give the host reservation a label, and name that in '
            'depends_on of the stack.'))
    for name, path in (request['lease_parameters'] or {}).items():
        if _label(path, depends_on) is None:
            labels = ', '.join(sorted(depends_on)) or 'none'
            raise errors.BadField(field='lease_parameters', reason=(
                f'"{name}": "{path[:100]}" must be the label of a reservation, a dot and one of '
                f'its fields. The reservation depends on: {labels}.'))


def values(cloud, lease, reservation):
    """Return {parameter: value} of all parameters that Climate sets.

    :raises CloudError: another reservation does not have the field that the request names.
    """
    request, parameters = reservation.request, flavor_ids(reservation)
    others = lease.dependencies(reservation)
    hosts = [other for other in others.values() if other.resource_type == _HOSTS]
    if request['hint_parameter'] is not None:
        parameters[request['hint_parameter']] = {'reservation': hosts[0].id}
    if request['zone_parameter'] is not None:
        parameters[request['zone_parameter']] = _zone(cloud, hosts[0])
    for name, path in (request['lease_parameters'] or {}).items():
        label = _label(path, others)
        parameters[name] = _read(path, cloud.fields(others[label]), label)
    return parameters


def _zone(cloud, reservation):
    """Return the availability zone of a host reservation.

    :raises CloudError: the reservation has no zone, because its hosts keep their own zones.
    """
    aggregate = cloud.as_service().nova.aggregate(reservation.id)
    if aggregate is None or aggregate.zone is None:
        raise errors.CloudError.plain('Nova', (
            'zone_parameter: the hosts of the lease keep the availability zones of the cloud, so '
            'the lease has no zone: make another lease with hint_parameter.'))
    return aggregate.zone


def _label(path, labels):
    """Return the longest label with which "LABEL.FIELD" begins, or None."""
    return max((label for label in labels if path.startswith(f'{label}.')), key=len, default=None)


def _read(path, fields, label):
    """Return the value of "LABEL.FIELD". FIELD is a path of field names and list indices."""
    value = fields
    for key in path.removeprefix(f'{label}.').split('.'):
        if isinstance(value, list | tuple):
            value = {str(index): item for index, item in enumerate(value)}
        items = value if isinstance(value, dict) else {}
        if items.get(key) is None:
            raise errors.CloudError.plain('Climate', (
                f'lease_parameters: "{path}" names "{key}", which does not exist; there are: '
                f'{", ".join(sorted(items)) or "none"}. Make another lease.'))
        value = items[key]
    return value
