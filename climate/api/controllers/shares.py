# SPDX-License-Identifier: Apache-2.0
"""The path /v1/leases/{id}/shares, from REST 1.1 on: with whom a lease is shared."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_permissions
from climate.api import operations
from climate.api import queries
from climate.api import share_view
from climate.api import times
from climate.api.controllers import base
from climate.domain import shares
from climate.policies import shares as rules

_RECEIVER = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_SHARE = {
    'type': 'object',
    'required': ['role'],
    'properties': {
        'project_id': {**_RECEIVER, 'description': 'The id or the name of the other project.'},
        'user_id': {**_RECEIVER, 'description': 'The id or the name of the other user.'},
        'role': {'type': 'string', 'enum': list(shares.ROLES), 'description': (
            'viewer: see the lease; user: also use its resources; manager: also change, extend '
            'and end it.')},
        'until': {'type': ['string', 'null'], 'maxLength': 80, 'format': 'moment',
                  'description': 'When the share ends. Default: with the lease.'},
        'on_withdrawal': {'type': 'string', 'enum': list(shares.ON_WITHDRAWAL), 'description': (
            'What happens to running servers of the other project after the share.')},
        'notice': {'type': ['string', 'integer'], 'format': 'span', 'description': (
            'The time between the end of the share and the stop or deletion of servers.')},
    },
    'additionalProperties': False,
}
SHARE_CREATE = (_SHARE, _SHARE)
_SHARE_ID = {**operations.in_path(maxLength=36), 'name': 'share_id'}
PATHS = {
    '/leases/{id}/shares': {
        'parameters': [operations.ID],
        'get': operations.operation('List the open shares of a lease'),
        'post': operations.operation('Share a lease with another project or user', _SHARE, 201)},
    '/leases/{id}/shares/{share_id}': {
        'parameters': [operations.ID, _SHARE_ID],
        'delete': operations.operation('Withdraw or leave a share of a lease',
                                       query=[operations.flag('dry_run')])},
}


class SharesController(base.SubController):
    """Shares a lease, lists its shares, and withdraws them."""

    dry_runs = ('delete',)

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease, caller = self._visible_lease(req, lease_id)
        lease_permissions.authorize(self._parts, caller, rules.GET, lease)
        now = self._parts.clock()
        sees_all = lease_permissions.allows(self._parts, caller, rules.POST, lease) or (
            lease.project_id == caller.project_id)
        return {'shares': [share_view.render(share) for share in lease.shares
                           if share.is_open(now) and (sees_all or share.is_for(caller))]}

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease, caller = self._visible_lease(req, lease_id)
        lease_permissions.authorize(self._parts, caller, rules.POST, lease)
        share = self._parts.manager.share_lease(caller, lease.id, self._request(req))
        base.created(req, resp, f'leases/{lease.id}/shares/{share.id}')
        return {'share': share_view.render(share)}

    @pecan.expose('json')
    def delete(self, req, resp, lease_id, share_id):
        lease, caller = self._visible_lease(req, lease_id)
        base.refuse_long(share_id, errors.ShareNotFound, 'share_id', lease_id=lease.id)
        leaves = self._leaves(caller, lease, share_id)
        lease_permissions.authorize(
            self._parts, caller, rules.LEAVE if leaves else rules.DELETE, lease)
        if queries.flag(req, 'dry_run'):
            return share_view.withdrawal(self._parts.manager.preview_share_withdrawal(
                caller, lease.id, share_id))
        return share_view.withdrawal(self._parts.manager.withdraw_share(
            caller, lease.id, share_id, left=leaves))

    def _visible_lease(self, req, lease_id):
        """Return (the lease, the caller); refuse REST 1.0 and leases that the caller cannot see."""
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'Leases are shared')
        return lease, hooks.caller(req)

    def _leaves(self, caller, lease, share_id):
        """Return whether a caller without more rights leaves its own share.

        :raises ShareNotFound: the caller may not withdraw shares, and the share is not its own.
        """
        if lease_permissions.allows(self._parts, caller, rules.DELETE, lease) or (
                lease.project_id == caller.project_id):
            return False
        if any(share.id == share_id and share.is_for(caller) for share in lease.shares):
            return True
        raise errors.ShareNotFound(share_id=share_id, lease_id=lease.id)

    def _request(self, req):
        """Parse the body of POST into a ShareRequest."""
        sent = body.read(req, SHARE_CREATE, self._parts.conf.api.max_body_bytes)
        kinds = [kind for kind in shares.RECEIVERS if kind in sent]
        if len(kinds) != 1:
            raise errors.BadField(field='project_id', reason=(
                'name one receiver: "project_id", or "user_id" for a single user.'))
        until = sent.get('until')
        return shares.ShareRequest(
            receiver_kind=kinds[0], receiver=sent[kinds[0]], role=sent['role'],
            until=until and times.asked('until', until, self._parts.clock()),
            on_withdrawal=sent.get('on_withdrawal'),
            notice_seconds=(times.seconds('notice', sent['notice']) if 'notice' in sent else None))
