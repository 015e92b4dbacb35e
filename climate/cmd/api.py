# SPDX-License-Identifier: Apache-2.0
"""climate-api: the REST service in a small WSGI server."""
import sys

from oslo_log import log

from climate import conf as configuration
from climate import errors
from climate import version
from climate.api import app
from climate.cmd import start
from climate.cmd import web

LOG = log.getLogger(__name__)

# Additional threads that refuse requests and answer /healthcheck while all others are busy.
_REFUSING = 8
# Connections for each thread: most of them are idle connections that clients keep open.
_CONNECTIONS = 8


def main():
    """Run the REST service until SIGTERM or Ctrl-C; SIGHUP reads the configuration again."""
    conf = configuration.load(sys.argv[1:], 'climate-api')
    with start.refusing('climate-api'):
        configuration.set_up_logging(conf)
        server = listen(app.build(conf), conf)
    web.serve(server, conf, 'climate-api')


def listen(application, conf):
    """Return a server that listens on [api] host and port; it answers when it is run.

    :raises errors.ConfigurationError: the address cannot be used.
    """
    # A thread for each request, each question of Nova, and each DELETE that waits.
    threads = 2 * conf.api.max_requests + conf.api.delete_waits + _REFUSING
    try:
        server = web.Server(
            application, host=conf.api.host, port=conf.api.port, ident='climate',
            threads=threads, connection_limit=_CONNECTIONS * threads,
            # [oslo_middleware] decides whether these headers are trusted.
            clear_untrusted_proxy_headers=False,
            max_request_body_size=max(16 * 1024 * 1024, 2 * conf.api.max_body_bytes))
    except OSError as error:
        raise errors.ConfigurationError(
            f'[api] host and port: Climate cannot listen on {conf.api.host}:{conf.api.port}: '
            f'{error.strerror}. Is another Climate running there? Choose another port: '
            'OS_API__PORT=1235 in the environment, or [api] port in a --config-file.') from error
    LOG.info('climate-api %s listens on %s:%s', version.text(), conf.api.host, conf.api.port)
    return server
