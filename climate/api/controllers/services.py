# SPDX-License-Identifier: Apache-2.0
"""The path /v1/services, from REST 1.1 on: the managers and their states."""
import pecan

from climate.api import hooks
from climate.api import queries
from climate.api import views
from climate.api.controllers import base
from climate.policies import services as rules


class ServicesController(base.Controller):
    """Lists the managers."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        self._parts.policy.authorize(hooks.caller(req), rules.GET)
        base.refuse_lenient(req, 'Services are served')
        queries.refuse_unknown(req, ())
        found = self._parts.manager.list_services(hooks.caller(req))
        return {'services': [views.service(each) for each in found]}
