# SPDX-License-Identifier: Apache-2.0
"""The call that asks Climate whether a project may use a reservation now, and on which hosts."""
import re
import threading
import time

from keystoneauth1 import exceptions
from oslo_log import log

from climate.nova import errors
from climate.nova import rules

LOG = log.getLogger(__name__)

_HEADERS = {'OpenStack-API-Version': 'reservation 1.1', 'Accept': 'application/json'}
_ID = re.compile('[0-9A-Za-z-]{1,36}')
#: The Answer about a reservation that Climate does not know.
UNKNOWN = rules.Answer(active=False, usable=False, reason='no reservation has this id')


class Unreachable(Exception):
    """Climate cannot be reached, or its answer cannot be used; the text says why."""


class Climate:
    """A client that asks Climate about reservations and caches the answers for a moment.

    Only answers that a reservation is active are cached, so that one that starts now can be used
    now.
    """

    def __init__(self, adapter, cache_seconds, clock=time.monotonic):
        """Prepare the client without calling Climate.

        :param adapter: a keystoneauth Adapter; it logs in when it is first used, and again when
            Climate refuses the token.
        :param cache_seconds: how long an answer, or a failure, is cached.
        """
        self._adapter = adapter
        self._seconds = cache_seconds
        self._clock = clock
        self._lock = threading.Lock()
        # {(reservation id, project id): (when it expires, Answer)}
        self._cached = {}
        # (until when no call is made, why)
        self._paused = (float('-inf'), None)

    def ask(self, reservation_id, project_id):
        """Return (the Answer, whether it came from the cache).

        :param reservation_id: the id of a reservation, or of a lease that has only one.
        :raises Unreachable: the call fails, or one failed within the last `cache_seconds`.
        """
        if not _ID.fullmatch(reservation_id):
            return UNKNOWN, False
        now = self._clock()
        with self._lock:
            until, answer = self._cached.get((reservation_id, project_id), (now, None))
            paused_until, reason = self._paused
        if until > now:
            return answer, True
        if paused_until > now:
            raise Unreachable(reason)
        return self.ask_anew(reservation_id, project_id), False

    def ask_anew(self, reservation_id, project_id):
        """Call Climate and return the Answer, without the cache.

        :raises Unreachable: the call fails.
        """
        found = self._call('reservation', reservation_id, project_id)
        answer = UNKNOWN if found is None else found[1]
        self._cache((reservation_id, project_id), answer)
        return answer

    def ask_server(self, server_id, project_id):
        """Return (reservation id, Answer) of the reservation of a server; None: it has none.

        These answers are not cached, because this is asked rarely.

        :raises Unreachable: the call fails, or one failed within the last `cache_seconds`.
        """
        with self._lock:
            paused_until, reason = self._paused
        if paused_until > self._clock():
            raise Unreachable(reason)
        return self._call('server', server_id, project_id)

    def _call(self, kind, each_id, project_id):
        """Return (reservation id, Answer), or None if Climate knows no such reservation or server.

        :raises Unreachable: the call fails; further calls pause for `cache_seconds`.
        """
        try:
            return self._get(kind, each_id, project_id)
        except Unreachable as error:
            LOG.warning('Climate cannot be asked about %s %s: %s', kind, each_id, error)
            with self._lock:
                self._paused = (self._clock() + self._seconds, str(error))
            raise

    def _get(self, kind, each_id, project_id):
        try:
            response = self._adapter.get(
                f'/{kind}s/{each_id}/hosts', params={'project_id': project_id or '-'},
                headers=_HEADERS, raise_exc=False)
        except exceptions.ClientException as error:
            raise Unreachable(f'{type(error).__name__}: {error}') from error
        try:
            found = response.json()
            if response.status_code == 200:
                return _read(found['reservation'])
            if response.status_code == 404 and found['error_name'] == f'{kind}_not_found':
                return None
        except errors.UNREADABLE as error:
            raise Unreachable('an answer that is not from Climate, with status '
                              f'{response.status_code}') from error
        raise Unreachable(f'status {response.status_code}: {_message(found)}')

    def _cache(self, key, answer):
        now = self._clock()
        with self._lock:
            self._paused = (float('-inf'), None)
            self._cached = {each: cached for each, cached in self._cached.items()
                            if cached[0] > now and each != key}
            if answer.active:
                self._cached[key] = (now + self._seconds, answer)


def _read(found):
    """Return (reservation id, Answer) of the reservation in Climate's answer."""
    hosts, reason = found['service_hosts'], found['reason']
    if not isinstance(hosts, list) or not isinstance(reason, str | None):
        raise TypeError('service_hosts is not a list, or reason is not text')
    # The other fields are missing in answers of an older Climate.
    return str(found['id']), rules.Answer(
        active=found['active'] is True, usable=found['usable'] is True, reason=reason,
        hosts=frozenset(hosts), ordinary=found.get('ordinary') is True,
        server_id=found.get('server_id'), capacity=_capacity(found.get('room')),
        reservation_id=str(found['id']))


def _capacity(found):
    """Return {resource class: units}, or None if the answer has none."""
    return None if found is None else {each: int(units) for each, units in dict(found).items()}


def _message(found):
    return found.get('error_message') if isinstance(found, dict) else found
