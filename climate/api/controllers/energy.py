# SPDX-License-Identifier: Apache-2.0
"""The path /v1/energy, from REST 1.1 on."""
import pecan

from climate.api import hooks
from climate.api import queries
from climate.api import times
from climate.api import usage_request
from climate.api.controllers import base
from climate.policies import energy as rules


class EnergyController(base.Controller):
    """Reports which resources sleep, how long they slept, and what that saved."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        base.refuse_lenient(req, 'Energy is reported')
        queries.refuse_unknown(req, usage_request.ENERGY)
        return _shown(self._parts.manager.report_energy(
            caller, usage_request.energy_of(req, self._parts.clock())))


def _shown(answer):
    known = [each.kwh_saved for each in answer.lines if each.kwh_saved is not None]
    return {'energy': {
        'start': times.shown(answer.start), 'end': times.shown(answer.end),
        'resources': [{
            'pool': each.pool, 'id': str(each.resource_id), 'name': each.name,
            'power_state': each.state,
            'power_since': times.shown(each.since) if each.since is not None else None,
            'hours_asleep': round(each.hours_asleep, 3), 'watts': each.watts,
            'kwh_saved': None if each.kwh_saved is None else round(each.kwh_saved, 3),
        } for each in answer.lines],
        'total': {'hours_asleep': round(sum(each.hours_asleep for each in answer.lines), 3),
                  'kwh_saved': round(sum(known), 3) if known else None}}}
