# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/leases, and those of one lease."""
import dataclasses

from oslo_utils import uuidutils
import pecan

from climate import errors
from climate.api import body
from climate.api import delete_waits
from climate.api import hooks
from climate.api import idempotency
from climate.api import lease_body
from climate.api import lease_filters
from climate.api import lease_permissions
from climate.api import loss_view
from climate.api import operations
from climate.api import owner_or_operator_text
from climate.api import permissions
from climate.api import price_view
from climate.api import queries
from climate.api import reservation_schemas
from climate.api import schemas
from climate.api import views
from climate.api.controllers import base
from climate.api.controllers import give_back
from climate.api.controllers import lease_facts
from climate.api.controllers import lease_request
from climate.api.controllers import shares as lease_shares
from climate.api.controllers import sub_leases as lease_parts
from climate.api.controllers import transfers as lease_transfers
from climate.domain import acquire
from climate.domain import shares
from climate.domain import sub_leases
from climate.domain import transfers
from climate.policies import base as base_rules
from climate.policies import leases as rules

_LONGEST_ID = 36
_ONLY_FOR_OWNERS = frozenset((*shares.CHANGES, *transfers.CHANGES, sub_leases.SUB_LEASED))


def paths(plugins):
    """Return the operations on leases, {path: operations}.

    :param plugins: {resource type: plugin class}; each adds the schema of its reservations.
    """
    with_reservations, operation = reservation_schemas.with_reservations, operations.operation
    dry_run = operations.flag('dry_run')
    return {
        '/leases': {
            'get': operation('List leases', query=[
                *operations.paging(), *map(operations.query, (
                    'sort', 'search', 'status', 'name', 'owner', 'project', 'project_id',
                    'resource_type', 'resource', 'series_id')),
                operations.query('starts_before', format='moment'),
                operations.query('ends_after', format='moment'),
                operations.query('resource_id', pattern='^[0-9]{1,18}$'),
                *map(operations.flag, ('all_projects', 'deleted', 'idle'))]),
            'post': operation('Create a lease', with_reservations(
                schemas.LEASE_CREATE[1], plugins, reservation_schemas.new), 201,
                              [idempotency.PARAMETER, dry_run], later=True),
        },
        '/leases/{id}': {
            'parameters': [operations.ID],
            'get': operation('Show a lease'),
            'put': operation('Change a lease', with_reservations(
                schemas.LEASE_UPDATE[1], plugins, reservation_schemas.changed),
                query=[operations.IF_MATCH, dry_run]),
            'delete': operation('Delete a lease', status=204,
                                query=[operations.IF_MATCH, dry_run]),
        },
        '/leases/{id}/history': {
            'parameters': [operations.ID],
            'get': operation('Show the history of a lease', query=operations.paging())},
        **lease_request.PATHS, **lease_facts.PATHS, **lease_shares.PATHS,
        **lease_transfers.OF_LEASE_PATHS,
        **lease_parts.PATHS,
        '/leases/{id}/give-back': {
            'parameters': [operations.ID],
            'post': operation('Give a future lease, or hosts of it, back for waiting leases',
                              give_back.GIVE_BACK[1], query=[operations.IF_MATCH, dry_run])},
        '/leases/{id}/swap': {
            'parameters': [operations.ID],
            'post': operation('Swap a broken resource of a running lease', schemas.LEASE_SWAP[1],
                              202, [operations.IF_MATCH, dry_run])},
    }


