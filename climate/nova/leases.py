# SPDX-License-Identifier: Apache-2.0
"""The calls to Climate with which a lease is made, bound to its server, or dropped."""
import dataclasses
import datetime
import re

from keystoneauth1 import exceptions
from oslo_log import log

from climate.nova import errors

LOG = log.getLogger(__name__)

_VERSION = 'reservation 1.1'
_RETRY_SECONDS = 10
# Those that Nova has, too; another refusal is told as the plainest of its class.
_STATUSES = {400, 401, 403, 404, 409, 413, 429, 500}
# An id goes into an address and into a header.
_ID = re.compile('[0-9A-Za-z-]{1,36}')
_SECONDS = re.compile('[0-9]{1,5}')


@dataclasses.dataclass(frozen=True)
class Caller:
    """In whose name Climate is asked.

    :ivar token: the user's own.
    :ivar request_id: Nova's; repetitions of it make one lease.
    """

    token: str
    request_id: str


@dataclasses.dataclass(frozen=True)
class Lease:
    """A lease that was made.

    :ivar reservation_ids: one for each server.
    :ivar is_later: it starts later than it was made.
    """

    id: str
    reservation_ids: tuple
    is_later: bool


class Leases:
    """Climate, as the user whose request is served."""

    def __init__(self, adapter, timeout):
        """Nothing is asked yet.

        :param adapter: a keystoneauth Adapter, for the way to Climate; its login asks the
            catalogue and nothing else.
        :param timeout: seconds to connect, and seconds until a lease must have been made.
        """
        self._adapter = adapter
        self._timeout = timeout

    def make(self, terms, caller):
        """The Lease that was made.

        :param terms: the body of the request.
        :raises Refused: Climate refuses it, or cannot be reached.
        """
        response = self._call('POST', '/leases', caller, json=terms, timeout=self._timeout)
        try:
            lease = _read(response.json()['lease'], len(terms['reservations']))
        except errors.UNREADABLE as error:
            LOG.error('A lease was made, but the answer of Climate cannot be read: %s', error)
            raise errors.Unreachable(_RETRY_SECONDS) from error
        LOG.info('Lease %s is made, with %d reservations', lease.id, len(lease.reservation_ids))
        return lease

    def bind(self, reservation_id, server_id, caller):
        """Say which server a reservation is for.

        :raises Refused: Climate refuses it, or cannot be reached.
        """
        self._call('PUT', f'/reservations/{reservation_id}', caller,
                   json={'resource_id': server_id})

    def drop(self, lease_id, caller):
        """Delete a lease; one that is gone is deleted.

        :raises Refused: Climate refuses it, or cannot be reached.
        """
        try:
            self._call('DELETE', f'/leases/{lease_id}', caller)
        except errors.Refused as error:
            if error.status != 404:
                raise

    def _call(self, method, path, caller, **more):
        """The answer, of a status below 400. All calls may be repeated, and each is once."""
        headers = {'X-Auth-Token': caller.token, 'OpenStack-API-Version': _VERSION,
                   'Accept': 'application/json', 'X-OpenStack-Request-ID': caller.request_id}
        if method == 'POST':
            headers['Idempotency-Key'] = caller.request_id
        try:
            # Not authenticated: the login's own token would take the place of the user's.
            response = self._adapter.request(
                path, method, headers=headers, authenticated=False, raise_exc=False,
                connect_retries=1, connect_retry_delay=0.1, **more)
        except exceptions.ClientException as error:
            LOG.error('Climate cannot be reached: %s: %s', type(error).__name__, error)
            raise errors.Unreachable(_RETRY_SECONDS) from error
        if response.status_code >= 400:
            raise _refusal(response)
        return response


def _read(found, number):
    ids = tuple(_id(each) for each in found['reservations'])
    if len(ids) != number:
        raise ValueError(f'{len(ids)} reservations, not {number}')
    start, made = (datetime.datetime.fromisoformat(found[key]) for key in ('start', 'created_at'))
    return Lease(_id(found), ids, start > made)


def _id(found):
    if not _ID.fullmatch(found['id']):
        raise ValueError('an id that is none')
    return found['id']


def _refusal(response):
    status = response.status_code
    message = _message(response)
    if message is None:
        LOG.error('%s answers as Climate does not, with the status %d', response.url, status)
        return errors.Unreachable(_RETRY_SECONDS)
    if status not in _STATUSES:
        LOG.warning('Climate refuses a lease with the status %d: %s', status, message)
        status = 400 if status < 500 else 503
    after = response.headers.get('Retry-After', '')
    seconds = int(after) if _SECONDS.fullmatch(after) else None
    return errors.Refused(status, f'Climate: {message}',
                          seconds or (_RETRY_SECONDS if status == 503 else None))


def _message(response):
    """What Climate says, or None where it is not Climate that says it."""
    try:
        found = response.json()
        if isinstance(found['error_name'], str):
            return str(found['error_message'])
    except errors.UNREADABLE:
        pass
    # Tokens are looked at before Climate itself is asked.
    return 'the token was not taken: log in anew.' if response.status_code == 401 else None
