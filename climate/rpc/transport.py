# SPDX-License-Identifier: Apache-2.0
"""The bus between API and manager: transport, target, and what may cross it."""
import oslo_messaging as messaging

from climate import context

#: Modules whose exceptions are rebuilt on the far side; all others arrive as RemoteError.
ALLOWED_ERRORS = ['climate.errors']
VERSION = '1.0'


class ContextSerializer(messaging.NoOpSerializer):
    """Carries the RequestContext beside the call."""

    def serialize_context(self, ctxt):
        return {**ctxt.to_dict(), 'auth_token': ctxt.auth_token}

    def deserialize_context(self, ctxt):
        return context.RequestContext.from_dict(ctxt)


def connect(conf):
    """The RPC transport that transport_url names."""
    return messaging.get_rpc_transport(conf, allowed_remote_exmods=ALLOWED_ERRORS)


def target(conf, server=None):
    """Where managers listen; `server` is the name of one of them."""
    return messaging.Target(topic=conf.rpc_topic, version=VERSION, server=server)
