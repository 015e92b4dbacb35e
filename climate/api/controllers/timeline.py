# SPDX-License-Identifier: Apache-2.0
"""The path /v1/timeline, from REST 1.1 on: the resources of a pool, and who has them when."""
import pecan
import webob

from climate.api import hooks
from climate.api import operator_texts
from climate.api import timeline_request
from climate.api import timeline_view
from climate.api.controllers import base
from climate.policies import leases as lease_rules
from climate.policies import timeline as rules


class TimelineController(base.Controller):
    """Shows a timeline. An answer that the caller has already is 304 without a body."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, policy = hooks.caller(req), self._parts.policy
        policy.authorize(caller, rules.GET)
        base.refuse_lenient(req, 'Timelines are served')
        query = timeline_request.query(
            req, self._parts.clock(), caller, policy.allows(caller, lease_rules.HIDDEN_CRITERIA),
            policy.allows(caller, rules.GET_ALL_PROJECTS))
        shown = timeline_view.answer(self._parts.manager.get_timeline(caller, query), query.pool,
                                     policy.allows(caller, rules.GET_NAMES),
                                     operator_texts.may_read(policy, caller))
        resp.etag = timeline_view.etag(shown)
        if resp.etag in req.if_none_match:
            return webob.Response(status=304, etag=resp.etag)
        return {'timeline': shown}
