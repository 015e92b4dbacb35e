# SPDX-License-Identifier: Apache-2.0
"""The REST service as one WSGI application: pecan inside several layers of middleware."""
from urllib import parse

from oslo_log import log
from oslo_middleware import cors
from oslo_middleware import healthcheck
from oslo_middleware import http_proxy_to_wsgi
from oslo_middleware import request_id
import pecan
from webob import multidict

from climate import policy
from climate.api import auth
from climate.api import calendar_paths
from climate.api import hooks
from climate.api import throttling
from climate.api import times
from climate.api import unchanged
from climate.api import views
from climate.api.chameleon import paths as chameleon_paths
from climate.api.controllers import base
from climate.api.controllers import root
from climate.plugins import registry
from climate.rpc import bus
from climate.rpc import client

LOG = log.getLogger(__name__)

_PUBLIC = ('/', '/versions', '/v1/openapi')


def build(conf, manager=None, plugins=None, clock=times.now, rules=None):
    """Build the WSGI application.

    :param manager: a ManagerClient; None: a client on the message bus that `conf` names.
    :param plugins: {resource type: plugin class}; None: the plugins that `conf` enables.
    :param clock: a function that returns the current time.
    :param rules: a Policy; None: the Policy that `conf` names.
    """
    manager = manager or client.ManagerClient(bus.Bus(conf))
    plugins = plugins if plugins is not None else registry.load(conf.plugins)
    rules = rules or policy.Policy(conf, pools=registry.pools_of(plugins),
                                   views=registry.views_of(registry.pools_of(plugins)))
    for problem in rules.problems():
        LOG.warning('The policy has a rule that nothing reads: %s', problem)
    parts = base.Parts(
        conf=conf, manager=manager,
        policy=rules, views=views.Views(plugins), plugins=plugins, clock=clock)
    tree = root.RootController(parts)
    chameleon_paths.add(tree.v1, parts)
    app = pecan.make_app(tree, use_context_locals=False, debug=False,
                         force_canonical=False, guess_content_type_from_ext=False,
                         request_cls=_Request, hooks=[
                             hooks.RequestHook(conf.api.chameleon), hooks.ErrorHook(rules)])
    app = unchanged.ConditionalRequests(app, manager, clock)
    limited = throttling.ProjectLimiter(app, conf.api.max_requests_per_project)
    authenticated = auth.protect(limited, conf)
    protected = throttling.RequestLimiter(authenticated, conf.api.max_requests)
    health = healthcheck.Healthcheck(None, {
        'oslo_config_config': conf, 'backends': 'climate_manager', 'climate_manager': manager,
        'climate_login_problem': authenticated.login_problem})
    # Calendars need no token. A separate limit keeps their requests from displacing others.
    calendars = calendar_paths.HiddenSecrets(throttling.RequestLimiter(
        app, conf.api.max_requests))
    app = _PublicPaths({**dict.fromkeys(_PUBLIC, app), '/healthcheck': health}, calendars,
                       protected)
    app = request_id.RequestId(app)
    app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    return cors.CORS(app, conf)


class _Request(pecan.Request):
    """A request that hides its body and its query from pecan.

    Otherwise pecan would read each body completely, pass the fields of the body as arguments, and
    replace the HTTP method by the field ``_method``.
    """

    json: dict = {}
    params = multidict.MultiDict()


class _PublicPaths:
    """WSGI middleware that lets some paths pass without authentication.

    :param public: {path: WSGI application}.
    :param calendars: the WSGI application for calendars.
    :param protected: the WSGI application for all other paths.
    """

    def __init__(self, public, calendars, protected):
        self._public = public
        self._calendars = calendars
        self._protected = protected

    def __call__(self, environ, start_response):
        # Every path may also end with .json.
        sent_path = environ.get('PATH_INFO') or '/'
        path = environ['PATH_INFO'] = sent_path.removesuffix('.json')
        environ[hooks.JSON_SUFFIX] = path != sent_path
        if not _is_text(path) or not _is_text(environ.get('QUERY_STRING') or ''):
            return hooks.refused_url(environ, start_response)
        if path.startswith(calendar_paths.PREFIX):
            return self._calendars(environ, start_response)
        return self._public.get(path, self._protected)(environ, start_response)


def _is_text(part):
    """Return whether a part of the URL is UTF-8 text without NUL characters."""
    raw = parse.unquote_to_bytes(part.encode('latin-1'))
    try:
        return '\0' not in raw.decode('utf-8')
    except UnicodeDecodeError:
        return False
