# SPDX-License-Identifier: Apache-2.0
"""Authentication of callers: keystone, http_basic or noauth."""
import threading
import time

from keystoneauth1 import exceptions as keystone_errors
from keystonemiddleware import auth_token
from oslo_log import log
from oslo_middleware import basic_auth
import webob.dec

from climate import errors
from climate.api import hooks
from climate.conf import checking

LOG = log.getLogger(__name__)

_RETRY_SECONDS = 5
# The pause after a failed login. Everybody may call /healthcheck, and Keystone may lock users out.
_LOGIN_SECONDS = 10
_NO_ANSWER = (keystone_errors.ConnectFailure, keystone_errors.DiscoveryFailure,
              keystone_errors.HttpServerError)

# All headers by which a caller could claim another identity.
_IDENTITY = ('HTTP_X_USER_ID', 'HTTP_X_PROJECT_ID', 'HTTP_X_ROLES', 'HTTP_X_USER',
             'HTTP_X_USER_NAME', 'HTTP_X_IDENTITY_STATUS', 'HTTP_X_IS_ADMIN_PROJECT',
             'HTTP_OPENSTACK_SYSTEM_SCOPE', 'HTTP_X_DOMAIN_ID', 'HTTP_X_TENANT_ID')


def protect(app, conf):
    """Wrap `app` in the authentication middleware that [api] auth_strategy names.

    Its method `login_problem` returns the reason why no token can be checked, or None. Everybody
    may read the reason.
    """
    strategy = conf.api.auth_strategy
    if strategy == 'keystone':
        return _Keystone(app, {'oslo_config_config': conf})
    if strategy == 'http_basic':
        checking.file(conf, 'api', 'http_basic_file')
        return _Basic(app, conf.api.http_basic_file)
    return _NoAuth(app)


class _Keystone(auth_token.AuthProtocol):
    """The middleware of Keystone; if it cannot check a token, its answer is an error of Climate."""

    def __init__(self, app, conf):
        super().__init__(app, conf)
        self._lock = threading.Lock()
        self._problem = None
        self._failed_at = float('-inf')

    def process_request(self, request):
        try:
            return super().process_request(request)
        except webob.exc.HTTPServiceUnavailable:
            # The middleware has logged why.
            pass
        except keystone_errors.ClientException as error:
            LOG.error('[keystone_authtoken]: no token can be checked: %s', error)
        return hooks.refused(request.environ, errors.CloudUnreachable(
            service='Keystone', reason='it does not let Climate check tokens.',
            retry_after=_RETRY_SECONDS))

    def login_problem(self):
        """Return why the login in [keystone_authtoken] gets no token, or None; log a change."""
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
        """Return (why there is no token or None, the words of Keystone or None)."""
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
    """Accepts every token ``user:project:role,role`` unchecked. For development only."""

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
