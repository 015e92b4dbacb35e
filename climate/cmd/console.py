# SPDX-License-Identifier: Apache-2.0
"""climate-console: the pages for browsers, in a small WSGI server."""
import sys

from oslo_log import log
from oslo_middleware import http_proxy_to_wsgi

from climate import conf as configuration
from climate import errors
from climate import version
from climate.cmd import start
from climate.cmd import web
from climate.console import app

LOG = log.getLogger(__name__)


def main():
    """Run the console until SIGTERM or Ctrl-C; SIGHUP reads the configuration again."""
    conf = configuration.load(sys.argv[1:], 'climate-console', defaults=[
        ('cache', 'enabled', True), ('cache', 'backend', 'dogpile.cache.memory')])
    with start.refusing('climate-console'):
        configuration.set_up_logging(conf)
        server = listen(app.build(conf), conf)
    web.serve(server, conf, 'climate-console')


def listen(application, conf):
    """Return a server that listens on [console] host and port; it answers when it is run.

    :raises errors.ConfigurationError: the address cannot be used.
    """
    try:
        server = web.Server(
            http_proxy_to_wsgi.HTTPProxyToWSGI(application, conf), host=conf.console.host,
            port=conf.console.port, ident='climate', threads=conf.console.threads,
            clear_untrusted_proxy_headers=False,
            max_request_body_size=2 * conf.console.max_body_bytes)
    except OSError as error:
        raise errors.ConfigurationError(
            '[console] host and port: the console cannot listen on '
            f'{conf.console.host}:{conf.console.port}: {error.strerror}. Choose another port: '
            'OS_CONSOLE__PORT=1237 in the environment, or [console] port in a --config-file.'
        ) from error
    LOG.info('climate-console %s listens on %s:%s', version.text(), conf.console.host,
             conf.console.port)
    return server
