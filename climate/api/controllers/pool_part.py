# SPDX-License-Identifier: Apache-2.0
"""The base class of the controllers of one pool."""
from climate.api import hooks
from climate.api import lease_permissions
from climate.api import permissions
from climate.api import resource_state
from climate.api.controllers import base


class PoolPartController(base.Controller):
    """The base class of the controllers of one pool.

    :param serializer: a ``serializers.ResourceSerializer``.
    """

    version_first = True

    def __init__(self, parts, serializer):
        super().__init__(parts)
        self._serializer = serializer
        if serializer.since_1_1:
            self.since_1_1 = 'Pools are served'
        self._manager = parts.manager
        self._limit = parts.conf.api.max_body_bytes

    def _id(self, text):
        return base.resource_id(self._serializer.number(text), self._serializer.pool)

    def _views(self, req, resources):
        """Render Resources, each with the fields that the caller may read."""
        visible = lease_permissions.LeasePermissions(self._parts, hooks.caller(req))
        return [{**self._serializer.resource(resource, hooks.is_lenient(req)),
                 **resource_state.render(resource, self._parts.clock(), visible)}
                for resource in permissions.visible_resources(
                    self._parts, hooks.caller(req), self._serializer.pool, resources)]

    def _shown(self, req, resource):
        return {self._serializer.one: self._views(req, [resource])[0]}
