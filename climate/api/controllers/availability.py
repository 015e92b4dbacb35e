# SPDX-License-Identifier: Apache-2.0
"""/v1/availability"""
import pecan

from climate.api import asking
from climate.api import hooks
from climate.api import offering
from climate.api.controllers import base
from climate.policies import availability as rules


class AvailabilityController(base.Controller):
    """When reservations could be had, from REST 1.1 on."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        base.refuse_lenient(req, 'What is free is told')
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        answer = self._parts.manager.find_availability(caller, asking.of_query(req))
        return offering.shown(answer, self._parts.policy.allows(caller, rules.GET_NAMES))
