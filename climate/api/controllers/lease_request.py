# SPDX-License-Identifier: Apache-2.0
"""The path /v1/leases/{id}/request, from REST 1.1 on: the body that creates a lease again."""
import pecan

from climate.api import operations
from climate.api.controllers import base

PATHS = {'/leases/{id}/request': {
    'parameters': [operations.ID],
    'get': operations.operation('Show the request that creates the same lease again')}}


class RequestController(base.SubController):
    """Shows the body of POST /v1/leases for a lease like this one, with its duration."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'The requests of leases are served')
        return {'request': {
            'name': lease.name, 'duration': int((lease.end - lease.start).total_seconds()),
            **({'while_free': lease.while_free_seconds} if lease.while_free_seconds else {}),
            'reservations': [self._reservation(each) for each in lease.reservations]}}

    def _reservation(self, reservation):
        """Return a Reservation as a request has it, without its secrets."""
        fields, plugin = reservation.request, self._parts.plugins.get(reservation.resource_type)
        if plugin is not None:
            known = plugin.schema['properties']
            fields = {name: value for name, value in plugin.asked(fields).items() if name in known}
        fields = {name: value for name, value in fields.items() if value != ''}
        if reservation.label is not None:
            fields['label'] = reservation.label
        if reservation.depends_on:
            fields['depends_on'] = list(reservation.depends_on)
        return {'resource_type': reservation.resource_type, **fields}
