# SPDX-License-Identifier: Apache-2.0
"""The real cloud: its services, under the identities that Climate has."""
import collections
from concurrent import futures
import threading

from climate import errors
from climate.cloud import base
from climate.cloud import computes
from climate.cloud import faults
from climate.cloud import flavors
from climate.cloud import images
from climate.cloud import keystone
from climate.cloud import nova
from climate.cloud import placement
from climate.cloud import servers
from climate.cloud import session

_USERS = 256


class OpenStackCloud(base.Cloud):
    """The adapters, built once from `conf`; the first login happens at the first use."""

    def __init__(self, conf):
        self._conf = conf
        self._sessions = session.Sessions(conf)
        self._pool = futures.ThreadPoolExecutor(conf.nova.concurrency, 'climate-cloud')
        self._service = self._services(self._sessions.as_service)
        # Those used last, newest at the end: {trust id: (session, Services)}.
        self._users = collections.OrderedDict()
        self._lock = threading.Lock()

    def as_service(self):
        return self._service

    def as_user(self, trust_id):
        if not trust_id:
            raise errors.TrustDead(service='Keystone', reason='there is no trust.')
        login_session, services = self._user(trust_id)
        # Here and not later, so that a caller can do without the user.
        with faults.mapped('Keystone', trust_id):
            login_session.get_token()
        return services

    def _user(self, trust_id):
        with self._lock:
            if trust_id not in self._users:
                login = self._sessions.login_of(trust_id)
                self._users[trust_id] = (
                    self._sessions.as_user('keystone', login),
                    self._services(lambda group: self._sessions.as_user(group, login), trust_id))
                while len(self._users) > _USERS:
                    self._users.popitem(last=False)
            self._users.move_to_end(trust_id)
            return self._users[trust_id]

    def _services(self, session_for, trust_id=None):
        return base.Services(
            nova=nova.Nova(self._conf, session_for('nova'), self._pool, trust_id),
            flavors=flavors.Flavors(self._conf, session_for('nova'), trust_id),
            placement=placement.Placement(self._conf, session_for('placement'), self._pool,
                                          trust_id),
            keystone=keystone.Keystone(self._conf, session_for('keystone'), trust_id),
            servers=servers.Servers(self._conf, session_for('nova'), trust_id),
            images=images.Images(self._conf, session_for('glance'), trust_id),
            computes=computes.Computes(self._conf, session_for('nova'), trust_id))
