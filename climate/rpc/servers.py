# SPDX-License-Identifier: Apache-2.0
"""The servers of a manager on the bus: they answer calls, and stop without losing a call."""
from collections.abc import Callable
import threading
from typing import Any

from oslo_config import cfg
from oslo_log import log
import oslo_messaging as messaging

from climate.rpc import bus
from climate.rpc import transport

LOG = log.getLogger(__name__)


def serve(conf: cfg.ConfigOpts, name: str, endpoint: object) -> messaging.MessageHandlingServer:
    """Start to answer calls of the API with the methods of `endpoint`; return the server.

    :param name: the name of the server. It must be unique, but calls are sent to any server.
    """
    connected = transport.connect(conf)
    transport.limit_prefetch(conf)
    server = messaging.get_rpc_server(
        connected, transport.target(conf, server=name), [endpoint],
        executor=conf.manager.backend, serializer=transport.RpcSerializer(),
        access_policy=messaging.DefaultRPCAccessPolicy)
    server.start(override_pool_size=conf.manager.rpc_workers)
    return server


def stop(server: messaging.MessageHandlingServer) -> None:
    """Accept no more calls. Accepted calls are answered before `server.wait` returns.

    oslo.messaging stops reading, but RabbitMQ continues to deliver calls to the consumers until the
    connection is closed. When the driver closes the connection, it acknowledges and drops these
    calls, so that their callers would wait until their time limit. Therefore this function cancels
    the consumers, and answers the calls that were delivered before.
    """
    server.stop()
    listener: Any = server.listener._poll_style_listener
    # The driver "fake" has no connection.
    if hasattr(listener, 'conn'):
        _cancel(listener.conn.connection)
    while received := listener.poll():
        server._on_incoming(received)


class BusServer:
    """A server of oslo.messaging that can be stopped while it still waits for its broker.

    oslo.messaging waits for a broker without limit.

    :param serve: a function that starts the server and returns it.
    :param option: the option with the URL of the server's bus.
    """

    def __init__(self, serve: Callable[[], messaging.MessageHandlingServer],
                 option: str = bus.OPTION) -> None:
        self._serve = serve
        self._option = option
        self._lock = threading.Lock()
        self._server: Any = None
        self._stopped = False

    def start(self) -> None:
        """Start the server; return when it is connected to its broker.

        :raises BusUnreachable: the broker refuses the login or the queues, or cannot be used.
        """
        try:
            server = self._serve()
        except bus.UNUSABLE as error:
            raise bus.unusable(self._option, error) from error
        with self._lock:
            self._server = server
            stopped = self._stopped
        if stopped:
            stop(server)

    def stop(self) -> None:
        """Accept no more messages; if the server is still starting, stop it after the start."""
        with self._lock:
            self._stopped = True
            server = self._server
        if server is not None:
            stop(server)

    def wait(self) -> None:
        """Wait until all accepted messages have been handled."""
        if self._server is not None:
            self._server.wait()


def _cancel(connection: Any) -> None:
    # If the connection is lost, the broker sends its calls to other managers.
    if not connection.connection.connected:
        return
    # The driver deletes fanout queues when it closes a connection, but not after `reset`. With
    # these options the managers share their fanout queues, so they must not be deleted.
    is_shared = connection.rabbit_stream_fanout or connection.use_queue_manager
    fanout = [] if is_shared else [
        consumer.queue for consumer in connection._consumers if consumer.type == 'fanout']
    try:
        connection.reset()
        for queue in fanout:
            queue.delete()
    except (*connection.connection.connection_errors,
            *connection.connection.channel_errors) as error:
        LOG.warning('The consumers of this manager could not be cancelled: %s', error)
