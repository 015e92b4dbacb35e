# SPDX-License-Identifier: Apache-2.0
"""Requests for networks: their fields, their checks, and their stored form."""
import ipaddress

from climate import errors
from climate.domain import lifecycle
from climate.domain import requirement
from climate.plugins import quotas
from climate.plugins import request_fields
from climate.plugins.network import segment_pool

#: The values of `on_end`: Climate removes attached resources, or waits until somebody does so.
DELETE, WAIT = ENDINGS = ('delete', 'wait')

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'network_name': {'description': 'The name of the network. null: the name of the lease.',
                     'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255},
    'required_segment': {'description': 'The segment that the network must have, such as '
                                        'physnet1:vlan:3000. null: any.',
                         'type': ['string', 'null'], 'minLength': 1, 'maxLength': 100},
    'resource_properties': request_fields.CRITERIA,
    'subnet': {'description': 'The addresses of a subnet that is created in the network, such as '
                              '10.42.0.0/24. null: no subnet is created.',
               'type': ['string', 'null'], 'minLength': 1, 'maxLength': 50},
    'router': {'description': 'Whether a router is created and connected to the subnet.',
               'type': ['boolean', 'null']},
    'external_network': {'description': 'The id of the external network of the router\'s gateway. '
                                        'null: no gateway.',
                         'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 36},
    'on_end': {'description': 'What happens at the end to resources that are still attached to the '
                              'network, such as a port of a server. delete: they are removed. '
                              'wait: the lease does not end until they are gone. null: the default '
                              'of the cloud.',
               'enum': [*ENDINGS, None]},
}
_KEPT_WHILE_IT_RUNS = tuple(name for name in PROPERTIES if name != 'on_end')


def resolve(options, cloud, request, occasion):
    """Return the request with all fields, checked against the cloud.

    :param options: the group [virtual:network] of the configuration.
    :raises BadField: a field is wrong, or needs another field that is missing.
    :raises LimitReached: a quota is too small.
    :raises Conflict: the reservation runs and a field cannot change.
    """
    resolved = {**dict.fromkeys(PROPERTIES), **request, 'router': bool(request.get('router'))}
    resolved['on_end'] = resolved['on_end'] or options.on_end
    resolved['resource_properties'] = request_fields.criteria_text(resolved['resource_properties'])
    requirement.parse(resolved['resource_properties'])
    if resolved['required_segment'] is not None:
        resolved['required_segment'] = segment_pool.text(
            segment_pool.parse('required_segment', resolved['required_segment']))
    if resolved['subnet'] is not None:
        resolved['subnet'] = str(_addresses(resolved['subnet']))
    _check_router(cloud, resolved)
    before = occasion.before
    if before is None or before.state == lifecycle.RESERVATION_PENDING:
        full = full_quota(cloud, occasion.project_id, parts(resolved))
        if full is not None:
            raise errors.LimitReached(limit=f'neutron.{full[0]}', reason=full[1])
        return resolved
    changed = [name for name in _KEPT_WHILE_IT_RUNS if resolved[name] != before.request[name]]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: a reservation that has started keeps its network as it is; '
            'change it in Neutron, or make another lease.'))
    return resolved


def parts(request):
    """Return the number of objects that a resolved request needs, as {name of a quota: number}."""
    counts = {'network': 1}
    if request['subnet'] is not None:
        counts['subnet'] = 1
    if request['router']:
        # The router has a port in the subnet.
        counts.update(router=1, port=1)
    return counts


def full_quota(cloud, project_id, wanted):
    """Return a quota of a project that is too small, as (name, the problem), or None.

    :param wanted: {name: number of additional objects}.
    """
    networks = cloud.as_service().networks
    return quotas.problem('Neutron', {name: networks.quota(project_id, name) for name in wanted},
                          wanted)


def _addresses(text):
    """Return the ipaddress network of a text.

    :raises BadField: the text is malformed, or servers cannot have these addresses.
    """
    try:
        block = ipaddress.ip_network(text.strip())
    except ValueError as error:
        raise errors.BadField(field='subnet', reason=(
            f'"{text[:50]}" is not a block of addresses such as 10.42.0.0/24: {error}.')) from None
    if block.num_addresses < 4 or block.prefixlen == 0:
        raise errors.BadField(field='subnet', reason=(
            f'{block} cannot be a subnet: a subnet needs at least 4 addresses, and must not have '
            'all addresses.'))
    if block.is_multicast or block.is_loopback or block.is_link_local or block.is_unspecified:
        raise errors.BadField(field='subnet', reason=(
            f'servers cannot have addresses of {block}; give a block such as 10.42.0.0/24.'))
    return block


def _check_router(cloud, resolved):
    """Refuse a request for a router or a gateway that cannot be created."""
    if resolved['router'] and resolved['subnet'] is None:
        raise errors.BadField(field='router', reason=(
            'it needs a subnet to be connected to: give subnet, such as 10.42.0.0/24.'))
    external_id = resolved['external_network']
    if external_id is None:
        return
    if not resolved['router']:
        raise errors.BadField(field='external_network', reason=(
            'it needs a router that has its gateway there: give "router": true.'))
    try:
        network = cloud.as_service().networks.network(external_id)
    except errors.ResourceNotFound:
        network = None
    if network is None or not network.external:
        raise errors.BadField(field='external_network', reason=(
            f'there is no external network "{external_id}"; give the id of one.'))
    own = ipaddress.ip_network(resolved['subnet'])
    for subnet in network.subnets:
        other = ipaddress.ip_network(subnet.cidr)
        if other.version == own.version and other.overlaps(own):
            raise errors.BadField(field='subnet', reason=(
                f'{own} overlaps with {other} of the external network: the router could not tell '
                'them apart. Choose other addresses.'))
