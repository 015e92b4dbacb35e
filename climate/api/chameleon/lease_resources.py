# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/leases/{id}/hosts, …/networks and …/devices: the resources of one lease."""
import pecan

from climate.api import hooks
from climate.api import permissions
from climate.api.controllers import base


class LeaseResourcesController(base.SubController):
    """Lists the resources of one pool that a lease has.

    :param serializer: a ``serializers.ResourceSerializer``, whose rules decide who may list them.
    """

    def __init__(self, parts, visible, serializer):
        super().__init__(parts, visible)
        self._serializer = serializer

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease, serializer = self._visible(req, lease_id), self._serializer
        caller, pool = self._authorized(req, serializer.rules.get), serializer.pool
        ids = sorted({key for reservation in lease.reservations
                      for key in reservation.resource_ids})
        resources = []
        if ids and pool in self._parts.pools:
            resources = self._parts.manager.get_resources(caller, pool, ids)
        return {serializer.many: [
            serializer.resource(each, hooks.is_lenient(req))
            for each in permissions.visible_resources(self._parts, caller, pool, resources)]}


class LeaseDevicesController(base.SubController):
    """Lists no devices, because Climate has no such type."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        self._visible(req, lease_id)
        return {'devices': []}
