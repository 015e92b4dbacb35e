# SPDX-License-Identifier: Apache-2.0
"""The path /v1/servers/{id}/hosts, from REST 1.1 on: the hosts that a leased server may use."""
import pecan

from climate import errors
from climate.api import operations
from climate.api import queries
from climate.api import views
from climate.api.controllers import base
from climate.policies import servers as rules

PATHS = {'/servers/{id}/hosts': {
    'parameters': [operations.ID],
    'get': operations.operation('Show the hosts that a leased server may use now',
                                query=[operations.PROJECT])}}


class ServersController(base.Controller):
    """Routes to the hosts of a server."""

    def __init__(self, parts):
        super().__init__(parts)
        self.hosts = ServerHostsController(parts)

    def get(self, req, resp, server_id):
        """Tell pecan by the arguments that an id precedes sub-controllers; this is never called."""


class ServerHostsController(base.Controller):
    """Shows the hosts on which a leased server may be placed now."""

    since_1_1 = 'The hosts of a server are served'

    @pecan.expose('json')
    def get_all(self, req, resp, server_id):
        caller = self._authorized(req, rules.GET_HOSTS)
        project_id = queries.project_id(req)
        base.refuse_long(server_id, errors.TargetGone, 'target_id', kind='server')
        return {'reservation': views.usability(
            self._parts.manager.server_hosts(caller, server_id, project_id))}
