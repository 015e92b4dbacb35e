# SPDX-License-Identifier: Apache-2.0
"""The web server of climate-api and climate-console, which stops without losing a request."""
import collections
import signal
import threading
import time

from oslo_log import log
import waitress
from waitress import channel
from waitress import task
from waitress import wasyncore

from climate import errors
from climate import version
from climate.conf import reloading

LOG = log.getLogger(__name__)

# The longest pause between two checks of the deadlines of a stop.
_POLL_SECONDS = 0.5
# During a stop, idle connections stay open for this time, because a load balancer may be sending
# the next request over such a connection.
_IDLE_SECONDS = 2
# The time within which idle threads must end.
_THREADS_SECONDS = 0.2


class _Task(task.WSGITask):
    """A request; its response closes the connection if the server is stopping."""

    def build_response_header(self):
        if not self.channel.server.accepting:
            self.request.headers['CONNECTION'] = 'close'
        return super().build_response_header()


class _Channel(channel.HTTPChannel):
    task_class = _Task

    @property
    def is_idle(self):
        return not (self.requests or self.request or self.total_outbufs_len)


class WebServer:
    """The server waitress on one or more sockets; it answers requests during `run`.

    :param idle_seconds: how long a connection without a request stays open during a stop.
    :param adjustments: the arguments of ``waitress.create_server``.
    :raises OSError: the address cannot be used.
    """

    def __init__(self, application, idle_seconds=_IDLE_SECONDS, **adjustments):
        self._idle_seconds = idle_seconds
        self._sockets = {}
        self._orders = collections.deque()
        self._deadline = None
        # Reentrant, because a signal handler may interrupt the thread that holds this lock.
        self._lock = threading.RLock()
        self._is_closed = False
        server = waitress.create_server(
            application, map=self._sockets, asyncore_use_poll=True, **adjustments)
        self._dispatcher = server.task_dispatcher
        self._listeners = [listener for listener in self._sockets.values()
                           if isinstance(listener, waitress.server.BaseWSGIServer)]
        for listener in self._listeners:
            listener.channel_class = _Channel

    @property
    def port(self):
        """The port of the first listening socket."""
        return self._listeners[0].effective_port

    @property
    def connections(self):
        """The open connections."""
        return [connection for connection in self._sockets.values()
                if isinstance(connection, _Channel)]

    @property
    def is_stopping(self):
        return self._deadline is not None

    def run(self):
        """Answer requests until `stop` or `close` is called."""
        while self._sockets and not self.is_stopping:
            self._poll()
        if self._sockets:
            self._finish()
            self.close()

    def order(self, action, *arguments):
        """Call a function soon in the thread of `run`; signal handlers may call this method."""
        self._orders.append((action, arguments))
        with self._lock:
            if not self._is_closed:
                self._listeners[0].pull_trigger()

    def stop(self, within_seconds):
        """Close the listening sockets, finish the requests in progress, and return from `run`.

        :param within_seconds: the time within which requests must finish.
        """
        self._deadline = time.monotonic() + within_seconds

    def close(self):
        """Close all sockets at once, and end the threads that have no request."""
        with self._lock:
            # `order` must not use the trigger any more, because its descriptor may be reused.
            self._is_closed = True
        self._dispatcher.shutdown(timeout=_THREADS_SECONDS)
        wasyncore.close_all(self._sockets)

    def _poll(self):
        wasyncore.loop(timeout=_POLL_SECONDS, use_poll=True, map=self._sockets, count=1)
        for _ in range(len(self._orders)):
            action, arguments = self._orders.popleft()
            action(*arguments)

    def _finish(self):
        for listener in self._listeners:
            self._accept_all(listener)
            # The method `listener.close` would also close the trigger, which connections need.
            wasyncore.dispatcher.close(listener)
        idle_until = time.monotonic() + self._idle_seconds
        while self.connections and time.monotonic() < self._deadline:
            self._poll()
            if time.monotonic() >= idle_until:
                for connection in self.connections:
                    connection.will_close = connection.will_close or connection.is_idle
        busy = sum(not connection.is_idle for connection in self.connections)
        if busy:
            LOG.warning('%s requests were not finished in time', busy)

    def _accept_all(self, listener):
        """Accept the connections in the kernel's queue, which a close would reset."""
        before = None
        while before != len(self._sockets):
            before = len(self._sockets)
            listener.handle_accept()


def listen(application, conf, group, **adjustments):
    """Return a WebServer that listens on `host` and `port` of an option group; call its `run`.

    :param group: 'api' or 'console'.
    :param adjustments: further arguments of ``waitress.create_server``.
    :raises ConfigurationError: the address cannot be used.
    """
    host, port = conf[group].host, conf[group].port
    try:
        # [oslo_middleware] decides whether headers of proxies are trusted.
        server = WebServer(application, host=host, port=port, ident='climate',
                           clear_untrusted_proxy_headers=False, **adjustments)
    except ValueError as error:
        raise errors.ConfigurationError(
            f'[{group}] host = {host}: this name has no address. Name an address of this machine, '
            'or 0.0.0.0 for all.') from error
    except OSError as error:
        raise errors.ConfigurationError(
            f'[{group}] host and port: climate-{group} cannot listen on {host}:{port}: '
            f'{error.strerror}. Is another Climate running there? Choose another port: '
            f'OS_{group.upper()}__PORT={port + 1} in the environment, or [{group}] port in a '
            '--config-file.') from error
    LOG.info('climate-%s %s listens on %s:%s', group, version.text(), host, port)
    return server


def serve(server, conf, program):
    """Answer requests until SIGTERM or SIGINT; SIGHUP reads the configuration again.

    A second SIGTERM or SIGINT ends the program without finishing requests.
    """
    def stop(number):
        name = signal.Signals(number).name
        if server.is_stopping:
            LOG.warning('%s: %s again; it ends at once', program, name)
            server.stop(0)
            return
        LOG.info('%s: %s; it finishes the requests of %s connections and ends', program, name,
                 len(server.connections))
        # 0: never.
        server.stop(conf.graceful_shutdown_timeout or float('inf'))

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: server.order(stop, number))
    signal.signal(signal.SIGHUP, lambda _number, _frame: server.order(
        reloading.mutate, conf, program))
    server.run()
    LOG.info('%s: stopped', program)
