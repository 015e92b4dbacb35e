# SPDX-License-Identifier: Apache-2.0
"""A request to boot servers: the lease that it gets, and the request with that lease in it."""
import urllib.parse

from climate.nova import errors
from climate.nova import hints

#: As many servers of one request can be leased; the filter asks about each of their reservations.
MOST_SERVERS = 100

_LONGEST_NAME = 80
_LEASE_KEY = 'climate:lease_id'
_STATUS_KEY = 'climate:status'


def lease_of(server, params):
    """The body of the request to Climate: one lease, with a reservation for each server.

    :param server: what stands under ``server`` in the request to Nova.
    :param params: as hints.wanted gives them.
    :raises BadRequest: the server has no name, no flavor, or no number that makes sense.
    """
    named = _name(server)
    reservation = {'resource_type': 'virtual:instance', 'resource_id': None,
                   'flavor_id': _flavor_id(server)}
    terms = {'name': f'lease-{named}'[:_LONGEST_NAME], **params}
    if 'on_end' in terms:
        reservation['on_end'] = terms.pop('on_end')
    # Also where no server needs it: Nova would refuse the request after the lease was made.
    if not isinstance(server.get('metadata', {}), dict):
        raise errors.BadRequest('server.metadata', 'it must be an object.')
    return {**terms, 'reservations': [reservation] * _count(server)}


def leased(body, lease):
    """The body with which Nova makes the servers of a Lease."""
    found = hints.without(body)
    ids = list(lease.reservation_ids)
    # Nova reads one of the keys only, so it must be the one that it reads.
    key = next((each for each in hints.KEYS if each in body), hints.KEYS[0])
    found[key] = {**found.get(key, {}), hints.RESERVATION: ids[0] if len(ids) == 1 else ids}
    server = body['server']
    found['server'] = {**server, 'metadata': {
        **server.get('metadata', {}), _LEASE_KEY: lease.id,
        _STATUS_KEY: 'RESERVED' if lease.is_later else 'ACTIVE'}}
    return found


def _name(server):
    found = server.get('name')
    if not isinstance(found, str) or not found.strip():
        raise errors.BadRequest('server.name', 'it must be text.')
    return found


def _flavor_id(server):
    """The id of a flavor, of itself or of the URL that ends with it, as Nova reads it."""
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
    """How many servers Nova makes at most."""
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
