# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/leases/{id}/transfers and /v1/transfers, from REST 1.1 on."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_body
from climate.api import lease_permissions
from climate.api import operations
from climate.api import owner_or_operator_text
from climate.api import permissions
from climate.api import queries
from climate.api import times
from climate.api import transfer_view
from climate.api.controllers import base
from climate.domain import shares
from climate.domain import texts
from climate.domain import transfers
from climate.policies import transfers as rules

_KEY = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_OFFER = {
    'type': 'object',
    'properties': {
        'project_id': {**_KEY, 'description': 'The id or the name of the other project.'},
        'key': {'type': 'boolean', 'enum': [True], 'description': (
            'Instead of a project: the response has a one-time key, and any project that has the '
            'key can accept.')},
        'hosts': {'type': 'integer', 'minimum': 1, 'maximum': 1000000, 'description': (
            'The number of hosts of a future lease that are offered. Default: the whole lease.')},
        'expires_at': {'type': ['string', 'null'], 'maxLength': 80, 'format': 'moment',
                       'description': 'When the offer expires. Default: in seven days, but at the '
                                      'end of the lease at the latest.'},
        'on_withdrawal': {'type': 'string', 'enum': list(shares.ON_WITHDRAWAL), 'description': (
            'What happens to running servers of the own project after the transfer.')},
        'notice': {'type': ['string', 'integer'], 'format': 'span', 'description': (
            'The time between the transfer and the stop or deletion of servers.')},
    },
    'additionalProperties': False,
}
_ANSWER = {'type': 'object', 'properties': {'key': {
    **_KEY, 'description': 'The key of an offer that names no project.'}},
    'additionalProperties': False}
TRANSFER_CREATE = (_OFFER, _OFFER)
TRANSFER_ANSWER = (_ANSWER, _ANSWER)
KEY_HEADER = 'X-Transfer-Key'
_KEY_PARAMETER = {'name': KEY_HEADER, 'in': 'header', 'schema': _KEY}
_TRANSFER_ID = {**operations.in_path(maxLength=36), 'name': 'transfer_id'}
OF_LEASE_PATHS = {
    '/leases/{id}/transfers': {
        'parameters': [operations.ID],
        'get': operations.operation('List the transfers of a lease'),
        'post': operations.operation('Offer a lease to another project', _OFFER, 201)},
    '/leases/{id}/transfers/{transfer_id}': {
        'parameters': [operations.ID, _TRANSFER_ID],
        'delete': operations.operation('Withdraw the offer of a lease')},
}
PATHS = {
    '/transfers': {'get': operations.operation('List the offers of leases to the project')},
    '/transfers/{id}': {
        'parameters': [operations.ID],
        'get': operations.operation('Show an offer of a lease, and what it would give',
                                    query=[_KEY_PARAMETER])},
    '/transfers/{id}/accept': {
        'parameters': [operations.ID],
        'post': operations.operation('Accept an offer of a lease', _ANSWER, 201,
                                     [operations.IF_MATCH, operations.flag('dry_run')])},
    '/transfers/{id}/decline': {
        'parameters': [operations.ID],
        'post': operations.operation('Decline an offer of a lease', _ANSWER)},
}


