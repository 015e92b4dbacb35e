# SPDX-License-Identifier: Apache-2.0
"""climate-api: the REST service in a small WSGI server."""
import sys

from oslo_log import log
import waitress

from climate import conf as configuration
from climate.api import app

# Threads that are left to refuse requests, and to answer /healthcheck, when all others are at work.
_REFUSING = 8
# Connections for each thread: most of them are kept open by clients that ask nothing just now.
_CONNECTIONS = 8


def main():
    """Serve until SIGTERM or Ctrl-C."""
    conf = configuration.load(sys.argv[1:], 'climate-api')
    log.setup(conf, 'climate')
    serve(app.build(conf), conf)


def serve(application, conf):
    """Serve `application` on [api] host and port, until the process is told to stop."""
    listen(application, conf).run()


def listen(application, conf):
    """A server that has taken [api] host and port; it answers once it is run."""
    try:
        return waitress.create_server(
            application, host=conf.api.host, port=conf.api.port, ident='climate',
            threads=conf.api.max_requests + _REFUSING, asyncore_use_poll=True,
            connection_limit=_CONNECTIONS * (conf.api.max_requests + _REFUSING),
            # Whether they are believed is for [oslo_middleware] to say.
            clear_untrusted_proxy_headers=False,
            max_request_body_size=max(16 * 1024 * 1024, 2 * conf.api.max_body_bytes))
    except OSError as error:
        raise SystemExit(
            f'{conf.api.host}:{conf.api.port} cannot be listened at: {error.strerror}. Does a '
            'Climate run there? Choose another port: OS_API__PORT=1235 in the environment, or '
            '[api] port in a --config-file.') from error
