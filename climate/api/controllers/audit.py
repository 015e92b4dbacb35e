# SPDX-License-Identifier: Apache-2.0
"""The path /v1/audit, from REST 1.1 on: the result of the newest audit of the managers."""
import dataclasses

import pecan

from climate.api import operations
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.policies import audit as rules

PATHS = {'/audit': {
    'get': operations.operation('Show the findings of the newest audit')}}


class AuditController(base.Controller):
    """Shows the newest audit."""

    since_1_1 = 'Audits are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, ())
        return {'audit': _shown(self._parts.manager.get_audit(caller))}


def _shown(audit):
    if audit is None:
        return {'at': None, 'manager': None, 'finding_count': 0, 'findings': []}
    return {'at': times.shown(audit.at), 'manager': audit.manager_id,
            'finding_count': audit.finding_count,
            'findings': [dataclasses.asdict(finding) for finding in audit.findings]}
