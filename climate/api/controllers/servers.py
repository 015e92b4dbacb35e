# SPDX-License-Identifier: Apache-2.0
"""/v1/servers/{id}/hosts: where a leased server may be placed, from REST 1.1 on."""
import pecan

from climate import errors
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.policies import servers as rules


class ServersController(base.Controller):
    """Nothing by itself: servers are Nova's."""

    def __init__(self, parts):
        self.hosts = ServerHostsController(parts)

    def get(self, req, resp, server_id):
        """Not served: it says to pecan that one id stands before what is below."""


class ServerHostsController(base.Controller):
    """On which hosts the reservation that leases a server lets it be now."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp, server_id):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_HOSTS)
        base.refuse_lenient(req, 'The hosts of a server are shown')
        project_id = base.asking_project(req)
        base.refuse_long(server_id, errors.ServerNotFound, 'server_id')
        found = self._parts.manager.server_hosts(caller, server_id, project_id)
        return {'reservation': views.usability(found)}
