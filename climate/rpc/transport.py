# SPDX-License-Identifier: Apache-2.0
"""The bus between API and manager: transport, target, and what may cross it."""
import oslo_messaging as messaging

from climate import context
from climate.rpc import wire

#: Modules whose exceptions are rebuilt on the far side; all others arrive as RemoteError.
ALLOWED_ERRORS = ['climate.errors']
VERSION = '1.0'


class Serializer(messaging.NoOpSerializer):
    """Carries the RequestContext beside the call, and packs the records in calls and answers.

    Only what leaves the process is packed: to the manager of the same process records are handed.
    Whoever gets one from the bus knows its class, and unpacks it.
    """

    def serialize_entity(self, ctxt, entity):
        return wire.pack(entity)

    def serialize_context(self, ctxt):
        return {**ctxt.to_dict(), 'auth_token': ctxt.auth_token}

    def deserialize_context(self, ctxt):
        return context.RequestContext.from_dict(ctxt)


def connect(conf):
    """The RPC transport that transport_url names."""
    return messaging.get_rpc_transport(conf, allowed_remote_exmods=ALLOWED_ERRORS)


def limit_line(conf):
    """Let a manager take no more calls from RabbitMQ than it can soon answer.

    By default oslo.messaging takes all that there are into memory. Those that are left in the
    broker are taken by other managers, or expire when their callers do not wait any more.
    """
    if 'oslo_messaging_rabbit' in conf:
        conf.set_default('rabbit_qos_prefetch_count', conf.manager.rpc_workers,
                         group='oslo_messaging_rabbit')


def target(conf, server=None):
    """Where managers listen; `server` is the name of one of them."""
    return messaging.Target(topic=conf.rpc_topic, version=VERSION, server=server)
