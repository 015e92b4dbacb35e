# SPDX-License-Identifier: Apache-2.0
"""climate-api: the REST service in a small WSGI server."""
import sys

from climate import conf as configuration
from climate.api import app
from climate.cmd import start
from climate.cmd import web

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
    """Return a ``web.WebServer`` for the REST service.

    :raises ConfigurationError: the address cannot be used.
    """
    # One thread for each request, each request of Nova, and each DELETE or PUT that waits.
    threads = 2 * conf.api.max_requests + conf.api.delete_waits + _REFUSING
    return web.listen(application, conf, 'api', threads=threads,
                      connection_limit=_CONNECTIONS * threads,
                      max_request_body_size=max(16 * 1024 * 1024, 2 * conf.api.max_body_bytes))
