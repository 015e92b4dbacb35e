# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/leases and /v1/leases/{id}/history."""
import dataclasses

from oslo_utils import uuidutils
import pecan

from climate import errors
from climate.api import acquire_policy
from climate.api import body
from climate.api import criteria_policy
from climate.api import delete_waits
from climate.api import hooks
from climate.api import lease_body
from climate.api import operator_texts
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api import views
from climate.api.controllers import base
from climate.domain import acquire
from climate.domain import records
from climate.domain import status_words
from climate.policies import base as base_rules
from climate.policies import leases as rules

_SORT_KEYS = ('created_at', 'start', 'end', 'name', 'id')
_FILTERS = ('limit', 'marker', 'sort', 'status', 'name', 'project_id', 'all_projects',
            'starts_before', 'ends_after', 'resource_id', 'deleted', 'idle')
_LONGEST_ID = 36


class LeasesController(base.Controller):
    """Creates, lists, shows, changes and deletes leases."""

    dry_runs = ('post', 'put')

    def __init__(self, parts):
        self._parts = parts
        self._waits = delete_waits.DeleteWaits(parts.manager, parts.conf.api)
        self.history = HistoryController(parts, self._visible)
        self.swap = SwapController(parts, self._visible, self._answer)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        if hooks.is_lenient(req):
            everything = self._parts.policy.allows(caller, rules.ALL_PROJECTS)
            query = records.LeaseQuery(project_id=None if everything else caller.project_id)
            found = self._parts.manager.list_leases(caller, query)
            return {'leases': [self._view(req, lease) for lease in found]}
        return self._page(req, caller)

    @pecan.expose('json')
    def post(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.POST)
        asked = lease_body.request_of(req, self._parts)
        acquire_policy.authorize(self._parts.policy, caller, asked.acquire)
        if asked.idle_exempt:
            self._parts.policy.authorize(caller, rules.EXEMPT_FROM_IDLE)
        asked = dataclasses.replace(asked, hidden_criteria=criteria_policy.may_use_hidden(
            self._parts.policy, req))
        lease_id = uuidutils.generate_uuid()
        address = f'{req.application_url}/v1/leases/{lease_id}'
        try:
            lease = self._parts.manager.create_lease(caller, lease_id, asked)
        except errors.ManagerSilent as error:
            raise errors.ManagerSilent(seconds=error.kwargs['seconds'], where=address,
                                       location=address) from error
        except errors.NotEnough as error:
            raise acquire_policy.shown_to(self._parts.policy, caller, error) from error
        if not asked.dry_run:
            resp.status = 202 if lease.acquire_type in acquire.LASTING else 201
            resp.headers['Location'] = f'{req.application_url}/v1/leases/{lease.id}'
        return self._answer(req, resp, lease)

    @pecan.expose('json')
    def get_one(self, req, resp, lease_id):
        return self._answer(req, resp, self._visible(req, lease_id))

    @pecan.expose('json')
    def put(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        self._authorize(req, rules.PUT, lease)
        changes = dataclasses.replace(
            lease_body.changes_of(req, self._parts, lease),
            hidden_criteria=criteria_policy.may_use_hidden(self._parts.policy, req))
        if changes.idle_exempt not in (None, lease.idle_exempt):
            self._parts.policy.authorize(hooks.caller(req), rules.EXEMPT_FROM_IDLE)
        return self._answer(req, resp, self._update(req, lease_id, changes))

    def _update(self, req, lease_id, changes):
        """Change a lease; at REST 1.0 wait first until its start, or another change, is done."""
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
        lease = self._visible(req, lease_id)
        self._authorize(req, rules.DELETE, lease)
        lease_body.refuse_stale(req, lease)
        caller = hooks.caller(req)
        if not self._parts.manager.delete_lease(caller, lease_id) and hooks.is_lenient(req):
            self._waits.wait(req.environ, caller, lease)
        resp.status = 204

    def _page(self, req, caller):
        limit, marker = base.page(req, self._parts.conf.api.max_limit)
        # One more than is shown tells whether there is a next page.
        query = self._query(req, caller, limit + 1, marker)
        found, more = base.shown(self._parts.manager.list_leases(caller, query), limit)
        answer = {'leases': [self._view(req, lease) for lease in found]}
        if more:
            answer['leases_links'] = base.next_link(req, found[-1].id)
        return answer

    def _query(self, req, caller, limit, marker):
        queries.refuse_unknown(req, _FILTERS, repeatable=('status',))
        asked = req.GET
        project_id = asked.get('project_id', caller.project_id)
        everything = body.flag(req, 'all_projects')
        deleted = body.flag(req, 'deleted')
        if everything or deleted or project_id != caller.project_id:
            self._parts.policy.authorize(caller, rules.ALL_PROJECTS)
        if everything:
            project_id = asked.get('project_id')
        status = ','.join(asked.getall('status')) if 'status' in asked else None
        if status is not None:
            status_words.all_selected(status)
        resource = asked.get('resource_id')
        return records.LeaseQuery(
            project_id=project_id, status=status, name=asked.get('name'),
            starts_before=self._moment(asked, 'starts_before'),
            ends_after=self._moment(asked, 'ends_after'),
            resource_id=base.resource_id(resource) if resource else None, deleted=deleted,
            idle=body.flag(req, 'idle'),
            sort=_sort(asked.get('sort', 'created_at')), limit=limit, marker=marker,
            most_bytes=self._parts.conf.api.max_page_bytes)

    def _moment(self, asked, name):
        return times.asked(name, asked[name], self._parts.clock()) if name in asked else None

    def _visible(self, req, lease_id):
        """Get a lease that the caller may see.

        :raises LeaseNotFound: the lease does not exist, or is hidden from this caller.
        :raises Forbidden: the lease is of the caller's project, but the roles do not allow to see
            leases.
        """
        caller = hooks.caller(req)
        if len(lease_id) > _LONGEST_ID:
            raise errors.LeaseNotFound(lease_id=lease_id[:80])
        lease = self._parts.manager.get_lease(caller, lease_id)
        mine = lease.project_id == caller.project_id
        hidden = lease.deleted_at is not None and (
            hooks.is_lenient(req) or not self._parts.policy.allows(caller, rules.ALL_PROJECTS))
        if not hidden:
            if self._parts.policy.allows(caller, rules.GET, _target(lease)):
                return lease
            if mine:
                raise errors.Forbidden(action=rules.GET)
        raise errors.LeaseNotFound(lease_id=lease_id[:80])

    def _authorize(self, req, rule, lease):
        self._parts.policy.authorize(hooks.caller(req), rule, _target(lease))

    def _view(self, req, lease):
        # Policy is asked only if the lease has something to hide.
        caller, policy = hooks.caller(req), self._parts.policy
        permissions = views.Permissions(
            moves=lease.acquisition is not None and policy.allows(caller, rules.GET_MOVES),
            texts=lease.reason is not None and operator_texts.may_read(policy, caller))
        return self._parts.views.lease(lease, hooks.is_lenient(req), self._parts.clock(),
                                       permissions)

    def _answer(self, req, resp, lease):
        if not hooks.is_lenient(req):
            resp.headers['ETag'] = f'"{lease.generation}"'
        return {'lease': self._view(req, lease)}


class HistoryController(base.Controller):
    """Shows the history of one lease, from REST 1.1 on.

    :param visible: a function (request, lease id) that returns the lease if the caller may see it.
    """

    def __init__(self, parts, visible):
        self._parts = parts
        self._visible = visible

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'The history of a lease is served')
        caller = hooks.caller(req)
        limit, marker = base.page(req, self._parts.conf.api.max_limit, _entry_id)
        # One more than is shown tells whether there is a next page.
        found, more = base.shown(self._parts.manager.lease_history(
            caller, lease.id, marker, limit + 1, self._parts.conf.api.max_page_bytes), limit)
        permissions = views.Permissions(
            moves=self._parts.policy.allows(caller, rules.GET_MOVES),
            texts=operator_texts.may_read(self._parts.policy, caller))
        answer = {'history': views.history(found, permissions)}
        if more:
            answer['history_links'] = base.next_link(req, str(found[-1].id))
        return answer


