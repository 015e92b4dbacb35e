# SPDX-License-Identifier: Apache-2.0
"""Convert a request to boot servers to a lease, and to a request that names the lease."""
import contextlib
import json
import urllib.parse

from climate.nova import errors
from climate.nova import lease_hints
from climate.nova import scheduler_hints

#: Maximum number of leased servers in one request. The filter queries each of their reservations.
MOST_SERVERS = 100

_LONGEST_NAME = 80
_LEASE_KEY = 'climate:lease_id'
_STATUS_KEY = 'climate:status'


def lease_of(server, params):
    """Return the body of the request to Climate: one lease with a reservation for each server.

    :param server: the value of ``server`` in the request to Nova.
    :param params: the result of ``lease_hints.lease_params``.
    :raises BadBootRequest: the server's name, flavor, metadata or count is missing or wrong.
    """
    name = _name(server)
    reservation = {'resource_type': 'virtual:instance', 'resource_id': None,
                   'flavor_id': _flavor_id(server)}
    zone = _zone(server)
    if zone:
        reservation['resource_properties'] = json.dumps(['==', '$availability_zone', zone])
    terms = {'name': f'lease-{name}'[:_LONGEST_NAME], **params}
    if 'on_end' in terms:
        reservation['on_end'] = terms.pop('on_end')
    # The check is here, because Nova would refuse the request only after the lease was created.
    if not isinstance(server.get('metadata', {}), dict):
        raise errors.BadBootRequest('server.metadata', 'it must be an object.')
    return {**terms, 'reservations': [reservation] * _count(server)}


def leased(body, lease):
    """Return the request body with which Nova creates the servers of a CreatedLease."""
    changed = lease_hints.without(body)
    ids = list(lease.reservation_ids)
    # If both keys are present, Nova reads only the first.
    key = next((name for name in lease_hints.KEYS if name in body), lease_hints.KEYS[0])
    hint = ids[0] if len(ids) == 1 else ids
    changed[key] = {**changed.get(key, {}), scheduler_hints.RESERVATION: hint}
    server = body['server']
    changed['server'] = {**server, 'metadata': {
        **server.get('metadata', {}), _LEASE_KEY: lease.id,
        _STATUS_KEY: 'RESERVED' if lease.is_later else 'ACTIVE'}}
    return changed


def naming(body, reservation_id):
    """Return the request body with the hint naming this reservation in place of its lease."""
    key = next(name for name in lease_hints.KEYS if name in body)
    return {**body, key: {**body[key], scheduler_hints.RESERVATION: reservation_id}}


def _name(server):
    name = server.get('name')
    if not isinstance(name, str) or not name.strip():
        raise errors.BadBootRequest('server.name', 'it must be text.')
    return name


def _zone(server):
    """Return the availability zone that a request names; None: it names no zone.

    Administrators may write ZONE:HOST:NODE. Nova refuses values that are not text.
    """
    zone = server.get('availability_zone')
    return zone.partition(':')[0].strip() if isinstance(zone, str) else None


def _flavor_id(server):
    """Return the flavor id of `flavorRef`, which is an id or a URL that ends with one."""
    reference = server.get('flavorRef')
    if isinstance(reference, (str, int)) and not isinstance(reference, bool):
        # A malformed URL raises ValueError.
        with contextlib.suppress(ValueError):
            flavor_id = urllib.parse.urlsplit(str(reference)).path.split('/')[-1]
            if flavor_id:
                return flavor_id
    raise errors.BadBootRequest('server.flavorRef', 'it must be the id of a flavor.')


def _count(server):
    """Return the largest number of servers that Nova may create for the request."""
    counts = [_number(server, name) for name in ('max_count', 'min_count') if name in server]
    count = counts[0] if counts else 1
    if count > MOST_SERVERS:
        raise errors.BadBootRequest('server.max_count', (
            f'at most {MOST_SERVERS} servers can share a lease: boot them in several requests.'))
    return count


def _number(server, name):
    number = server[name]
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise errors.BadBootRequest(f'server.{name}', 'it must be a whole number of 1 or more.')
    return number
