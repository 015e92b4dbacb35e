# SPDX-License-Identifier: Apache-2.0
"""The path /v1/energy, from REST 1.1 on."""
import pecan

from climate.api import operations
from climate.api import queries
from climate.api import times
from climate.api import usage_request
from climate.api.controllers import base
from climate.policies import energy as rules

PATHS = {'/energy': {'get': operations.operation(
    'Report which resources sleep, and the energy that this saved',
    query=[*operations.SPAN, operations.query('pool')])}}


class EnergyController(base.Controller):
    """Reports which resources sleep, how long they slept, and the energy that was saved."""

    since_1_1 = 'Energy is reported'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, usage_request.ENERGY)
        return _shown(self._parts.manager.report_energy(
            caller, usage_request.energy_of(req, self._parts.clock())))


def _shown(answer):
    saved = [line.kwh_saved for line in answer.lines if line.kwh_saved is not None]
    return {'energy': {
        'start': times.shown(answer.start), 'end': times.shown(answer.end),
        'resources': [{
            'pool': line.pool, 'id': str(line.resource_id), 'name': line.name,
            'power_state': line.state, 'power_since': times.shown(line.since),
            'hours_asleep': round(line.hours_asleep, 3), 'watts': line.watts,
            'kwh_saved': None if line.kwh_saved is None else round(line.kwh_saved, 3),
        } for line in answer.lines],
        'total': {'hours_asleep': round(sum(line.hours_asleep for line in answer.lines), 3),
                  'kwh_saved': round(sum(saved), 3) if saved else None}}}
