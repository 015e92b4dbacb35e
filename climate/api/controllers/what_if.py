# SPDX-License-Identifier: Apache-2.0
"""The path /v1/what-if, from REST 1.1 on: what if a pool or the demand changed."""
import pecan

from climate.api import hooks
from climate.api import plan_requests
from climate.api import plan_views
from climate.api.controllers import base
from climate.policies import plans as rules


class WhatIfController(base.Controller):
    """Answers what-if questions; nothing is written."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def post(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.WHAT_IF)
        base.refuse_lenient(req, 'What-if is served')
        question = plan_requests.question(req, self._parts.conf.api.max_body_bytes,
                                          self._parts.clock())
        return {'what_if': plan_views.answer(self._parts.manager.what_if(caller, question))}
