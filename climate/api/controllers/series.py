# SPDX-License-Identifier: Apache-2.0
"""The path /v1/series, from REST 1.1 on."""
from oslo_utils import uuidutils
import pecan

from climate import errors
from climate.api import hooks
from climate.api import idempotency
from climate.api import operations
from climate.api import owner_or_operator_text
from climate.api import permissions
from climate.api import queries
from climate.api import reservation_schemas
from climate.api import schemas
from climate.api import series_body
from climate.api import series_view
from climate.api.controllers import base
from climate.domain.series import series_records
from climate.policies import leases as lease_rules
from climate.policies import series as rules

_FILTERS = ('limit', 'marker', 'status', 'project_id', 'all_projects')
_SCOPE = (operations.query('scope', enum=list(series_records.SCOPES)),
          operations.query('occurrence', 'integer', minimum=1, maximum=schemas.MOST_OCCURRENCES))
_SHOWN = (series_records.ACTIVE, series_records.ENDED, series_records.CANCELLED)


def paths(plugins):
    """Return the operations on series, {path: operations}.

    :param plugins: {resource type: plugin class}; each adds the schema of its reservations.
    """
    dry_run = operations.flag('dry_run')
    return {
        '/series': {
            'get': operations.operation('List series', query=[
                *operations.paging(), operations.query('status', enum=list(_SHOWN)),
                operations.query('project_id'), operations.flag('all_projects')]),
            'post': operations.operation(
                'Create a series of leases, or preview it',
                reservation_schemas.repeated(schemas.SERIES_CREATE[1], plugins), 201,
                [idempotency.PARAMETER, dry_run])},
        '/series/{id}': {
            'parameters': [operations.ID],
            'get': operations.operation('Show a series with its occurrences'),
            'put': operations.operation(
                'Change one occurrence, those from one on, or all, or preview this',
                reservation_schemas.repeated(schemas.SERIES_UPDATE[1], plugins),
                query=[*_SCOPE, dry_run]),
            'delete': operations.operation('Cancel one occurrence, those from one on, or all',
                                           status=204, query=_SCOPE)},
    }


class SeriesController(base.Controller):
    """Creates, previews, lists, shows, changes and cancels series."""

    dry_runs = ('post', 'put')
    since_1_1 = 'Series are served'
    # The parameters of PUT and DELETE, which ``series_body.scope_of`` reads.
    ignored = ('scope', 'occurrence')

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, _FILTERS)
        status = req.GET.get('status')
        if status not in (None, *_SHOWN):
            raise errors.BadField(field='status', reason=(
                f'"{status[:40]}" is none of {", ".join(_SHOWN)}.'))
        project_id = self._project(req, caller, rules.ALL_PROJECTS)

        def fetch(marker, limit):
            base.refuse_long(marker or '', errors.SeriesNotFound, 'series_id')
            return self._parts.manager.list_series(caller, series_records.SeriesQuery(
                project_id, status, limit, marker, self._parts.conf.api.max_page_bytes))

        return self._page(req, 'series', fetch, lambda found: [
            self._shown(caller, series) for series in found])

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        self._parts.policy.authorize(caller, lease_rules.POST)
        request = series_body.request_of(req, self._parts, self._may_use_hidden(caller))
        if request.dry_run:
            return self._preview(caller, self._parts.manager.preview_series(caller, request))
        series_id = uuidutils.generate_uuid()
        created = self._parts.manager.create_series(caller, series_id, request)
        base.created(req, resp, f'series/{created.id}')
        return self._answer(caller, created)

    @pecan.expose('json')
    def get_one(self, req, resp, series_id):
        return self._answer(self._authorized(req, rules.GET), self._visible(req, series_id))

    @pecan.expose('json')
    def put(self, req, resp, series_id):
        caller = self._authorized_on(req, rules.PUT, series_id)
        changes = series_body.changes_of(req, self._parts, self._may_use_hidden(caller))
        if changes.dry_run:
            return self._preview(caller, self._parts.manager.preview_series_update(
                caller, series_id, changes))
        return self._answer(caller, self._parts.manager.update_series(caller, series_id, changes))

    @pecan.expose('json')
    def delete(self, req, resp, series_id):
        caller = self._authorized_on(req, rules.DELETE, series_id)
        self._parts.manager.cancel_series(caller, series_id, *series_body.scope_of(req))
        resp.status = 204

    def _authorized_on(self, req, rule, series_id):
        """Return the caller if policy allows a rule on a series.

        :raises SeriesNotFound: the caller may not see the series.
        """
        caller = self._authorized(req, rules.GET)
        self._parts.policy.authorize(caller, rule, _target(self._visible(req, series_id)))
        return caller

    def _visible(self, req, series_id):
        """Return a Series that the caller may see.

        :raises SeriesNotFound: it does not exist, or belongs to another project.
        """
        caller = hooks.caller(req)
        base.refuse_long(series_id, errors.SeriesNotFound, 'series_id')
        series = self._parts.manager.get_series(caller, series_id)
        if not self._parts.policy.allows(caller, rules.GET, _target(series)):
            raise errors.SeriesNotFound(series_id=series_id)
        return series

    def _may_use_hidden(self, caller):
        return permissions.may_use_hidden_criteria(self._parts.policy, caller, lenient=False)

    def _shown(self, caller, series):
        return series_view.series(series, self._parts.policy.allows(
            caller, lease_rules.GET_NAMES, _target(series)))

    def _answer(self, caller, series):
        is_operator = owner_or_operator_text.is_operator(self._parts.policy, caller)
        return {'series': {
            **self._shown(caller, series),
            'occurrences': [series_view.occurrence(each, is_operator)
                            for each in series.occurrences]}}

    def _preview(self, caller, preview):
        policy = self._parts.policy
        is_operator = owner_or_operator_text.is_operator(policy, caller)
        reads_names = policy.allows(caller, lease_rules.GET_RESOURCE_NAMES)
        return {'series': {
            **self._shown(caller, preview.series),
            'occurrences': [series_view.preview(each, is_operator, reads_names)
                            for each in preview.occurrences]}}


def _target(series):
    """Return the target of the rules about a series."""
    return {'project_id': series.project_id, 'user_id': series.user_id}
