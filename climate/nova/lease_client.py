# SPDX-License-Identifier: Apache-2.0
"""The client that creates leases in Climate, binds them to their servers, and deletes them."""
import dataclasses
import datetime
import re

from keystoneauth1 import exceptions
from oslo_log import log

from climate.nova import errors
from climate.nova import scheduler_hints

LOG = log.getLogger(__name__)

_VERSION = 'reservation 1.1'
_RETRY_SECONDS = 10
# The status with which Blazar refuses the version that this client asks for.
_NOT_ACCEPTABLE = 406
# The types of reservations in which servers can be placed.
_FOR_SERVERS = ('physical:host', 'virtual:instance', 'flavor:instance')
# A message names at most this many reservations of a lease.
_NAMED = 10
# Statuses that Nova also returns. Other statuses of refusals are replaced by 400 or 503.
_STATUSES = {400, 401, 403, 404, 409, 413, 429, 500}
# The codes with which Climate refuses a lease for a server that belongs to another lease.
_LEASED_ALREADY = ('reserved_flavor', 'acts_for_lease')
# An id becomes part of a URL and of a header, so it is checked.
_ID = re.compile('[0-9A-Za-z-]{1,36}')
_SECONDS = re.compile('[0-9]{1,5}')


@dataclasses.dataclass(frozen=True)
class BootCaller:
    """The user on whose behalf Climate is called.

    :ivar token: the user's own token.
    :ivar request_id: Nova's request id; requests with the same id create one lease.
    """

    token: str
    request_id: str


@dataclasses.dataclass(frozen=True)
class CreatedLease:
    """A lease that Climate created.

    :ivar reservation_ids: one id for each server.
    :ivar is_later: whether the lease starts later than its creation.
    """

    id: str
    reservation_ids: tuple
    is_later: bool


class LeaseClient:
    """A client for leases that calls Climate with the token of the user who sent the request."""

    def __init__(self, adapter, timeout):
        """Prepare the client without calling Climate.

        :param adapter: a keystoneauth Adapter for Climate; its login only reads the service
            catalog.
        :param timeout: (seconds to connect, seconds within which a lease must be created).
        """
        self._adapter = adapter
        self._timeout = timeout

    def make(self, terms, caller):
        """Create a lease; return the CreatedLease.

        :param terms: the body of the request.
        :raises LeasedAlready: the server belongs to a lease that exists.
        :raises BootRefused: Climate refuses it, or cannot be reached.
        """
        response = self._call('POST', '/leases', caller, json=terms, timeout=self._timeout)
        try:
            lease = _read(response.json()['lease'], len(terms['reservations']))
        except errors.UNREADABLE as error:
            LOG.error('Climate created a lease, but its answer cannot be read: %s', error)
            raise errors.ClimateUnreachable(_RETRY_SECONDS) from error
        LOG.info('Lease %s is created with %d reservations', lease.id,
                 len(lease.reservation_ids))
        return lease

    def bind(self, reservation_id, server_id, caller):
        """Bind a reservation to its server.

        :raises BootRefused: Climate refuses it, or cannot be reached.
        """
        self._call('PUT', f'/reservations/{reservation_id}', caller,
                   json={'resource_id': server_id})

    def reservation_of(self, lease_id, caller):
        """Return the id of the only reservation for servers of a lease.

        :returns: None if the caller has no such lease, or Climate cannot be asked.
        :raises BadBootRequest: the lease has none or several; the message names them.
        """
        if not _ID.fullmatch(lease_id):
            return None
        try:
            lease = self._call('GET', f'/leases/{lease_id}', caller).json()['lease']
            ids = [_id(reservation) for reservation in lease['reservations']
                   if reservation['resource_type'] in _FOR_SERVERS
                   and reservation['status'] != 'deleted']
        except errors.BootRefused as error:
            # The id may be the id of a reservation. The scheduler filter will query and decide.
            LOG.debug('The hint reservation=%s is passed on: %s', lease_id, error)
            return None
        except errors.UNREADABLE as error:
            LOG.error('The lease %s in the answer of Climate cannot be read: %s', lease_id, error)
            return None
        if len(ids) != 1:
            raise errors.BadBootRequest(scheduler_hints.RESERVATION, _not_one(lease_id, ids))
        return ids[0]

    def drop(self, lease_id, caller):
        """Delete a lease. Do nothing if it is already gone.

        :raises BootRefused: Climate refuses it, or cannot be reached.
        """
        try:
            self._call('DELETE', f'/leases/{lease_id}', caller)
        except errors.BootRefused as error:
            if error.status != 404:
                raise

    def _call(self, method, path, caller, **arguments):
        """Return a response with a status below 400. Each call can safely be repeated."""
        headers = {'X-Auth-Token': caller.token, 'OpenStack-API-Version': _VERSION,
                   'Accept': 'application/json', 'X-OpenStack-Request-ID': caller.request_id}
        if method == 'POST':
            headers['Idempotency-Key'] = caller.request_id
        try:
            # authenticated=True would replace the user's token by the token of the login.
            response = self._adapter.request(
                path, method, headers=headers, authenticated=False, raise_exc=False,
                connect_retries=1, connect_retry_delay=0.1, **arguments)
        except exceptions.ClientException as error:
            LOG.warning('Climate cannot be reached: %s: %s', type(error).__name__, error)
            raise errors.ClimateUnreachable(_RETRY_SECONDS) from error
        if response.status_code >= 400:
            raise _refusal(response)
        return response