class SwapController(base.Controller):
    """Swaps a broken resource of a running lease for another one, from REST 1.1 on.

    :param visible: a function (request, lease id) that returns the lease if the caller may see it.
    :param answer: a function (request, response, lease) that returns the body of the answer.
    """

    def __init__(self, parts, visible, answer):
        self._parts = parts
        self._visible = visible
        self._answer = answer

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.SWAP, _target(lease))
        base.refuse_lenient(req, 'Resources are swapped')
        lease_body.refuse_stale(req, lease)
        data = body.read(req, schemas.LEASE_SWAP, self._parts.conf.api.max_body_bytes)
        if ('host' in data) == ('resource' in data):
            raise errors.BadField(field='host', reason=(
                'name one resource of the lease: "host", or "resource" for one of another pool.'))
        changed = self._parts.manager.swap_resource(
            caller, lease.id, data.get('host') or data['resource'], data.get('reservation'),
            by_admin=self._parts.policy.allows(caller, base_rules.ADMIN_RULE))
        resp.status = 202
        return self._answer(req, resp, changed)


def _target(lease):
    return {'project_id': lease.project_id, 'user_id': lease.user_id}


def _entry_id(text):
    """Parse the id of an entry of a history.

    :raises BadField: no entry can have this id.
    """
    number = base.row_number(text)
    if number is None:
        raise errors.BadField(field='marker', reason=(
            f'"{text[:40]}" is not the id of an entry of the history.'))
    return number


def _sort(text):
    keys = []
    for part in text.split(','):
        name, _, direction = part.strip().partition(':')
        if name not in _SORT_KEYS or direction not in ('', 'asc', 'desc'):
            raise errors.BadField(field='sort', reason=(
                f'"{part[:40]}" is not a sort key: use {", ".join(_SORT_KEYS)}, each with :asc '
                'or :desc.'))
        keys.append((name, direction != 'desc'))
    return tuple(keys)
