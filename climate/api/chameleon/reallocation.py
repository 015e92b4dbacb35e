# SPDX-License-Identifier: Apache-2.0
"""The path /v1/os-hosts/{id}/allocation, where administrators swap a host of a lease."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_permissions
from climate.api import operations
from climate.api.controllers import resources
from climate.policies import base as base_rules
from climate.policies import leases as rules

# Existing clients send unknown fields; these would change the result.
_REFUSED = ('reservation_id', 'force')
_SCHEMA = {
    'type': 'object',
    'required': ['lease_id'],
    'properties': {'lease_id': {'description': 'The running lease that gets another host.',
                                'type': 'string', 'minLength': 1, 'maxLength': 36}},
}
_SCHEMAS = (_SCHEMA, {**_SCHEMA, 'additionalProperties': False})
OPERATION = operations.operation('Swap the host of a running lease for another one', _SCHEMAS[1])


class ReallocationController(resources.AllocationController):
    """Shows the allocations of a host, and swaps the host of a lease for another one.

    :param visible: a function (request, lease id) that returns the lease if the caller may see it.
    """

    _OF_ALL = {'get_all': 'GET', 'put': 'PUT'}
    _OF_ONE: dict[str, str] = {}

    def __init__(self, parts, serializer, visible):
        super().__init__(parts, serializer)
        self._visible = visible

    @pecan.expose('json')
    def put(self, req, resp, resource_id):
        caller = self._authorized(req, self._serializer.rules.get_allocations)
        number, policy = self._id(resource_id), self._parts.policy
        data = body.read(req, _SCHEMAS, self._limit)
        for name in _REFUSED:
            if hooks.is_lenient(req) and data.get(name):
                raise errors.BadField(field=name, reason=(
                    'Climate swaps a host for the whole lease, and only for a free one: leave it '
                    'out.'))
        lease = self._visible(req, data['lease_id'])
        lease_permissions.authorize(self._parts, caller, rules.SWAP, lease)
        host = self._manager.get_resource(caller, self._serializer.pool, number)
        try:
            self._manager.swap_resource(caller, lease.id, str(host.id), by_admin=policy.allows(
                caller, base_rules.ADMIN_RULE))
        except errors.BadField as error:
            raise errors.BadField(field='lease_id', reason=error.kwargs['reason']) from error
        return self.get_all(req, resp, resource_id)
