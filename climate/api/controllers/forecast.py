# SPDX-License-Identifier: Apache-2.0
"""The path /v1/forecast, from REST 1.1 on: the demand for a pool that is expected."""
import pecan

from climate.api import hooks
from climate.api import plan_requests
from climate.api import plan_views
from climate.api.controllers import base
from climate.policies import plans as rules


class ForecastController(base.Controller):
    """Forecasts the demand for a pool by hour."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.FORECAST)
        base.refuse_lenient(req, 'Forecasts are served')
        query = plan_requests.forecast_query(req, self._parts.clock())
        return {'forecast': plan_views.forecast(self._parts.manager.forecast(caller, query))}
