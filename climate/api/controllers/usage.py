# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/usage and /v1/utilisation, from REST 1.1 on."""
import datetime

import pecan

from climate.api import operations
from climate.api import queries
from climate.api import times
from climate.api import unchanged
from climate.api import usage_request
from climate.api import usage_view
from climate.api.controllers import base
from climate.domain import usage_groups
from climate.policies import usage as rules

# This long after the end of a span, nothing is counted in it any more.
_SETTLED = datetime.timedelta(hours=1)
_FORMAT = operations.query('format', enum=list(usage_request.FORMATS))
PATHS = {
    '/usage': {'get': operations.operation(
        'Report allocated, occupied, idle and refused resource-hours', query=[
            *operations.SPAN,
            operations.query('group_by', pattern=f'^({"|".join(usage_groups.GROUPS)})?$'),
            operations.query('project_id'), operations.flag('all_projects'), _FORMAT])},
    '/utilisation': {'get': operations.operation('Report how full pools were and will be', query=[
        *operations.SPAN, operations.query('step', pattern='^[1-9][0-9]{0,2}[hd]$'),
        operations.query('pool'), _FORMAT])},
}


class UsageController(base.Controller):
    """Reports the allocated, occupied, idle and refused resource-hours of projects."""

    since_1_1 = 'Usage is reported'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, usage_request.USAGE, repeatable=('group_by',))
        as_csv = usage_view.wants_csv(req)
        query = usage_request.usage(
            req, self._parts.clock(), self._project(req, caller, rules.GET_ALL_PROJECTS),
            self._parts.policy.allows(caller, rules.GET_ALL_PROJECTS))
        changes = self._changes(req, caller, query.end)
        report = self._parts.manager.report_usage(caller, query)
        if as_csv:
            return usage_view.as_csv(*usage_view.usage_table(report))
        resp.etag = unchanged.tag(req, changes, self._parts.clock())
        return usage_view.usage(report)

    def _changes(self, req, caller, end):
        """Return the number of changes if the usage of a span is settled; None: it still grows."""
        is_settled = (times.are_fixed(req.GET, 'start', 'end')
                      and end + _SETTLED <= self._parts.clock())
        return unchanged.changes(self._parts.manager, caller) if is_settled else None


class UtilisationController(base.Controller):
    """Reports the past and future utilisation of pools, without names and without leases."""

    since_1_1 = 'Utilisation is reported'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET_UTILISATION)
        queries.refuse_unknown(req, usage_request.UTILISATION)
        as_csv = usage_view.wants_csv(req)
        answer = self._parts.manager.report_utilisation(
            caller, usage_request.pool_steps(req, self._parts.clock()))
        if as_csv:
            return usage_view.as_csv(*usage_view.pool_steps_table(answer))
        return usage_view.pool_steps(answer)
