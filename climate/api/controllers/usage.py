# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/usage and /v1/utilisation, from REST 1.1 on."""
import pecan

from climate.api import body
from climate.api import hooks
from climate.api import queries
from climate.api import usage_request
from climate.api import usage_view
from climate.api.controllers import base
from climate.policies import usage as rules


class UsageController(base.Controller):
    """Reports who was allocated, occupied, left idle and was refused how much."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        base.refuse_lenient(req, 'Usage is reported')
        queries.refuse_unknown(req, usage_request.USAGE, repeatable=('group_by',))
        as_csv = usage_view.wants_csv(req)
        report = self._parts.manager.report_usage(caller, usage_request.usage(
            req, self._parts.clock(), self._project(req, caller),
            self._parts.policy.allows(caller, rules.GET_ALL_PROJECTS)))
        if as_csv:
            return usage_view.as_csv(*usage_view.usage_table(report))
        return usage_view.usage(report)

    def _project(self, req, caller):
        """Return the id of the project whose usage is asked for; None: all projects.

        :raises Forbidden: the caller may see its own project only.
        """
        everything = body.flag(req, 'all_projects')
        project_id = base.queried_project(req) if 'project_id' in req.GET else None
        if everything or project_id not in (None, caller.project_id):
            self._parts.policy.authorize(caller, rules.GET_ALL_PROJECTS)
        return project_id if everything or project_id else caller.project_id


class UtilisationController(base.Controller):
    """Reports how full pools were and will be, without names and without leases."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_UTILISATION)
        base.refuse_lenient(req, 'Utilisation is reported')
        queries.refuse_unknown(req, usage_request.UTILISATION)
        as_csv = usage_view.wants_csv(req)
        answer = self._parts.manager.report_utilisation(
            caller, usage_request.pool_steps(req, self._parts.clock()))
        if as_csv:
            return usage_view.as_csv(*usage_view.pool_steps_table(answer))
        return usage_view.pool_steps(answer)
