# SPDX-License-Identifier: Apache-2.0
"""climate-console: the pages for browsers, in a small WSGI server."""
import sys

from oslo_middleware import http_proxy_to_wsgi

from climate import conf as configuration
from climate.cmd import start
from climate.cmd import web
from climate.console import app


def main():
    """Run the console until SIGTERM or Ctrl-C; SIGHUP reads the configuration again."""
    conf = configuration.load(sys.argv[1:], 'climate-console', defaults=[
        ('cache', 'enabled', True), ('cache', 'backend', 'dogpile.cache.memory')])
    with start.refusing('climate-console'):
        configuration.set_up_logging(conf)
        server = listen(app.build(conf), conf)
    web.serve(server, conf, 'climate-console')


def listen(application, conf):
    """Return a ``web.WebServer`` for the console.

    :raises ConfigurationError: the address cannot be used.
    """
    return web.listen(http_proxy_to_wsgi.HTTPProxyToWSGI(application, conf), conf, 'console',
                      threads=conf.console.threads,
                      max_request_body_size=2 * conf.console.max_body_bytes)
