# SPDX-License-Identifier: Apache-2.0
"""The REST service as one WSGI application: middleware in order, then pecan."""
from urllib import parse

from oslo_middleware import cors
from oslo_middleware import healthcheck
from oslo_middleware import http_proxy_to_wsgi
from oslo_middleware import request_id
import pecan
from webob import multidict

from climate import policy
from climate.api import auth
from climate.api import gate
from climate.api import hooks
from climate.api import times
from climate.api import views
from climate.api.controllers import base
from climate.api.controllers import root
from climate.plugins import registry
from climate.rpc import client

_OPEN = ('/', '/versions', '/v1/openapi')


def build(conf, manager=None, plugins=None, clock=times.now):
    """The application.

    :param manager: a ManagerClient; by default one over the bus that `conf` names.
    :param plugins: {resource type: plugin class}; by default those that `conf` names.
    :param clock: returns this moment, for the words in which a status is told.
    """
    manager = manager or client.ManagerClient(client.Bus(conf))
    plugins = plugins if plugins is not None else registry.load(conf.plugins)
    parts = base.Parts(conf=conf, manager=manager, policy=policy.Policy(conf),
                       views=views.Views(plugins), plugins=plugins, clock=clock)
    app = pecan.make_app(root.RootController(parts), use_context_locals=False, debug=False,
                         force_canonical=False, guess_content_type_from_ext=False,
                         request_cls=_Request, hooks=[hooks.RequestHook(), hooks.ErrorHook()])
    health = healthcheck.Healthcheck(None, {
        'oslo_config_config': conf, 'backends': 'climate_manager', 'climate_manager': manager})
    protected = gate.Gate(auth.protect(app, conf), conf.api.max_requests)
    app = _Doors({**dict.fromkeys(_OPEN, app), '/healthcheck': health}, protected)
    app = request_id.RequestId(app)
    app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    return cors.CORS(app, conf)


class _Request(pecan.Request):
    """A request of which pecan sees the method and the path only.

    By itself pecan would read every body whole, whatever its size, fill in arguments from it,
    and take another method from the field ``_method``.
    """

    json: dict = {}
    params = multidict.MultiDict()


class _Doors:
    """Paths that anybody may enter, each with its application; all else needs a proof."""

    def __init__(self, open_to_all, protected):
        self._open = open_to_all
        self._protected = protected

    def __call__(self, environ, start_response):
        # Every route has a twin that ends in .json.
        path = (environ.get('PATH_INFO') or '/').removesuffix('.json')
        environ['PATH_INFO'] = path
        if not _is_text(path) or not _is_text(environ.get('QUERY_STRING') or ''):
            return hooks.refused_url(environ, start_response)
        return self._open.get(path, self._protected)(environ, start_response)


def _is_text(part):
    """False for a part of the URL that is not UTF-8, or has the character 0 in it."""
    raw = parse.unquote_to_bytes(part.encode('latin-1'))
    try:
        return '\0' not in raw.decode('utf-8')
    except UnicodeDecodeError:
        return False