class LeasesController(base.Controller):
    """Creates, lists, shows, changes and deletes leases."""

    dry_runs = ('post', 'put', 'delete')

    def __init__(self, parts):
        super().__init__(parts)
        self._waits = delete_waits.DeleteWaits(parts.manager, parts.conf.api)
        self.history = HistoryController(parts, self.visible)
        self.request = lease_request.RequestController(parts, self.visible)
        self.swap = SwapController(parts, self.visible, self._answer)
        self.shares = lease_shares.SharesController(parts, self.visible)
        setattr(self, 'give-back', give_back.GiveBackController(
            parts, self.visible, self._answer, self._late_cancel))
        self.transfers = lease_transfers.LeaseTransfersController(parts, self.visible)
        setattr(self, 'sub-leases', lease_parts.SubLeasesController(
            parts, self.visible, self._answer))
        self.availability = lease_parts.SubLeaseAvailabilityController(parts, self.visible)
        self.resources = lease_facts.LeasedResourcesController(parts, self.visible)
        self.latest_end = lease_facts.LatestEndController(parts, self.visible)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, manager = self._authorized(req, rules.GET), self._parts.manager

        def render(leases):
            permissions_on = lease_permissions.LeasePermissions(self._parts, caller).on
            return [self._view(req, lease, permissions_on(lease)) for lease in leases]

        if hooks.is_lenient(req):
            return {'leases': render(manager.list_leases(caller, lease_filters.query_1_0(
                req, self._parts, caller)))}
        return self._page(req, 'leases', lambda marker, limit: manager.list_leases(
            caller, lease_filters.query(req, self._parts, caller, limit, marker)), render)

    @pecan.expose('json')
    def post(self, req, resp):
        caller, policy = self._authorized(req, rules.POST), self._parts.policy
        request = lease_body.request_of(req, self._parts)
        permissions.authorize_acquisition(policy, caller, request.acquire)
        if request.idle_exempt:
            policy.authorize(caller, rules.EXEMPT_FROM_IDLE)
        request = dataclasses.replace(request, hidden_criteria=self._may_use_hidden(req))
        lease_id = uuidutils.generate_uuid()
        address = f'{req.application_url}/v1/leases/{lease_id}'
        try:
            lease = self._parts.manager.create_lease(caller, lease_id, request)
        except errors.ManagerSilent as error:
            raise errors.ManagerSilent(seconds=error.kwargs['seconds'], where=address,
                                       location=address) from error
        except errors.NotEnough as error:
            raise permissions.visible_refusal(policy, caller, error) from error
        if not request.dry_run:
            resp.status = 202 if lease.acquire_type in acquire.LASTING else 201
            resp.headers['Location'] = f'{req.application_url}/v1/leases/{lease.id}'
        return self._answer(req, resp, lease)

    @pecan.expose('json')
    def get_one(self, req, resp, lease_id):
        return self._answer(req, resp, self.visible(req, lease_id))

    @pecan.expose('json')
    def put(self, req, resp, lease_id):
        lease = self.visible(req, lease_id)
        self._authorize(req, rules.PUT, lease)
        changes = dataclasses.replace(
            lease_body.changes_of(req, self._parts, lease),
            hidden_criteria=self._may_use_hidden(req))
        if changes.idle_exempt not in (None, lease.idle_exempt):
            self._parts.policy.authorize(hooks.caller(req), rules.EXEMPT_FROM_IDLE)
        changed = self._update(req, lease_id, changes)
        return {**self._answer(req, resp, changed),
                **({**self._losses(req, changed.losses),
                    **self._late_cancel(req, lease, changed.late_cancel)}
                   if changes.dry_run else {})}

    def _update(self, req, lease_id, changes):
        """Change a lease; at REST 1.0 first wait for its start, or another change, if necessary."""
        caller = hooks.caller(req)
        try:
            return self._parts.manager.update_lease(caller, lease_id, changes)
        except errors.BadTransition:
            if not hooks.is_lenient(req) or not self._waits.wait_for_task(
                    req.environ, caller, lease_id):
                raise
        return self._parts.manager.update_lease(caller, lease_id, changes)

    @pecan.expose('json')
    def delete(self, req, resp, lease_id):
        lease = self.visible(req, lease_id)
        self._authorize(req, rules.DELETE, lease)
        lease_body.refuse_stale(req, lease)
        caller = hooks.caller(req)
        if not hooks.is_lenient(req) and queries.flag(req, 'dry_run'):
            return {**self._losses(req, self._parts.manager.preview_deletion(caller, lease_id)),
                    **self._late_cancel(req, lease, self._parts.manager.price_deletion(
                        caller, lease_id))}
        if not self._parts.manager.delete_lease(caller, lease_id) and hooks.is_lenient(req):
            self._waits.wait(req.environ, caller, lease)
        resp.status = 204
        return None

    def _late_cancel(self, req, lease, price):
        """Render the price of a late cancellation, which only the owner and administrators see."""
        visible = lease_permissions.LeasePermissions(self._parts, hooks.caller(req)).on(lease)
        return price_view.late_cancel(None if visible.is_receiver else price)

    def _losses(self, req, losses):
        return {'losses': loss_view.render(self._parts.policy, hooks.caller(req), losses)}

    def _may_use_hidden(self, req):
        return permissions.may_use_hidden_criteria(
            self._parts.policy, hooks.caller(req), hooks.is_lenient(req))

    def visible(self, req, lease_id):
        """Get a lease that the caller may see.

        :raises LeaseNotFound: the lease does not exist, or is hidden from this caller.
        :raises Forbidden: the caller's roles do not allow to see leases of the caller's project; or
            [api] chameleon is set, and the lease belongs to another project.
        """
        caller = hooks.caller(req)
        if len(lease_id) > _LONGEST_ID:
            raise errors.LeaseNotFound(lease_id=lease_id[:80])
        lease = self._parts.manager.get_lease(caller, lease_id)
        hidden = lease.deleted_at is not None and (
            hooks.is_lenient(req) or not self._parts.policy.allows(caller, rules.ALL_PROJECTS))
        if not hidden:
            if lease_permissions.allows(self._parts, caller, rules.GET, lease):
                return lease
            if lease.project_id == caller.project_id or (
                    self._parts.conf.api.chameleon and hooks.is_lenient(req)):
                raise errors.Forbidden(action=rules.GET)
        raise errors.LeaseNotFound(lease_id=lease_id[:80])

    def _authorize(self, req, rule, lease):
        lease_permissions.authorize(self._parts, hooks.caller(req), rule, lease)

    def _view(self, req, lease, visible):
        return self._parts.views.lease(lease, hooks.is_lenient(req), self._parts.clock(),
                                       visible)

    def _answer(self, req, resp, lease):
        if not hooks.is_lenient(req):
            resp.headers['ETag'] = f'"{lease.generation}"'
        visible = lease_permissions.LeasePermissions(self._parts, hooks.caller(req)).on(lease)
        return {'lease': self._view(req, lease, visible)}


