# SPDX-License-Identifier: Apache-2.0
"""The path /v1/offers, from REST 1.1 on: resources held for a project until it leases them."""
import pecan

from climate import errors
from climate.api import hooks
from climate.api import views
from climate.api.controllers import base
from climate.policies import offers as rules


class OffersController(base.Controller):
    """Lists, shows and releases the offers of the caller's project.

    POST /v1/availability makes offers; POST /v1/leases takes one.
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
        base.refuse_lenient(req, 'Offers are served')
        return caller
