# SPDX-License-Identifier: Apache-2.0
"""The path /v1/reservations/{id}, from REST 1.1 on: the leased server, and the hosts for Nova."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_permissions
from climate.api import operations
from climate.api import queries
from climate.api import schemas
from climate.api import views
from climate.api.controllers import base
from climate.policies import leases as lease_rules
from climate.policies import reservations as rules

PATHS = {
    '/reservations/{id}': {
        'parameters': [operations.ID],
        'put': operations.operation('Set the server that a reservation leases',
                                    schemas.RESERVATION_BIND[1])},
    '/reservations/{id}/hosts': {
        'parameters': [operations.ID],
        'get': operations.operation(
            'Show the hosts on which a project may use a reservation now',
            query=[operations.PROJECT])},
}


class ReservationsController(base.Controller):
    """Sets the server that a reservation leases. /v1/leases serves all other requests."""

    def __init__(self, parts):
        super().__init__(parts)
        self.hosts = ReservationHostsController(parts)

    def get(self, req, resp, reservation_id):
        """Tell pecan by the arguments that an id precedes sub-controllers; this is never called."""

    @pecan.expose('json')
    def put(self, req, resp, reservation_id):
        base.refuse_lenient(req, 'The server of a reservation is set')
        caller = hooks.caller(req)
        lease = self._visible(caller, reservation_id)
        lease_permissions.authorize(self._parts, caller, rules.PUT, lease)
        request = body.read(req, schemas.RESERVATION_BIND,
                            self._parts.conf.api.max_body_bytes)
        lease = self._parts.manager.bind_reservation(caller, reservation_id,
                                                     request['resource_id'])
        [bound] = [reservation for reservation in lease.reservations
                   if reservation.id == reservation_id]
        return {'reservation': self._parts.views.reservation(bound)}

    def _visible(self, caller, reservation_id):
        """Get the lease of a reservation that the caller may see.

        :raises ReservationNotFound: the reservation does not exist, or is hidden from this caller.
        """
        base.refuse_long(reservation_id, errors.ReservationNotFound, 'reservation_id')
        lease = self._parts.manager.get_lease_of_reservation(caller, reservation_id)
        if not lease_permissions.allows(self._parts, caller, lease_rules.GET, lease):
            raise errors.ReservationNotFound(reservation_id=reservation_id)
        return lease


class ReservationHostsController(base.Controller):
    """Shows whether a project may use the reservation now, and on which hosts."""

    since_1_1 = 'The hosts of a reservation are shown'

    @pecan.expose('json')
    def get_all(self, req, resp, reservation_id):
        caller = self._authorized(req, rules.GET_HOSTS)
        project_id = queries.project_id(req)
        base.refuse_long(reservation_id, errors.ReservationNotFound, 'reservation_id')
        return {'reservation': views.usability(
            self._parts.manager.reservation_hosts(caller, reservation_id, project_id))}