class HistoryController(base.SubController):
    """Shows the history of one lease, from REST 1.1 on."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'The history of a lease is served')
        caller, policy = hooks.caller(req), self._parts.policy
        visible = views.Permissions(moves=policy.allows(caller, rules.GET_MOVES),
                                    texts=owner_or_operator_text.is_operator(policy, caller))
        # With whom else the lease is shared, or to whom it is offered, is not visible to receivers
        # of shares.
        sees_shares = not lease_permissions.LeasePermissions(
            self._parts, caller).on(lease).is_receiver
        return self._page(
            req, 'history', lambda marker, limit: self._parts.manager.lease_history(
                caller, lease.id, marker, limit, self._parts.conf.api.max_page_bytes),
            lambda lines: views.history([line for line in lines if sees_shares
                                         or line.what not in _ONLY_FOR_OWNERS], visible),
            base.entry_id)


class SwapController(base.AnsweringController):
    """Swaps a broken resource of a running lease for another one, from REST 1.1 on."""

    dry_runs = ('post',)

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        caller = hooks.caller(req)
        lease_permissions.authorize(self._parts, caller, rules.SWAP, lease)
        base.refuse_lenient(req, 'Resources are swapped')
        lease_body.refuse_stale(req, lease)
        data = body.read(req, schemas.LEASE_SWAP, self._parts.conf.api.max_body_bytes)
        if ('host' in data) == ('resource' in data):
            raise errors.BadField(field='host', reason=(
                'name one resource of the lease: "host", or "resource" for one of another pool.'))
        arguments = (caller, lease.id, data.get('host') or data['resource'],
                     data.get('reservation'))
        if queries.flag(req, 'dry_run'):
            planned = self._parts.manager.preview_swap(*arguments)
            return {**self._answer(req, resp, planned), 'losses': loss_view.render(
                self._parts.policy, caller, planned.losses)}
        changed = self._parts.manager.swap_resource(
            *arguments, by_admin=self._parts.policy.allows(caller, base_rules.ADMIN_RULE))
        resp.status = 202
        return self._answer(req, resp, changed)
