# SPDX-License-Identifier: Apache-2.0
"""/v1/reservations/{id}, from REST 1.1 on: what it leases, and what Nova's scheduler asks."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import schemas
from climate.api import views
from climate.api.controllers import base
from climate.policies import leases as lease_rules
from climate.policies import reservations as rules


class ReservationsController(base.Controller):
    """Reservations are made and shown with their leases; what one leases may be said later."""

    def __init__(self, parts):
        self._parts = parts
        self._limit = parts.conf.api.max_body_bytes
        self.hosts = ReservationHostsController(parts)

    def get(self, req, resp, reservation_id):
        """Not served: it says to pecan that one id stands before what is below."""

    @pecan.expose('json')
    def put(self, req, resp, reservation_id):
        base.refuse_lenient(req, 'What a reservation leases is said')
        caller = hooks.caller(req)
        lease = self._visible(caller, reservation_id)
        self._parts.policy.authorize(caller, rules.PUT, {'project_id': lease.project_id})
        asked = body.read(req, schemas.RESERVATION_BIND, self._limit)
        bound = self._parts.manager.bind_reservation(caller, reservation_id,
                                                     asked['resource_id'])
        [reservation] = [each for each in bound.reservations if each.id == reservation_id]
        return {'reservation': self._parts.views.reservation(reservation)}

    def _visible(self, caller, reservation_id):
        """The lease of a reservation, for whoever may know that it exists.

        :raises ReservationNotFound: there is none, or not for this caller.
        """
        base.refuse_long(reservation_id, errors.ReservationNotFound, 'reservation_id')
        lease = self._parts.manager.get_lease_of_reservation(caller, reservation_id)
        if not self._parts.policy.allows(caller, lease_rules.GET,
                                         {'project_id': lease.project_id}):
            raise errors.ReservationNotFound(reservation_id=reservation_id)
        return lease


class ReservationHostsController(base.Controller):
    """May a project use the reservation now, and on which hosts."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp, reservation_id):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_HOSTS)
        base.refuse_lenient(req, 'The hosts of a reservation are shown')
        project_id = base.asking_project(req)
        base.refuse_long(reservation_id, errors.ReservationNotFound, 'reservation_id')
        found = self._parts.manager.reservation_hosts(caller, reservation_id, project_id)
        return {'reservation': views.usability(found)}
