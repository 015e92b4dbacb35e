# SPDX-License-Identifier: Apache-2.0
"""The path /v1/servers/{id}/hosts, from REST 1.1 on: where a leased server may be placed."""
import pecan

from climate import errors
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.policies import servers as rules


class ServersController(base.Controller):
    """Routes to the hosts of a server; Nova serves all else about servers."""

    def __init__(self, parts):
        self.hosts = ServerHostsController(parts)

    def get(self, req, resp, server_id):
        """Not served: tells pecan that one id precedes the controllers below this one."""


class ServerHostsController(base.Controller):
    """Shows the hosts on which a leased server may be placed now."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp, server_id):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_HOSTS)
        base.refuse_lenient(req, 'The hosts of a server are served')
        project_id = base.queried_project(req)
        base.refuse_long(server_id, errors.TargetGone, 'target_id', kind='server')
        found = self._parts.manager.server_hosts(caller, server_id, project_id)
        return {'reservation': views.usability(found)}
