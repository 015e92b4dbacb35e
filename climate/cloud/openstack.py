# SPDX-License-Identifier: Apache-2.0
"""The real cloud: its services under each identity that Climate uses."""
import collections
from concurrent import futures
import threading

from climate import errors
from climate.cloud import base
from climate.cloud import call_guard
from climate.cloud import connection
from climate.cloud import faults
from climate.cloud import probes
from climate.cloud import session

_USERS = 256
_READ_ATTEMPTS = 3


class OpenStackCloud(base.CloudDriver):
    """The adapters, connected as `conf` says. Climate logs in at the first call.

    :param adapters: {name: Adapter class}, keystone among them.
    """

    def __init__(self, conf, adapters):
        self.adapters = adapters
        self._conf = conf
        with faults.mapped('Keystone'):
            self._sessions = session.Sessions(conf)
            # All sessions are created now, so that a wrong option is reported at the start.
            connected = {name: self._sessions.as_service(name) for name in adapters}
        self._connected = connected
        self._pool = futures.ThreadPoolExecutor(conf.nova.concurrency, 'climate-cloud')
        self._kinds = {
            interface: (name, call_guard.guarded(kind, (*faults.FOREIGN, *adapter.foreign),
                                                 faults.cloud_error, _READ_ATTEMPTS))
            for name, adapter in adapters.items()
            for interface, kind in adapter.interfaces.items()}
        self._service = self._services(connected.get, self._sessions.login_group)
        # {trust id: (session, CloudServices)}; the most recently used one is last.
        self._users = collections.OrderedDict()
        self._lock = threading.Lock()

    def log_in(self):
        for name, connected in self._connected.items():
            with call_guard.counted('Keystone'), faults.mapped(
                    'Keystone', login_group=self._sessions.login_group(name)):
                connected.get_token()

    def check(self):
        self.log_in()
        probes.check(self)

    def as_service(self):
        return self._service

    def as_user(self, trust_id):
        if not trust_id:
            raise errors.TrustDead(service='Keystone', reason='there is no trust.')
        login_session, services = self._user(trust_id)
        # Log in now, so that a caller can act without the user if the trust is dead.
        with call_guard.counted('Keystone'), faults.mapped('Keystone', trust_id):
            login_session.get_token()
        return services

    def as_caller(self, context):
        if not context.auth_token:
            raise errors.TrustRefused(reason='the request carries no token.')
        login = self._sessions.login_with(context.auth_token)
        return self._services(lambda group: self._sessions.as_user(group, login))

    def _user(self, trust_id):
        with self._lock:
            if trust_id not in self._users:
                login = self._sessions.login_of(trust_id)
                self._users[trust_id] = (
                    self._sessions.as_user('keystone', login),
                    self._services(lambda group: self._sessions.as_user(group, login),
                                   trust_id=trust_id))
                while len(self._users) > _USERS:
                    self._users.popitem(last=False)
            self._users.move_to_end(trust_id)
            return self._users[trust_id]

    def _services(self, session_for, login_for=lambda group: 'keystone', trust_id=None):
        """Return the CloudServices of one identity.

        :param session_for: callable(name of an option group) → the session.
        :param login_for: callable(name of an option group) → the group whose login it uses.
        """
        def make(interface):
            group, kind = self._kinds[interface]
            return kind(connection.ServiceConnection(
                self._conf, group, session_for(group), self._pool, trust_id, login_for(group)))
        return base.CloudServices(self._kinds, make)
