# SPDX-License-Identifier: Apache-2.0
"""Translation of a request to boot servers: into a lease, and into a request with that lease."""
import json
import urllib.parse

from climate.nova import errors
from climate.nova import lease_hints
from climate.nova import scheduler_hints

#: Limit of leased servers in one request; the filter asks about each of their reservations.
MOST_SERVERS = 100

_LONGEST_NAME = 80
_LEASE_KEY = 'climate:lease_id'
_STATUS_KEY = 'climate:status'


def lease_of(server, params):
    """Return the body of the request to Climate: one lease with a reservation for each server.

    :param server: the value of ``server`` in the request to Nova.
    :param params: the lease parameters that ``lease_hints.wanted`` returns.
    :raises BadRequest: the server's name, flavor, metadata or count is missing or wrong.
    """
    named = _name(server)
    reservation = {'resource_type': 'virtual:instance', 'resource_id': None,
                   'flavor_id': _flavor_id(server)}
    zone = _zone(server)
    if zone:
        reservation['resource_properties'] = json.dumps(['==', '$availability_zone', zone])
    terms = {'name': f'lease-{named}'[:_LONGEST_NAME], **params}
    if 'on_end' in terms:
        reservation['on_end'] = terms.pop('on_end')
    # Checked here, because Nova would refuse the request after the lease was created.
    if not isinstance(server.get('metadata', {}), dict):
        raise errors.BadRequest('server.metadata', 'it must be an object.')
    return {**terms, 'reservations': [reservation] * _count(server)}


def leased(body, lease):
    """Return the request body with which Nova creates the servers of a Lease."""
    found = lease_hints.without(body)
    ids = list(lease.reservation_ids)
    # If both keys are present, Nova reads only the first.
    key = next((each for each in lease_hints.KEYS if each in body), lease_hints.KEYS[0])
    hint = ids[0] if len(ids) == 1 else ids
    found[key] = {**found.get(key, {}), scheduler_hints.RESERVATION: hint}
    server = body['server']
    found['server'] = {**server, 'metadata': {
        **server.get('metadata', {}), _LEASE_KEY: lease.id,
        _STATUS_KEY: 'RESERVED' if lease.is_later else 'ACTIVE'}}
    return found


def naming(body, reservation_id):
    """Return the request body with this reservation in place of the lease that it names."""
    key = next(each for each in lease_hints.KEYS if each in body)
    return {**body, key: {**body[key], scheduler_hints.RESERVATION: reservation_id}}


def _name(server):
    found = server.get('name')
    if not isinstance(found, str) or not found.strip():
        raise errors.BadRequest('server.name', 'it must be text.')
    return found


def _zone(server):
    """Return the availability zone that a request names; None: none.

    Administrators may add a host and a node, behind colons. Nova refuses what is no text.
    """
    found = server.get('availability_zone')
    return found.partition(':')[0].strip() if isinstance(found, str) else None


def _flavor_id(server):
    """Return the flavor id of `flavorRef`, which is an id or a URL that ends with one."""
    found = server.get('flavorRef')
    if isinstance(found, (str, int)) and not isinstance(found, bool):
        try:
            found_id = urllib.parse.urlsplit(str(found)).path.split('/')[-1]
        except ValueError:
            found_id = ''
        if found_id:
            return found_id
    raise errors.BadRequest('server.flavorRef', 'it must be the id of a flavor.')


def _count(server):
    """Return the largest number of servers that Nova may create for the request."""
    counts = [_number(server, name) for name in ('max_count', 'min_count') if name in server]
    found = counts[0] if counts else 1
    if found > MOST_SERVERS:
        raise errors.BadRequest('server.max_count', (
            f'at most {MOST_SERVERS} servers can share a lease: boot them in several requests.'))
    return found


def _number(server, name):
    found = server[name]
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 10:
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise errors.BadRequest(f'server.{name}', 'it must be a whole number of 1 or more.')
    return found
