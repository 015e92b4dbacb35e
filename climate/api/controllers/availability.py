# SPDX-License-Identifier: Apache-2.0
"""The path /v1/availability."""
import dataclasses

import pecan

from climate.api import availability_request
from climate.api import availability_view
from climate.api import criteria_policy
from climate.api import hooks
from climate.api import schemas
from climate.api.controllers import base
from climate.policies import availability as rules


class AvailabilityController(base.Controller):
    """Finds times at which reservations fit, from REST 1.1 on."""

    ignored = tuple(schemas.AVAILABILITY['properties'])

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        base.refuse_lenient(req, 'Availability is served')
        self._parts.policy.authorize(hooks.caller(req), rules.GET)
        return self._found(req, availability_request.from_query(
            req, self._parts.clock()))

    @pecan.expose('json')
    def post(self, req, resp):
        base.refuse_lenient(req, 'Availability is served')
        self._parts.policy.authorize(hooks.caller(req), rules.POST)
        answer = self._found(req, availability_request.from_body(
            req, self._parts.conf.api, self._parts.clock()))
        if any(each['id'] is not None for each in answer['offers']):
            resp.status = 201
        return answer

    def _found(self, req, query):
        caller = hooks.caller(req)
        query = dataclasses.replace(query, hidden_criteria=criteria_policy.may_use_hidden(
            self._parts.policy, req))
        answer = self._parts.manager.find_availability(caller, query)
        return availability_view.shown(answer, self._parts.policy.allows(caller, rules.GET_NAMES))
