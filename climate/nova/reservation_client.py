# SPDX-License-Identifier: Apache-2.0
"""The client that queries whether, and on which hosts, a project may use a reservation now."""
import re
import threading
import time

from keystoneauth1 import exceptions
from oslo_log import log

from climate.nova import errors
from climate.nova import host_rules

LOG = log.getLogger(__name__)

_HEADERS = {'OpenStack-API-Version': 'reservation 1.1', 'Accept': 'application/json'}
_ID = re.compile('[0-9A-Za-z-]{1,36}')
#: The answer about a reservation that Climate does not know.
UNKNOWN = host_rules.ReservationAnswer(active=False, usable=False,
                                       reason='no reservation has this id')


class NoAnswer(Exception):
    """Climate cannot be reached, or its answer cannot be used. The text is the reason."""


class ReservationClient:
    """A client that queries reservations and caches the answers for a short time.

    Only answers about active reservations are cached, so that a reservation can be used as soon as
    it starts.
    """

    def __init__(self, adapter, cache_seconds, clock=time.monotonic):
        """Prepare the client without calling Climate.

        :param adapter: a keystoneauth Adapter. It logs in for the first call, and again when
            Climate refuses the token.
        :param cache_seconds: seconds for which an answer, or a failure, is cached.
        """
        self._adapter = adapter
        self._seconds = cache_seconds
        self._clock = clock
        self._lock = threading.Lock()
        # {(reservation id, project id): (the moment of expiry, ReservationAnswer)}
        self._cached = {}
        # (the moment until which no call is made, the reason)
        self._paused = (float('-inf'), None)

    def ask(self, reservation_id, project_id):
        """Return (the ReservationAnswer, whether it came from the cache).

        :param reservation_id: the id of a reservation, or of a lease that has only one.
        :raises NoAnswer: the call fails, or a call failed within the last `cache_seconds`.
        """
        if not _ID.fullmatch(reservation_id):
            return UNKNOWN, False
        now = self._clock()
        with self._lock:
            until, answer = self._cached.get((reservation_id, project_id), (now, None))
        if until > now:
            return answer, True
        self._refuse_paused()
        return self.ask_uncached(reservation_id, project_id), False

    def ask_uncached(self, reservation_id, project_id):
        """Call Climate and return the ReservationAnswer, without the cache.

        :raises NoAnswer: the call fails.
        """
        answer = self._call('reservation', reservation_id, project_id) or UNKNOWN
        self._cache((reservation_id, project_id), answer)
        return answer

    def ask_server(self, server_id, project_id):
        """Return the ReservationAnswer about the reservation of a server; None: it has none.

        These answers are not cached, because they are rarely needed.

        :raises NoAnswer: the call fails, or a call failed within the last `cache_seconds`.
        """
        self._refuse_paused()
        return self._call('server', server_id, project_id)

    def _refuse_paused(self):
        with self._lock:
            paused_until, reason = self._paused
        if paused_until > self._clock():
            raise NoAnswer(reason)

    def _call(self, kind, object_id, project_id):
        """Return the ReservationAnswer; None: Climate knows no such reservation or server.

        :raises NoAnswer: the call fails; further calls pause for `cache_seconds`.
        """
        try:
            return self._get(kind, object_id, project_id)
        except NoAnswer as error:
            LOG.warning('Climate cannot be asked about %s %s: %s', kind, object_id, error)
            with self._lock:
                self._paused = (self._clock() + self._seconds, str(error))
            raise

    def _get(self, kind, object_id, project_id):
        try:
            response = self._adapter.get(
                f'/{kind}s/{object_id}/hosts', params={'project_id': project_id or '-'},
                headers=_HEADERS, raise_exc=False)
        except exceptions.ClientException as error:
            raise NoAnswer(f'{type(error).__name__}: {error}') from error
        try:
            body = response.json()
            if response.status_code == 200:
                return _answer(body['reservation'])
            if response.status_code == 404 and body['error_name'] == f'{kind}_not_found':
                return None
        except errors.UNREADABLE as error:
            raise NoAnswer('an answer that is not from Climate, with status '
                           f'{response.status_code}') from error
        raise NoAnswer(f'status {response.status_code}: {_message(body)}')

    def _cache(self, key, answer):
        now = self._clock()
        with self._lock:
            self._paused = (float('-inf'), None)
            self._cached = {other: cached for other, cached in self._cached.items()
                            if cached[0] > now and other != key}
            if answer.active:
                self._cached[key] = (now + self._seconds, answer)


def _answer(body):
    """Return the ReservationAnswer in the body of a response of Climate."""
    hosts, reason = body['service_hosts'], body['reason']
    if not isinstance(hosts, list) or not isinstance(reason, str | None):
        raise TypeError('service_hosts is not a list, or reason is not text')
    # An older Climate does not send the other fields.
    capacity = body.get('room')
    return host_rules.ReservationAnswer(
        active=body['active'] is True, usable=body['usable'] is True, reason=reason,
        hosts=frozenset(hosts), ordinary=body.get('ordinary') is True,
        server_id=body.get('server_id'), capacity=None if capacity is None else {
            name: int(units) for name, units in dict(capacity).items()},
        reservation_id=str(body['id']))


def _message(body):
    return body.get('error_message') if isinstance(body, dict) else body
