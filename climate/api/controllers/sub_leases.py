# SPDX-License-Identifier: Apache-2.0
"""The paths of sub-leases, from REST 1.1 on: parts of a lease for other projects."""
from oslo_utils import uuidutils
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_body
from climate.api import lease_permissions
from climate.api import operations
from climate.api import queries
from climate.api import sub_lease_view
from climate.api import times
from climate.api.controllers import base
from climate.domain import sub_leases
from climate.policies import leases as lease_rules
from climate.policies import sub_leases as rules

_MOMENT = {'type': ['string', 'null'], 'maxLength': 80, 'format': 'moment'}
_SUB_LEASE = {
    'type': 'object',
    'required': ['project', 'name'],
    'properties': {
        'project': {'type': 'string', 'minLength': 1, 'maxLength': 255,
                    'description': 'The id or the name of the receiving project.'},
        'name': {'type': 'string', 'minLength': 1, 'maxLength': 80},
        'hosts': {'type': 'integer', 'minimum': 1, 'maximum': 1000000,
                  'description': 'The number of hosts; or name them in "resources".'},
        'resources': {'type': 'array', 'minItems': 1, 'maxItems': 1000, 'uniqueItems': True,
                      'items': {'type': 'string', 'minLength': 1, 'maxLength': 255},
                      'description': 'The names or ids of hosts of the lease.'},
        'start': {**_MOMENT, 'description': 'Default: the start of the lease, or now.'},
        'end': {**_MOMENT, 'description': 'Default: the end of the lease.'},
    },
    'additionalProperties': False,
}
SUB_LEASE_CREATE = (_SUB_LEASE, _SUB_LEASE)
_SPAN = {'type': 'object', 'properties': {
    name: {'type': 'string', 'maxLength': 80} for name in ('start', 'end')}}
PATHS = {
    '/leases/{id}/sub-leases': {
        'parameters': [operations.ID],
        'get': operations.operation('List the sub-leases of a lease'),
        'post': operations.operation('Create a sub-lease for another project', _SUB_LEASE, 201,
                                     query=[operations.flag('dry_run')])},
    '/leases/{id}/availability': {
        'parameters': [operations.ID],
        'get': operations.operation('List the hosts of a lease that are free for a sub-lease',
                                    query=operations.query_of(_SPAN))},
}


class SubLeasesController(base.AnsweringController):
    """Creates and lists the sub-leases of a lease."""

    dry_runs = ('post',)

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease, _ = authorized(self, req, lease_id, rules.GET)
        return {'sub_leases': sub_lease_view.many(lease, self._parts.clock())}

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease, caller = authorized(self, req, lease_id, rules.POST)
        request = self._request(req)
        made = self._parts.manager.create_sub_lease(caller, lease.id, uuidutils.generate_uuid(),
                                                    request)
        if not request.dry_run:
            base.created(req, resp, f'leases/{made.id}')
        return self._answer(req, resp, made)

    def _request(self, req):
        """Parse the body of POST into a SubLeaseRequest."""
        sent = body.read(req, SUB_LEASE_CREATE, self._parts.conf.api.max_body_bytes)
        if ('hosts' in sent) == ('resources' in sent):
            raise errors.BadField(field='hosts', reason=(
                'give the number of hosts in "hosts", or their names in "resources".'))
        now = self._parts.clock()
        start, end = (sent.get(name) and times.asked(name, sent[name], now)
                      for name in ('start', 'end'))
        return sub_leases.SubLeaseRequest(
            project=sent['project'], name=lease_body.name_of(sent['name']),
            count=sent.get('hosts'), resources=tuple(sent.get('resources', ())),
            start=None if start == now else start, end=end, dry_run=queries.flag(req, 'dry_run'))


class SubLeaseAvailabilityController(base.SubController):
    """Lists the hosts of a lease that are free for a sub-lease."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease, caller = authorized(self, req, lease_id, rules.GET)
        queries.refuse_unknown(req, _SPAN['properties'])
        now = self._parts.clock()
        start, end = (times.asked(name, req.GET[name], now) if name in req.GET else None
                      for name in ('start', 'end'))
        free = self._parts.manager.free_hosts(caller, lease.id, start, end)
        named = lease_permissions.allows(self._parts, caller, lease_rules.GET_RESOURCE_NAMES,
                                         lease)
        return {'hosts': sub_lease_view.hosts(free, named)}


def authorized(controller, req, lease_id, rule):
    """Return (the lease, the caller) of a request about the sub-leases of a lease.

    :raises Forbidden: policy does not allow it.
    :raises LeaseNotFound: the caller cannot see the lease.
    """
    lease = controller._visible(req, lease_id)
    base.refuse_lenient(req, 'Sub-leases are served')
    caller = hooks.caller(req)
    lease_permissions.authorize(controller._parts, caller, rule, lease)
    return lease, caller
