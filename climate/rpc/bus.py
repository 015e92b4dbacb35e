# SPDX-License-Identifier: Apache-2.0
"""The message bus: RPC calls to managers, and checks that the bus can be used."""
import contextlib
from typing import Any

import amqp
from kombu import exceptions as kombu_exceptions
from kombu.transport import pyamqp
from oslo_config import cfg
from oslo_log import log
import oslo_messaging as messaging

from climate import context
from climate import errors
from climate.rpc import transport

LOG = log.getLogger(__name__)

# By default oslo.messaging retries for ever while the broker is down. Then requests would hang in
# the API, and be carried out long after their callers had given up.
_RETRIES = 2
#: The option with the URL of the bus of calls.
OPTION = '[DEFAULT] transport_url'
# oslo.messaging raises these errors of the driver unchanged, without a retry. NotAllowed means that
# the virtual host does not exist or that the user may not use it.
_REFUSED = (*pyamqp.Transport.channel_errors, amqp.NotAllowed)
# A manager of an older release raises these errors if the call is new.
_UNKNOWN_CALLS = ('NoSuchMethod', 'UnsupportedVersion')
# The text of the error for an unknown argument, of Python.
_UNKNOWN_ARGUMENT = 'got an unexpected keyword argument'
#: The errors of a bus that cannot be used.
UNUSABLE = (*_REFUSED, messaging.MessagingException, kombu_exceptions.OperationalError)


class BusUnreachable(Exception):
    """The bus cannot be reached; the text has the reason."""


class NoManagerQueue(BusUnreachable):
    """The bus has no queue for calls, because no manager has started yet."""


class LoginRefused(BusUnreachable, errors.ConfigurationError):
    """The bus refuses the login of an option."""

    def __init__(self, option: str, error: Exception) -> None:
        reason = str(error).rstrip('.')
        super().__init__(f'{option}: the login is refused: {reason}. Correct its user, password or '
                         'virtual host, or create them in RabbitMQ.')


def reach(conf: cfg.ConfigOpts, retries: int = _RETRIES, needs_manager: bool = False) -> None:
    """Log in to the bus that transport_url names, and close the connection.

    :param retries: the number of further attempts to connect.
    :param needs_manager: whether to check that the queue of the managers exists.
    :raises NoManagerQueue: the queue does not exist.
    :raises LoginRefused: the user, the password or the virtual host is wrong.
    :raises BusUnreachable: the broker does not answer.
    :raises errors.ConfigurationError: the URL is wrong.
    """
    internal = context.RequestContext.internal()
    try:
        connected = transport.connect(conf)
        try:
            # cast() does not wait for an answer.
            messaging.get_rpc_client(
                connected, transport.target(conf), serializer=transport.RpcSerializer(),
                retry=retries, transport_options=messaging.TransportOptions(
                    at_least_once=needs_manager)).cast(internal, 'ping')
        finally:
            connected.cleanup()
    except messaging.MessageUndeliverable as error:
        raise NoManagerQueue(f'{OPTION}: no manager has started at this bus') from error
    except UNUSABLE as error:
        raise unusable(OPTION, error) from error


def reach_notifications(conf: cfg.ConfigOpts, retries: int = _RETRIES) -> None:
    """Log in to the buses of the notifications that are on, and leave them.

    :raises LoginRefused: the user, the password or the virtual host is wrong.
    :raises BusUnreachable: a broker does not answer.
    :raises errors.ConfigurationError: a URL is wrong.
    """
    for option, connected in transport.notification_buses(conf).items():
        # Other drivers than that of RabbitMQ have no such connections.
        log_in = getattr(connected._driver, '_get_connection', _no_connection)
        try:
            with log_in(retry=retries):
                pass
        except UNUSABLE as error:
            raise unusable(option, error) from error
        finally:
            connected.cleanup()


def _no_connection(retry: int) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


def unusable(option: str, error: Exception) -> BusUnreachable:
    """Return the error about a bus that raised one of UNUSABLE.

    :param option: the option with the URL of the bus.
    """
    if isinstance(error, _REFUSED):
        return LoginRefused(option, error)
    return BusUnreachable(f'{option}: it cannot be reached: {error}')


def _is_unknown_call(error: Exception) -> bool:
    """Return whether a manager of an older release does not know a call or an argument of it."""
    name = getattr(error, 'exc_type', type(error).__name__)
    return name in _UNKNOWN_CALLS or (
        name == 'TypeError' and _UNKNOWN_ARGUMENT in str(error).partition('\n')[0])


class Bus:
    """RPC calls over oslo.messaging.

    :raises ManagerSilent: no answer arrived within rpc_response_timeout; the work may go on.
    :raises Overloaded: the bus does not accept the call.
    :raises NoManager: no manager has started yet.
    :raises ManagerOutdated: a manager of an older release does not know the method.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._client = messaging.get_rpc_client(
            transport.connect(conf), transport.target(conf),
            serializer=transport.RpcSerializer(), retry=_RETRIES)
        # The client has registered this option.
        self._seconds = conf.rpc_response_timeout
        self._reached = False

    def call(self, context: context.RequestContext, method: str, timeout: float | None = None,
             **arguments: Any) -> Any:
        try:
            self._reach()
            return self._client.prepare(timeout=timeout).call(context, method, **arguments)
        except messaging.MessagingTimeout as error:
            raise errors.ManagerSilent(seconds=timeout or self._seconds,
                                       where='it in a moment') from error
        except NoManagerQueue as error:
            raise errors.NoManager(retry_after=5) from error
        except (BusUnreachable, *_REFUSED, messaging.MessageDeliveryFailure,
                kombu_exceptions.OperationalError) as error:
            # oslo.messaging raises kombu's error if it gets no connection.
            cause = error if isinstance(error, BusUnreachable) else unusable(OPTION, error)
            if isinstance(cause, LoginRefused):
                LOG.error('%s', cause)
            raise errors.Overloaded(retry_after=5) from error
        except (messaging.RemoteError, messaging.RPCDispatcherError) as error:
            # RabbitMQ carries the name of the error, the driver "fake" the error itself.
            if _is_unknown_call(error):
                LOG.warning('A manager of an older release does not know the call %s, or one of '
                            'its arguments.', method)
                raise errors.ManagerOutdated(retry_after=5) from error
            # An unexpected error, which the manager logged with its traceback.
            raise errors.ClimateError() from error

    def _reach(self) -> None:
        """Check before the first call that the broker can be reached and has a queue for calls.

        The first call opens the connection for answers. If the broker is down, oslo.messaging waits
        for this connection without limit, and so do all other calls. If there is no queue, RabbitMQ
        drops the call, and the caller waits until its time limit. A queue that exists stays when
        the managers stop.
        """
        if not self._reached:
            # The check has a separate connection, because a returned message makes it unusable.
            reach(self._conf, needs_manager=True)
            self._reached = True
