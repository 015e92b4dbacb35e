# SPDX-License-Identifier: Apache-2.0
"""/v1/reservations/{id}/hosts: what Nova's scheduler asks, from REST 1.1 on."""
import pecan

from climate import errors
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.policies import reservations as rules

_LONGEST_ID = 36
_LONGEST_PROJECT = 255


class ReservationsController(base.Controller):
    """Nothing by itself: reservations are made and shown with their leases."""

    def __init__(self, parts):
        self.hosts = ReservationHostsController(parts)

    def get(self, req, resp, reservation_id):
        """Not served: it says to pecan that one id stands before what is below."""


class ReservationHostsController(base.Controller):
    """May a project use the reservation now, and on which hosts."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp, reservation_id):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_HOSTS)
        if hooks.is_lenient(req):
            raise errors.NotFound('The hosts of a reservation are shown from REST 1.1 on.')
        project_id = req.GET.get('project_id')
        if not project_id or len(project_id) > _LONGEST_PROJECT:
            raise errors.BadField(field='project_id', reason=(
                f'name the project that would use the reservation, in 1 to {_LONGEST_PROJECT} '
                'characters: ?project_id=ID.'))
        if len(reservation_id) > _LONGEST_ID:
            raise errors.ReservationNotFound(reservation_id=reservation_id[:80])
        found = self._parts.manager.reservation_hosts(caller, reservation_id, project_id)
        return {'reservation': views.usability(found)}
