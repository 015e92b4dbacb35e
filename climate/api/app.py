# SPDX-License-Identifier: Apache-2.0
"""The REST service as one WSGI application: middleware in order, then pecan."""
from oslo_middleware import cors
from oslo_middleware import healthcheck
from oslo_middleware import http_proxy_to_wsgi
from oslo_middleware import request_id
import pecan

from climate import policy
from climate.api import auth
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.api.controllers import root
from climate.plugins import registry
from climate.rpc import client

_OPEN = ('/', '/versions', '/v1/openapi.json')


def build(conf, manager=None, plugins=None):
    """The application.

    :param manager: a ManagerClient; by default one over the bus that `conf` names.
    :param plugins: {resource type: plugin class}; by default those that `conf` names.
    """
    manager = manager or client.ManagerClient(client.Bus(conf))
    plugins = plugins if plugins is not None else registry.load(conf.plugins)
    parts = base.Parts(conf=conf, manager=manager, policy=policy.Policy(conf),
                       views=views.Views(plugins), plugins=plugins)
    app = pecan.make_app(root.RootController(parts), use_context_locals=False, debug=False,
                         hooks=[hooks.RequestHook(), hooks.ErrorHook()])
    health = healthcheck.Healthcheck(None, {
        'oslo_config_config': conf, 'backends': 'climate_manager', 'climate_manager': manager})
    app = _Doors({**dict.fromkeys(_OPEN, app), '/healthcheck': health}, auth.protect(app, conf))
    app = request_id.RequestId(app)
    app = http_proxy_to_wsgi.HTTPProxyToWSGI(app, conf)
    return cors.CORS(app, conf)


class _Doors:
    """Paths that anybody may enter, each with its application; all else needs a proof."""

    def __init__(self, open_to_all, protected):
        self._open = open_to_all
        self._protected = protected

    def __call__(self, environ, start_response):
        path = environ.get('PATH_INFO') or '/'
        return self._open.get(path, self._protected)(environ, start_response)