def _not_one(lease_id, ids):
    if not ids:
        return (f'lease {lease_id} has no reservation for servers, or it is over: '
                '"climate lease list" has the others.')
    return (f'lease {lease_id} has {len(ids)} reservations: name one of them instead: '
            f'{", ".join(ids[:_NAMED])}{", and others" if len(ids) > _NAMED else ""}.')


def _read(body, number):
    ids = tuple(_id(reservation) for reservation in body['reservations'])
    if len(ids) != number:
        raise ValueError(f'{len(ids)} reservations, not {number}')
    start, created = (datetime.datetime.fromisoformat(body[key]) for key in ('start', 'created_at'))
    return CreatedLease(_id(body), ids, start > created)


def _id(body):
    if not _ID.fullmatch(body['id']):
        raise ValueError(f'{body["id"]!r} is not an id')
    return body['id']


def _refusal(response):
    status = response.status_code
    message = _message(response)
    if message is None:
        # A proxy answers 5xx while Climate is down. Any other foreign answer means a wrong URL.
        log_it = LOG.warning if status >= 500 else LOG.error
        log_it('%s gave an answer that is not from Climate, with status %d%s', response.url, status,
               ': the address may still be that of Blazar' if status == _NOT_ACCEPTABLE else '')
        return errors.ClimateUnreachable(_RETRY_SECONDS)
    if status not in _STATUSES:
        LOG.warning('Climate refuses a lease with status %d: %s', status, message)
        status = 400 if status < 500 else 503
    after = response.headers.get('Retry-After', '')
    seconds = int(after) if _SECONDS.fullmatch(after) else None
    kind = errors.LeasedAlready if _code(response) in _LEASED_ALREADY else errors.BootRefused
    return kind(status, f'Climate: {message}',
                seconds or (_RETRY_SECONDS if status == 503 else None))


def _code(response):
    """Return the code of an error of Climate, or None if the answer is not from Climate."""
    try:
        return response.json()['error_name']
    except errors.UNREADABLE:
        return None


def _message(response):
    """Return the error message of Climate, or None if the answer is not from Climate."""
    try:
        body = response.json()
        if isinstance(body['error_name'], str):
            return str(body['error_message'])
    except errors.UNREADABLE:
        pass
    # keystonemiddleware answers 401 itself, before the request reaches Climate.
    return ('the token is not valid: log in again.' if response.status_code == 401
            else None)
