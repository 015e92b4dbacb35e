# SPDX-License-Identifier: Apache-2.0
"""climate-api: the REST service in a small WSGI server."""
import sys

from oslo_log import log
import waitress

from climate import conf as configuration
from climate.api import app


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
            application, host=conf.api.host, port=conf.api.port, threads=conf.api.threads,
            ident='climate',
            max_request_body_size=max(16 * 1024 * 1024, 2 * conf.api.max_body_bytes))
    except OSError as error:
        raise SystemExit(
            f'{conf.api.host}:{conf.api.port} cannot be listened at: {error.strerror}. Does a '
            'Climate run there? Choose another with [api] port in a --config-file.') from error
