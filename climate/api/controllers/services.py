# SPDX-License-Identifier: Apache-2.0
"""The path /v1/services, from REST 1.1 on: the managers and their states."""
import pecan

from climate.api import operations
from climate.api import queries
from climate.api import views
from climate.api.controllers import base
from climate.policies import services as rules

PATHS = {'/services': {'get': operations.operation('List the managers and their states')}}


class ServicesController(base.Controller):
    """Lists the managers."""

    since_1_1 = 'Services are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, ())
        return {'services': [views.service(manager)
                             for manager in self._parts.manager.list_services(caller)]}
