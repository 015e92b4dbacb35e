# SPDX-License-Identifier: Apache-2.0
"""Who asks: the identity of one request, also on its way over the bus."""
from oslo_context import context


class RequestContext(context.RequestContext):
    """The caller as the API's authentication saw it.

    Beside oslo.context's fields it keeps the caller's ``auth_token``, which is needed once, to
    make the Keystone trust of a lease; it is never written to the database or to a log.
    """

    @classmethod
    def internal(cls):
        """The manager's own identity, for work that no request asked for."""
        return cls(is_admin=True, overwrite=False)
