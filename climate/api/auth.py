# SPDX-License-Identifier: Apache-2.0
"""Authentication of callers: keystone, http_basic or noauth."""
import importlib
import threading
import time

from keystoneauth1 import exceptions as keystone_errors
from keystonemiddleware import auth_token
from oslo_config import cfg
from oslo_log import log
from oslo_middleware import basic_auth
import webob.dec

from climate import errors
from climate.api import hooks
from climate.conf import checking

LOG = log.getLogger(__name__)

_GROUP = 'keystone_authtoken'
# The module that the middleware imports when it checks the first token.
_MEMCACHE = 'memcache'
_RETRY_SECONDS = 5
# The pause after a failed login. Without it, /healthcheck, which needs no token, could repeat the
# login so often that Keystone locks the user out.
_LOGIN_SECONDS = 10
_NO_ANSWER = (keystone_errors.ConnectFailure, keystone_errors.DiscoveryFailure,
              keystone_errors.HttpServerError)

# All headers by which a caller could claim another identity.
_IDENTITY = ('HTTP_X_USER_ID', 'HTTP_X_PROJECT_ID', 'HTTP_X_ROLES', 'HTTP_X_USER',
             'HTTP_X_USER_NAME', 'HTTP_X_PROJECT_NAME', 'HTTP_X_TENANT_NAME',
             'HTTP_X_TENANT', 'HTTP_X_IDENTITY_STATUS', 'HTTP_X_IS_ADMIN_PROJECT',
             'HTTP_OPENSTACK_SYSTEM_SCOPE', 'HTTP_X_DOMAIN_ID', 'HTTP_X_TENANT_ID')


def protect(app, conf):
    """Wrap `app` in the authentication middleware that [api] auth_strategy names.

    The method `login_problem` of the middleware returns why no token can be checked, or None. The
    reason has no secrets, because everybody may read it.
    """
    strategy = conf.api.auth_strategy
    if strategy == 'keystone':
        return _keystone(app, conf)
    if strategy == 'http_basic':
        checking.file(conf, 'api', 'http_basic_file')
        return _Basic(app, conf.api.http_basic_file)
    return _NoAuth(app)


def _keystone(app, conf):
    """Return the middleware of Keystone, if its options can be used.

    :raises ConfigurationError: they cannot.
    """
    try:
        made = _Keystone(app, {'oslo_config_config': conf})
    except (*checking.NO_LOGIN, cfg.NoSuchOptError) as error:
        raise checking.no_login(_GROUP, error) from error
    except keystone_errors.MissingRequiredOptions as error:
        raise checking.WrongValue(f'[{_GROUP}]: {error}. Set them.') from error
    if made._auth is None:
        raise checking.WrongValue(f'[{_GROUP}] auth_type is not set. Set it to "password" and give '
                                  'auth_url, username, password, project_name and the domains.')
    for name in ('cafile', 'certfile', 'keyfile'):
        checking.file(conf, _GROUP, name)
    checking.url(conf, _GROUP, 'www_authenticate_uri')
    checking.keystone(conf, conf[_GROUP].auth_section or _GROUP)
    _check_cache(conf[_GROUP].memcached_servers)
    return made


def _check_cache(servers):
    """Check that the middleware can make a client of these servers, as it does for each token.

    :raises ConfigurationError: its module is not installed, or a name is not one of a server.
    """
    if not servers:
        return
    try:
        importlib.import_module(_MEMCACHE).Client(servers)
    except ImportError as error:
        raise errors.ConfigurationError(
            f'[{_GROUP}] memcached_servers needs the Python module {_MEMCACHE}, which is not '
            'installed. The extra "memcached" of Climate installs it.') from error
    except ValueError as error:
        raise checking.WrongValue(f'[{_GROUP}] memcached_servers: {error}. Write names such as '
                                  'controller:11211, separated by commas.') from error


class _Keystone(auth_token.AuthProtocol):
    """The middleware of Keystone, with an error of Climate if it cannot check a token."""

    def __init__(self, app, conf):
        super().__init__(app, conf)
        self._lock = threading.Lock()
        self._problem = None
        self._failed_at = float('-inf')

    def process_request(self, request):
        try:
            return super().process_request(request)
        except webob.exc.HTTPServiceUnavailable:
            # The middleware has logged the reason.
            pass
        except keystone_errors.ClientException as error:
            LOG.error('[keystone_authtoken]: no token can be checked: %s', error)
        return hooks.refused(request.environ, errors.CloudUnreachable(
            service='Keystone', reason='it does not let Climate check tokens.',
            retry_after=_RETRY_SECONDS))

    def login_problem(self):
        """Return why the login in [keystone_authtoken] gets no token, or None.

        A new reason is logged.
        """
        with self._lock:
            if time.monotonic() - self._failed_at < _LOGIN_SECONDS:
                return self._problem
            problem, reason = self._logged_in()
            if problem != self._problem and problem is not None:
                LOG.error('[keystone_authtoken]: %s: %s', problem, reason)
            self._problem = problem
            if problem is not None:
                self._failed_at = time.monotonic()
            return problem

    def _logged_in(self):
        """Return (why the login got no token, the error of Keystone); both are None if it did."""
        try:
            # The session keeps a token until it expires.
            self._session.get_token(self._auth)
        except _NO_ANSWER as error:
            return 'Keystone does not answer the API', error
        except keystone_errors.ClientException as error:
            return 'Keystone refuses the login of the API', error
        return None, None


class _Authentication:
    """Middleware that writes the identity of the caller into the WSGI environment."""

    #: The WWW-Authenticate header of a 401.
    challenge = None

    def __init__(self, app):
        self._app = app

    @webob.dec.wsgify
    def __call__(self, request):
        for name in _IDENTITY:
            request.environ.pop(name, None)
        identity = self.identity(request)
        if identity is None:
            return self._refuse()
        user_id, project_id, roles = identity
        request.environ.update({
            'HTTP_X_USER_ID': user_id, 'HTTP_X_PROJECT_ID': project_id,
            'HTTP_X_ROLES': ','.join(roles), 'HTTP_X_IDENTITY_STATUS': 'Confirmed'})
        return request.get_response(self._app)

    @staticmethod
    def login_problem():
        return None

    def identity(self, request):
        """Return (user id, project id, roles), or None if the request has no valid credentials."""
        raise NotImplementedError

    def _refuse(self):
        return webob.Response(status=401, content_type='application/json', json_body={'error': {
            'code': 401, 'title': 'Unauthorized',
            'message': 'The request you have made requires authentication.'}},
            www_authenticate=self.challenge)


class _NoAuth(_Authentication):
    """Accepts every token ``user:project:role,role`` without a check. For development only."""

    challenge = 'Token format="user:project:role,role"'

    def identity(self, request):
        parts = request.headers.get('X-Auth-Token', '').split(':')
        if len(parts) < 2 or not all(parts[:2]):
            return None
        roles = parts[2].split(',') if len(parts) > 2 else ['member', 'reader']
        return parts[0], parts[1], roles


class _Basic(_Authentication):
    """HTTP basic authentication; each user is admin of the project with the user's name."""

    challenge = 'Basic realm="Climate"'

    def __init__(self, app, path):
        super().__init__(app)
        basic_auth.validate_auth_file(path)
        self._path = path

    def identity(self, request):
        try:
            user, password = basic_auth.parse_token(basic_auth.parse_header(request.environ))
            basic_auth.authenticate(self._path, user, password)
        except webob.exc.HTTPException:
            return None
        return user, user, ['admin', 'member', 'reader']
