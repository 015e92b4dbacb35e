# SPDX-License-Identifier: Apache-2.0
"""Keystone sessions: as the service, or on behalf of a trust."""
import threading

from keystoneauth1 import loading
from keystoneauth1 import session as keystone_session
import requests

from climate import errors
from climate.cloud import guard

_SCHEMES = ('http://', 'https://')
_CONNECTION_OPTS = {'cafile': 'cacert', 'certfile': 'cert', 'keyfile': 'key',
                    'insecure': 'insecure', 'timeout': 'timeout',
                    'collect_timing': 'collect_timing', 'split_loggers': 'split_loggers',
                    'tls_ciphers': 'tls_ciphers', 'tls_min_version': 'tls_min_version'}
# A token of a trust has the trust's project; Keystone takes no other scope beside it.
_UNSCOPED = dict.fromkeys(('project_id', 'project_name', 'project_domain_id',
                           'project_domain_name', 'domain_id', 'domain_name', 'system_scope'))


class Sessions:
    """Makes the sessions of a process.

    All sessions of one group share their connections and what they learned about versions, and
    all groups without a login of their own share the one token of [keystone].
    """

    def __init__(self, conf):
        self._conf = conf
        self._http = {}
        self._versions = {}
        self._login = load_login(conf, 'keystone')
        if self._login is None:
            raise errors.CloudError(service='Keystone', reason=(
                '[keystone] auth_type is not set. Set it to "password" and give auth_url, '
                'username, password, project_name and the domains.'))

    def as_service(self, group):
        """A session for the service that is configured in `group`, as Climate itself."""
        login = None if group == 'keystone' else load_login(self._conf, group)
        return self._session(group, login or self._login)

    def login_of(self, trust_id):
        """The login on behalf of a trust, to be shared by the sessions of one user."""
        return load_login(self._conf, 'keystone', trust_id=trust_id, **_UNSCOPED)

    def as_user(self, group, login):
        """A session for the service that is configured in `group`, with a login of a user."""
        return self._session(group, login)

    def _session(self, group, login):
        options = {name: self._option(group, opt) for opt, name in _CONNECTION_OPTS.items()}
        # 0 is "without limit", which keystoneauth calls None.
        options['timeout'] = options['timeout'] or None
        if group not in self._http:
            self._http[group] = _connections(
                self._conf[group].concurrency, tls_ciphers=options['tls_ciphers'],
                tls_min_version=options['tls_min_version'])
        return loading.session.Session().load_from_options(
            auth=login, session=self._http[group], user_agent='climate',
            discovery_cache=self._versions.setdefault(group, {}), **options)

    def _option(self, group, name):
        own = self._conf[group][name]
        return self._conf.keystone[name] if own is None or own is False else own


def load_login(conf, group, **overrides):
    """The login that a group configures, or None where it configures none."""
    # Once more, now that the file is read: auth_section may name a group without options.
    loading.register_auth_conf_options(conf, group)
    return loading.load_auth_from_conf_options(conf, group, **overrides)


def _connections(most, **options):
    """Connections of which `most` are used at the same time."""
    http = requests.Session()
    turns = threading.BoundedSemaphore(most)
    for scheme in _SCHEMES:
        http.mount(scheme, _InTurn(turns, pool_maxsize=most, **options))
    return http


class _InTurn(keystone_session.TCPKeepAliveAdapter):
    """Sends a call when it is its turn, so that thousands of due events do not flood a service."""

    def __init__(self, turns, **options):
        self._turns = turns
        super().__init__(**options)

    def send(self, *args, **kwargs):
        with self._turns:
            guard.ask()
            return super().send(*args, **kwargs)
