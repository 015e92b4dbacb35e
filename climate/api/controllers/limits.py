# SPDX-License-Identifier: Apache-2.0
"""The path /v1/limits, from REST 1.1 on: the limits of a project, and how much of them is used."""
import pecan

from climate import errors
from climate.api import limit_view
from climate.api import operations
from climate.api import queries
from climate.api.controllers import base
from climate.policies import limits as rules

_LONGEST = 255
_QUERY = ('project_id', 'user_id')
PATHS = {
    '/limits': {'get': operations.operation(
        'Show the limits of a project and of a user, and how much of them is used',
        query=[operations.query(name, minLength=1, maxLength=_LONGEST) for name in _QUERY])},
}


class LimitsController(base.Controller):
    """Shows callers their limits; administrators may name another project or user."""

    since_1_1 = 'Limits are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, _QUERY)
        project_id, user_id = (_named(req, name) for name in _QUERY)
        if project_id not in (None, caller.project_id) or user_id not in (None, caller.user_id):
            self._parts.policy.authorize(caller, rules.GET_OTHERS)
        if user_id is None and project_id in (None, caller.project_id):
            user_id = caller.user_id
        return limit_view.report(self._parts.manager.report_limits(
            caller, project_id or caller.project_id, user_id,
            self._parts.policy.allows(caller, rules.GET_OTHERS)))


def _named(request, name):
    """Return the project or the user that a query names; None: it names none.

    :raises BadField: the id is empty, or too long.
    """
    value = request.GET.get(name)
    if value is not None and not 0 < len(value) <= _LONGEST:
        raise errors.BadField(field=name, reason=f'give an id of 1 to {_LONGEST} characters.')
    return value