class LeaseTransfersController(base.SubController):
    """Offers a lease to other projects, lists its transfers, and withdraws an offer."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease, caller = self._authorized_on(req, lease_id, rules.GET)
        now = self._parts.clock()
        return {'transfers': [
            transfer_view.render(transfer, now)
            for transfer in self._parts.manager.list_lease_transfers(caller, lease.id)]}

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease, caller = self._authorized_on(req, lease_id, rules.POST)
        made = self._parts.manager.offer_transfer(caller, lease.id, self._request(req))
        base.created(req, resp, f'transfers/{made.transfer.id}')
        return {'transfer': {**transfer_view.render(made.transfer, self._parts.clock()),
                             **({} if made.key is None else {'key': made.key})}}

    @pecan.expose('json')
    def delete(self, req, resp, lease_id, transfer_id):
        lease, caller = self._authorized_on(req, lease_id, rules.DELETE)
        base.refuse_long(transfer_id, errors.TransferNotFound, 'transfer_id')
        return {'transfer': transfer_view.render(self._parts.manager.withdraw_transfer(
            caller, lease.id, transfer_id), self._parts.clock())}

    def _authorized_on(self, req, lease_id, rule):
        """Return (the lease, the caller) if policy allows a rule on the lease."""
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'Leases are transferred')
        caller = hooks.caller(req)
        lease_permissions.authorize(self._parts, caller, rule, lease)
        return lease, caller

    def _request(self, req):
        """Parse the body of POST into a TransferRequest."""
        sent = body.read(req, TRANSFER_CREATE, self._parts.conf.api.max_body_bytes)
        if ('project_id' in sent) == ('key' in sent):
            raise errors.BadField(field='project_id', reason=(
                'name the receiver with "project_id", or ask for a one-time key with "key": '
                'true.'))
        expires_at = sent.get('expires_at')
        return transfers.TransferRequest(
            project=sent.get('project_id'), hosts=sent.get('hosts'),
            expires_at=expires_at and times.asked('expires_at', expires_at, self._parts.clock()),
            on_withdrawal=sent.get('on_withdrawal'),
            notice_seconds=(times.seconds('notice', sent['notice']) if 'notice' in sent else None))


class TransfersController(base.Controller):
    """Lists and shows the offers of leases to the caller's project."""

    since_1_1 = 'Transfers are served'

    def __init__(self, parts):
        super().__init__(parts)
        self.accept = AcceptController(parts)
        self.decline = DeclineController(parts)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, now = self._authorized(req, rules.RECEIVE), self._parts.clock()
        return {'transfers': [transfer_view.render(transfer, now)
                              for transfer in self._parts.manager.list_transfers(caller)]}

    @pecan.expose('json')
    def get_one(self, req, resp, transfer_id):
        caller = self._authorized(req, rules.RECEIVE)
        base.refuse_long(transfer_id, errors.TransferNotFound, 'transfer_id')
        found = self._parts.manager.preview_transfer(
            caller, transfer_id, req.headers.get(KEY_HEADER))
        resp.headers['ETag'] = f'"{found.generation}"'
        problem = texts.stored(found.problem, found.owner_problem, found.transfer.lease_id)
        return {'transfer': {
            **transfer_view.render(found.transfer, self._parts.clock()),
            'lease': None if found.lease is None else lease_view(self._parts, caller, found.lease),
            'problem': owner_or_operator_text.of(problem, owner_or_operator_text.is_operator(
                self._parts.policy, caller))}}


class AcceptController(base.Controller):
    """Accepts an offer of a lease for the caller's project."""

    since_1_1 = 'Transfers are served'
    dry_runs = ('post',)

    @pecan.expose('json')
    def post(self, req, resp, transfer_id):
        caller = self._authorized(req, rules.ACCEPT)
        base.refuse_long(transfer_id, errors.TransferNotFound, 'transfer_id')
        sent = body.read(req, TRANSFER_ANSWER, self._parts.conf.api.max_body_bytes)
        dry_run = queries.flag(req, 'dry_run')
        try:
            lease = self._parts.manager.accept_transfer(
                caller, transfer_id, sent.get('key'), lease_body.generation(req), dry_run)
        except errors.NotEnough as error:
            raise permissions.visible_refusal(self._parts.policy, caller, error) from error
        if not dry_run:
            base.created(req, resp, f'leases/{lease.id}')
        return {'lease': lease_view(self._parts, caller, lease)}


class DeclineController(base.Controller):
    """Declines an offer of a lease for the caller's project."""

    since_1_1 = 'Transfers are served'

    @pecan.expose('json')
    def post(self, req, resp, transfer_id):
        caller = self._authorized(req, rules.ACCEPT)
        base.refuse_long(transfer_id, errors.TransferNotFound, 'transfer_id')
        sent = body.read(req, TRANSFER_ANSWER, self._parts.conf.api.max_body_bytes)
        return {'transfer': transfer_view.render(self._parts.manager.decline_transfer(
            caller, transfer_id, sent.get('key')), self._parts.clock())}


def lease_view(parts, caller, lease):
    """Render the lease that a caller gets, or would get, by a transfer."""
    visible = lease_permissions.LeasePermissions(parts, caller).on(lease)
    return parts.views.lease(lease, False, parts.clock(), visible)
