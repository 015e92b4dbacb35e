# SPDX-License-Identifier: Apache-2.0
"""The path /v1/offers, from REST 1.1 on: resources held for a project until it leases them."""
import pecan

from climate import errors
from climate.api import operations
from climate.api import views
from climate.api.controllers import base
from climate.policies import offers as rules

PATHS = {
    '/offers': {'get': operations.operation('List the offers held for the project')},
    '/offers/{id}': {
        'parameters': [operations.ID],
        'get': operations.operation('Show an offer'),
        'delete': operations.operation('Release an offer', status=204)},
}


class OffersController(base.Controller):
    """Lists, shows and releases the offers of the caller's project.

    POST /v1/availability creates offers; POST /v1/leases takes one.
    """

    since_1_1 = 'Offers are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        return {'offers': [views.offer(offer) for offer in self._parts.manager.list_offers(caller)]}

    @pecan.expose('json')
    def get_one(self, req, resp, offer_id):
        caller = self._authorized(req, rules.GET)
        base.refuse_long(offer_id, errors.OfferNotFound, 'offer_id')
        return {'offer': views.offer(self._parts.manager.get_offer(caller, offer_id))}

    @pecan.expose('json')
    def delete(self, req, resp, offer_id):
        caller = self._authorized(req, rules.DELETE)
        base.refuse_long(offer_id, errors.OfferNotFound, 'offer_id')
        self._parts.manager.delete_offer(caller, offer_id)
        resp.status = 204
