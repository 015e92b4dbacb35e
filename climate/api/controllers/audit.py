# SPDX-License-Identifier: Apache-2.0
"""The path /v1/audit, from REST 1.1 on: what the newest audit of the managers found."""
import dataclasses

import pecan

from climate.api import hooks
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.policies import audit as rules


class AuditController(base.Controller):
    """Shows the newest audit."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        base.refuse_lenient(req, 'Audits are served')
        queries.refuse_unknown(req, ())
        return {'audit': _shown(self._parts.manager.get_audit(caller))}


def _shown(found):
    if found is None:
        return {'at': None, 'manager': None, 'finding_count': 0, 'findings': []}
    return {'at': times.shown(found.at), 'manager': found.manager_id,
            'finding_count': found.finding_count,
            'findings': [dataclasses.asdict(each) for each in found.findings]}
