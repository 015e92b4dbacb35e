# SPDX-License-Identifier: Apache-2.0
"""The path /v1/leases/{id}/give-back, from REST 1.1 on."""
import pecan

from climate.api import body
from climate.api import hooks
from climate.api import lease_body
from climate.api import lease_permissions
from climate.api import queries
from climate.api.controllers import base
from climate.policies import leases as rules

_GIVE_BACK = {
    'type': 'object',
    'properties': {'hosts': {
        'type': 'integer', 'minimum': 1, 'maximum': 1000000,
        'description': 'The number of hosts. Default: the whole lease.'}},
    'additionalProperties': False,
}
GIVE_BACK = (_GIVE_BACK, _GIVE_BACK)


class GiveBackController(base.AnsweringController):
    """Gives a future lease, or hosts of it, back for leases that wait for resources.

    :param late_cancel: a function (request, lease, price) that renders a late cancellation.
    """

    dry_runs = ('post',)

    def __init__(self, parts, visible, answer, late_cancel):
        super().__init__(parts, visible, answer)
        self._late_cancel = late_cancel

    @pecan.expose('json')
    def post(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        caller = hooks.caller(req)
        lease_permissions.authorize(self._parts, caller, rules.GIVE_BACK, lease)
        base.refuse_lenient(req, 'Leases are returned')
        sent = body.read(req, GIVE_BACK, self._parts.conf.api.max_body_bytes)
        dry_run = queries.flag(req, 'dry_run')
        left = self._parts.manager.give_back_lease(
            caller, lease.id, sent.get('hosts'), lease_body.generation(req), dry_run)
        return {**self._answer(req, resp, left),
                # A lease that has not begun has nothing that could be lost.
                **({'losses': [], **self._late_cancel(req, lease, left.late_cancel)}
                   if dry_run else {})}
