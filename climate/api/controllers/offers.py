# SPDX-License-Identifier: Apache-2.0
"""/v1/offers, from REST 1.1 on: what is held for a project until it makes a lease of it."""
import pecan

from climate import errors
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.policies import offers as rules


class OffersController(base.Controller):
    """List and show the offers of the caller's project, and give one back.

    A search for what is available makes them; POST /v1/leases takes one.
    """

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        return {'offers': [views.offer(each) for each in self._parts.manager.list_offers(caller)]}

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

    def _authorized(self, req, rule):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rule)
        base.refuse_lenient(req, 'Offers are there')
        return caller
