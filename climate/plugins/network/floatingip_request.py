# SPDX-License-Identifier: Apache-2.0
"""Requests for floating IPs: their fields, their checks, and their stored form."""
from climate import errors
from climate.domain import lifecycle
from climate.plugins.network import address_pool
from climate.plugins.network import addressing
from climate.plugins.network import network_request

#: The field of a stored request with the addresses that it requires or required before a change.
KEPT = 'kept_floatingips'

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'network_id': {'description': 'Id of the external network.', 'type': 'string',
                   'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 36},
    'amount': {'description': 'The number of floating IPs.', 'type': 'integer', 'minimum': 1,
               'maximum': 1000000, 'default': 1},
    'required_floatingips': {
        'description': 'Addresses that the reservation must include.', 'type': 'array',
        'items': {'type': 'string', 'minLength': 1, 'maxLength': 45}, 'maxItems': 1000},
}


def asked(request):
    """Return the part of a resolved request that a client may send."""
    return {name: value for name, value in request.items() if name != KEPT}


def resolve(cloud, request, occasion):
    """Return the request as it is stored, checked against the cloud.

    :raises BadField: a field is wrong.
    :raises LimitReached: the quota is too small.
    :raises Conflict: the reservation runs and a field cannot change.
    """
    before, amount = occasion.before, request['amount']
    required = _required(request)
    if before is None:
        address_pool.external_network(cloud, request['network_id'])
        kept = required or request.get(KEPT, ())[:amount]
    else:
        _refuse_changes(before, request['network_id'], required)
        kept = required or (before.request[KEPT][:amount] if _runs(before) else [])
    check_quota(cloud, occasion.project_id, _additional(before, amount))
    return {**asked(request), 'required_floatingips': required, KEPT: list(kept)}


def check_quota(cloud, project_id, count):
    """Refuse additional floating IPs that exceed the quota of a project.

    :raises LimitReached: the quota is too small.
    """
    if not count:
        return
    full = network_request.full_quota(cloud, project_id, {'floatingip': count})
    if full is not None:
        raise errors.LimitReached(limit='neutron.floatingip', reason=full[1])


def _required(request):
    """Return the required addresses of a request in canonical form.

    :raises BadField: an address is malformed or repeated, or there are too many.
    """
    addresses = [str(addressing.parse('required_floatingips', text))
                 for text in request.get('required_floatingips') or ()]
    twice = next((each for each in addresses if addresses.count(each) > 1), None)
    if twice is not None:
        raise errors.BadField(field='required_floatingips', reason=f'{twice} is there twice.')
    if len(addresses) > request['amount']:
        raise errors.BadField(field='required_floatingips', reason=(
            f'there are {len(addresses)} addresses, but amount is {request["amount"]}.'))
    return addresses


def _refuse_changes(before, network_id, required):
    """Refuse to change the network, or the required addresses after the start."""
    if network_id != before.request['network_id']:
        raise errors.Conflict(reason='network_id: a reservation keeps its network; make another '
                                     'reservation instead.')
    if _runs(before) and required and required != list(before.request['required_floatingips']):
        raise errors.Conflict(reason='required_floatingips: after the start, a reservation can '
                                     'only give up all required addresses, with [].')


def _runs(reservation):
    return reservation.state != lifecycle.RESERVATION_PENDING


def _additional(before, amount):
    """Return the number of additional floating IPs that the project needs."""
    if before is None:
        return amount
    present = before.request['amount']
    if amount <= present:
        return 0
    return amount - present if _runs(before) else amount
