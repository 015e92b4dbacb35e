# SPDX-License-Identifier: Apache-2.0
"""A climate-api that listens on loopback, in the process of the test."""
import contextlib
import threading

from climate.api import app
from climate.cmd import api
from support import builders


@contextlib.contextmanager
def climate_api(conf, manager):
    """Serve climate-api on a free port of loopback; yield the port."""
    conf.set_override('port', builders.a_free_port(), group='api')
    # Each of them has threads.
    conf.set_override('max_requests', 8, group='api')
    conf.set_override('delete_waits', 2, group='api')
    server = api.listen(app.build(
        conf, manager.client, builders.manager_plugins(conf), clock=manager.clock), conf)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield conf.api.port
    finally:
        # Its threads would stay for as long as the tests run, and there are many tests.
        server.order(server.stop, 0)
        thread.join()
