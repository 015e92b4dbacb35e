# SPDX-License-Identifier: Apache-2.0
"""The request context: the identity of the caller, also across the message bus."""
from oslo_context import context


class RequestContext(context.RequestContext):
    """The caller, as authenticated by the API.

    The field ``auth_token`` of oslo.context is kept to make the Keystone trust of a lease. It is
    never written to the database or to a log.
    """

    @classmethod
    def internal(cls):
        """Return the identity of the manager itself, for work that no request started."""
        return cls(is_admin=True, overwrite=False)
