# SPDX-License-Identifier: Apache-2.0
"""The RPC server of a manager: answer calls, and stop without losing one."""
from typing import Any

from oslo_config import cfg
from oslo_log import log
import oslo_messaging as messaging

from climate.rpc import transport

LOG = log.getLogger(__name__)


def serve(conf: cfg.ConfigOpts, name: str, endpoint: object) -> messaging.MessageHandlingServer:
    """Start to answer calls of the API with the methods of `endpoint`; return the server.

    :param name: the name of the server, by which nobody calls it.
    """
    connected = transport.connect(conf)
    transport.limit_prefetch(conf)
    server = messaging.get_rpc_server(
        connected, transport.target(conf, server=name), [endpoint],
        executor=conf.manager.backend, serializer=transport.Serializer(),
        access_policy=messaging.DefaultRPCAccessPolicy)
    server.start(override_pool_size=conf.manager.rpc_workers)
    return server


def stop(server: messaging.MessageHandlingServer) -> None:
    """Take no more calls. Those taken before are still answered, until `server.wait` returns.

    oslo.messaging stops reading, but leaves its consumers at RabbitMQ, which goes on to deliver
    calls until the connection is closed. To close it, the driver reads these calls, acknowledges
    them and drops them, so their callers would wait until their time limit. Therefore this
    function cancels the consumers and answers what was delivered until then.
    """
    server.stop()
    listener: Any = server.listener._poll_style_listener
    # The driver "fake" has no connection.
    if hasattr(listener, 'conn'):
        _cancel(listener.conn.connection)
    while received := listener.poll():
        server._on_incoming(received)


def _cancel(connection: Any) -> None:
    # The broker gives the calls of a lost connection to other managers.
    if not connection.connection.connected:
        return
    try:
        connection.reset()
    except (*connection.connection.connection_errors,
            *connection.connection.channel_errors) as error:
        LOG.warning('The consumers of this manager could not be cancelled: %s', error)
