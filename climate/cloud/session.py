# SPDX-License-Identifier: Apache-2.0
"""Keystone sessions, as Climate itself or on behalf of a trust."""
import re
import time

from keystoneauth1 import loading
from keystoneauth1 import plugin
from keystoneauth1 import session as keystone_session
import requests

from climate import errors
from climate.cloud import call_guard
from climate.cloud import concurrency
from climate.conf import checking

_TOO_BUSY = (429, 503)
# A part of an address with a digit, and the name of the first field of a body.
_ID = re.compile(r'/[^/]*\d[^/]*')
_ACTION = re.compile(r'\s*\{\s*"(\w+)"')
_SCHEMES = ('http://', 'https://')
_CONNECTION_OPTS = {'cafile': 'cacert', 'certfile': 'cert', 'keyfile': 'key',
                    'insecure': 'insecure', 'timeout': 'timeout',
                    'collect_timing': 'collect_timing', 'split_loggers': 'split_loggers',
                    'tls_ciphers': 'tls_ciphers', 'tls_min_version': 'tls_min_version'}
# A token of a trust has the project of the trust; Keystone refuses any other scope with it.
_UNSCOPED = dict.fromkeys(('project_id', 'project_name', 'project_domain_id',
                           'project_domain_name', 'domain_id', 'domain_name', 'system_scope'))


class Sessions:
    """The sessions of a process.

    All sessions of one option group share their connections and the versions they discovered. All
    groups without a login of their own share the token of [keystone].
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
        """Return a session for the service of an option group, as Climate itself."""
        return self.as_user(group, self._own_login(group) or self._login)

    def login_group(self, group):
        """Return the name of the option group whose login the service of `group` uses."""
        return group if self._own_login(group) else 'keystone'

    def login_of(self, trust_id):
        """Return the login on behalf of a trust, to be shared by all sessions of that trust."""
        return load_login(self._conf, 'keystone', trust_id=trust_id, **_UNSCOPED)

    def login_with(self, token):
        """Return the login that uses the token of a caller."""
        return _CallerLogin(token, self._login)

    def as_user(self, group, login):
        """Return a session for the service of an option group, with the login of a user."""
        options = {name: self._option(group, opt) for opt, name in _CONNECTION_OPTS.items()}
        # 0 means no limit, for which keystoneauth expects None.
        options['timeout'] = options['timeout'] or None
        if group not in self._http:
            self._http[group] = _connections(
                group, self._conf[group].concurrency, tls_ciphers=options['tls_ciphers'],
                tls_min_version=options['tls_min_version'])
        return loading.session.Session().load_from_options(
            auth=login, session=self._http[group], user_agent='climate',
            discovery_cache=self._versions.setdefault(group, {}), **options)

    def _own_login(self, group):
        return None if group == 'keystone' else load_login(self._conf, group)

    def _option(self, group, name):
        own = self._conf[group][name]
        return self._conf.keystone[name] if own is None or own is False else own


class _CallerLogin(plugin.BaseAuthPlugin):
    """A login with a token that exists. The endpoints are those of Climate's own login."""

    def __init__(self, token, own_login):
        super().__init__()
        self._token = token
        self._own_login = own_login

    def get_token(self, session, **kwargs):
        return self._token

    def get_endpoint(self, session, **kwargs):
        return self._own_login.get_endpoint(session, **kwargs)

    def get_endpoint_data(self, session, **kwargs):
        return self._own_login.get_endpoint_data(session, **kwargs)


def load_login(conf, group, **overrides):
    """Return the login that an option group configures, or None if it configures none."""
    # Registered again after the file was read: auth_section may name a group without options.
    loading.register_auth_conf_options(conf, group)
    try:
        login = loading.load_auth_from_conf_options(conf, group, **overrides)
        if login is not None:
            checking.keystone(conf, conf[group].auth_section or group)
        return login
    except checking.NO_LOGIN as error:
        raise checking.no_login(group, error) from error


def _connections(group, most, **options):
    """Return a requests.Session that makes at most `most` calls of a service at once."""
    http = requests.Session()
    queue = concurrency.CallQueue(most, group.capitalize())
    for scheme in _SCHEMES:
        http.mount(scheme, _QueueingHTTPAdapter(queue, pool_maxsize=most, **options))
    return http


class _QueueingHTTPAdapter(keystone_session.TCPKeepAliveAdapter):
    """An HTTP adapter that observes the concurrency limit of its service.

    :ivar queue: the CallQueue of the service.
    """

    def __init__(self, queue, **options):
        self.queue = queue
        super().__init__(**options)

    def send(self, request, timeout=None, **kwargs):
        with self.queue:
            timeout = call_guard.seconds_left(timeout)
            if timeout == 0:
                raise requests.Timeout('There was no time left for this call.', request=request)
            began = time.monotonic()
            answer = super().send(request, timeout=timeout, **kwargs)
            if answer.status_code in _TOO_BUSY:
                self.queue.limit.refused()
            else:
                self.queue.limit.answered(kind_of(request), time.monotonic() - began)
            return answer


def kind_of(request):
    """Return the method and the address of a request without ids, and its action."""
    path = _ID.sub('/*', request.path_url.partition('?')[0])
    action = _ACTION.match(_text(request.body)) if path.endswith(('/action', '/actions')) else None
    return request.method, path, action and action[1]


def _text(body):
    """Return the body of a request, which may be text, bytes or None, as text."""
    return body.decode() if isinstance(body, bytes) else body or ''
