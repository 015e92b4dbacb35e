# SPDX-License-Identifier: Apache-2.0
"""The bus between API and manager: transport, target and serializer."""
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
import oslo_messaging as messaging

from climate import context
from climate import errors
from climate.rpc import wire

#: The client rebuilds exceptions of these modules. Other exceptions arrive as RemoteError.
ALLOWED_ERRORS = ['climate.errors']
VERSION = '1.0'
# The options with the buses of notifications.
_OWN = ('[oslo_messaging_notifications] transport_url or, if that is empty, [DEFAULT] '
        'transport_url')
_NOVA = '[nova] notification_transport_url'
# Drivers of oslo.messaging that send notifications to no bus.
_LOCAL_DRIVERS = {'', 'log', 'noop', 'test'}


class RpcSerializer(messaging.NoOpSerializer):  # type: ignore[misc]
    """Packs the RequestContext, and the records in calls and answers.

    Records are not unpacked here, because only their receiver knows their classes.
    """

    def serialize_entity(self, ctxt: context.RequestContext, entity: object) -> Any:
        return wire.pack(entity)

    def serialize_context(self, ctxt: context.RequestContext) -> dict[str, Any]:
        return {**ctxt.to_dict(), 'auth_token': ctxt.auth_token}

    def deserialize_context(self, ctxt: dict[str, Any]) -> context.RequestContext:
        return context.RequestContext.from_dict(ctxt)


def connect(conf: cfg.ConfigOpts) -> messaging.transport.Transport:
    """Return the RPC transport that transport_url names, without connecting to the broker.

    :raises ConfigurationError: the option is not the URL of a message bus.
    """
    return _connected('[DEFAULT] transport_url', lambda: messaging.get_rpc_transport(
        conf, allowed_remote_exmods=ALLOWED_ERRORS))


def notification_buses(conf: cfg.ConfigOpts) -> dict[str, messaging.transport.Transport]:
    """Return {option: transport} of the enabled buses of notifications, without connecting.

    :raises ConfigurationError: an option is not the URL of a message bus.
    """
    buses = {_OWN: connect_notifications(conf)}
    if not _sends(conf):
        del buses[_OWN]
    if conf.nova.notifications:
        buses[nova_option(conf)] = connect_to_nova(conf)
    return buses


def nova_option(conf: cfg.ConfigOpts) -> str:
    """Return the option that has the address of the bus of Nova's notifications."""
    return _NOVA if conf.nova.notification_transport_url else _OWN


def connect_notifications(conf: cfg.ConfigOpts) -> messaging.transport.Transport:
    """Return the transport of Climate's own notifications, without connecting to the broker.

    :raises ConfigurationError: the option is not the URL of a message bus, and a driver sends
        notifications there.
    """
    try:
        return _bus_of_notifications(conf)
    except errors.ConfigurationError:
        if _sends(conf):
            raise
    return _connected('[DEFAULT] transport_url', lambda: messaging.get_notification_transport(
        conf, url=conf.transport_url))


def connect_to_nova(conf: cfg.ConfigOpts) -> messaging.transport.Transport:
    """Return the transport of Nova's notifications, without connecting to the broker.

    :raises ConfigurationError: the option is not the URL of a message bus.
    """
    url = conf.nova.notification_transport_url
    if not url:
        return _bus_of_notifications(conf)
    return _connected(_NOVA, lambda: (
        messaging.get_notification_transport(conf, url=url)))


def _bus_of_notifications(conf: cfg.ConfigOpts) -> messaging.transport.Transport:
    return _connected(_OWN, lambda: messaging.get_notification_transport(conf))


def _sends(conf: cfg.ConfigOpts) -> bool:
    """Return whether a driver sends notifications to a bus.

    The option is registered by the first attempt to get a transport of notifications.
    """
    return bool(set(conf.oslo_messaging_notifications.driver) - _LOCAL_DRIVERS)


def _connected(option: str, connect: Callable[[], Any]) -> messaging.transport.Transport:
    try:
        return connect()
    except (messaging.InvalidTransportURL, messaging.DriverLoadFailure, ValueError) as error:
        # The text of the error may have the password of the URL.
        raise errors.ConfigurationError(
            f'{option} is not the URL of a message bus. Write one such as '
            'rabbit://climate:PASSWORD@rabbit.example.org:5672/.') from error


def limit_prefetch(conf: cfg.ConfigOpts) -> None:
    """Limit the number of calls that a manager reads from RabbitMQ to the number of its workers.

    By default oslo.messaging reads all calls into memory. Calls that stay in the broker go to other
    managers, or expire when their callers stop waiting.
    """
    if 'oslo_messaging_rabbit' in conf:
        conf.set_default('rabbit_qos_prefetch_count', conf.manager.rpc_workers,
                         group='oslo_messaging_rabbit')


def target(conf: cfg.ConfigOpts, server: str | None = None) -> messaging.Target:
    """Return the target on which managers listen; `server` is the name of one manager."""
    return messaging.Target(topic=conf.rpc_topic, version=VERSION, server=server)
