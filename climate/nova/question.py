# SPDX-License-Identifier: Apache-2.0
"""The question to Climate: may this project use this reservation now, and on which hosts."""
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
    """Climate gave no answer that can be used; the text says why."""


class Climate:
    """Asks Climate, and keeps its answers for a moment.

    Only that a reservation is active is kept, so that one that starts now can be used now.
    """

    def __init__(self, adapter, cache_seconds, clock=time.monotonic):
        """Nothing is asked yet.

        :param adapter: a keystoneauth Adapter; it logs in when it is first used, and anew when
            Climate does not take the token any more.
        """
        self._adapter = adapter
        self._seconds = cache_seconds
        self._clock = clock
        self._lock = threading.Lock()
        # {(reservation id, project id): (until when it is believed, Answer)}
        self._kept = {}
        self._silent = (float('-inf'), None)

    def ask(self, reservation_id, project_id):
        """The Answer, from Climate or kept from a moment ago, and whether it was kept.

        :raises Unreachable: there is none, or there was none a moment ago.
        """
        if not _ID.fullmatch(reservation_id):
            return UNKNOWN, False
        now = self._clock()
        with self._lock:
            until, answer = self._kept.get((reservation_id, project_id), (now, None))
            silent_until, reason = self._silent
        if until > now:
            return answer, True
        if silent_until > now:
            raise Unreachable(reason)
        return self.ask_anew(reservation_id, project_id), False

    def ask_anew(self, reservation_id, project_id):
        """The Answer as Climate gives it at this moment.

        :raises Unreachable: there is none.
        """
        found = self._asked('reservation', reservation_id, project_id)
        answer = UNKNOWN if found is None else found[1]
        self._keep((reservation_id, project_id), answer)
        return answer

    def ask_server(self, server_id, project_id):
        """(reservation id, Answer) of the reservation that leases a server; None: none does.

        Never kept: what leases a server is asked seldom, and changes with it.

        :raises Unreachable: there is no answer, or there was none a moment ago.
        """
        with self._lock:
            silent_until, reason = self._silent
        if silent_until > self._clock():
            raise Unreachable(reason)
        return self._asked('server', server_id, project_id)

    def _asked(self, kind, each_id, project_id):
        """(reservation id, Answer), or None where Climate does not know the reservation or server.

        :raises Unreachable: there is no answer; until a moment from now nothing is asked.
        """
        try:
            return self._told(kind, each_id, project_id)
        except Unreachable as error:
            LOG.warning('Climate cannot be asked about %s %s: %s', kind, each_id, error)
            with self._lock:
                self._silent = (self._clock() + self._seconds, str(error))
            raise

    def _told(self, kind, each_id, project_id):
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
            raise Unreachable(f'an answer that is not Climate\'s, with the status '
                              f'{response.status_code}') from error
        raise Unreachable(f'status {response.status_code}: {_message(found)}')

    def _keep(self, key, answer):
        now = self._clock()
        with self._lock:
            self._silent = (float('-inf'), None)
            self._kept = {each: kept for each, kept in self._kept.items()
                          if kept[0] > now and each != key}
            if answer.active:
                self._kept[key] = (now + self._seconds, answer)


def _read(found):
    """(reservation id, Answer)."""
    hosts, reason = found['service_hosts'], found['reason']
    if not isinstance(hosts, list) or not isinstance(reason, str | None):
        raise TypeError('service_hosts is no list, or reason no text')
    # An older Climate leases no servers and says nothing of ordinary ones.
    return str(found['id']), rules.Answer(
        active=found['active'] is True, usable=found['usable'] is True, reason=reason,
        hosts=frozenset(hosts), ordinary=found.get('ordinary') is True,
        server_id=found.get('server_id'), room=_room(found.get('room')))


def _room(found):
    """{class of Placement: units}, or None where none is told."""
    return None if found is None else {each: int(units) for each, units in dict(found).items()}


def _message(found):
    return found.get('error_message') if isinstance(found, dict) else found
