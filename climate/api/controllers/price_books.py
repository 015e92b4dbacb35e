# SPDX-License-Identifier: Apache-2.0
"""The path /v1/price-books, from REST 1.1 on: the versions of the price book."""
import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import price_schemas
from climate.api import price_view
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.policies import price_books as rules

_VALID = 'valid'
_LONGEST = 9


class PriceBooksController(base.Controller):
    """Adds, lists and shows versions; none is ever changed."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, ())
        return {'price_books': [price_view.book(each)
                                for each in self._parts.manager.list_price_books(caller)]}

    @pecan.expose('json')
    def get_one(self, req, resp, version):
        caller = self._authorized(req, rules.GET_VALID if version == _VALID else rules.GET)
        queries.refuse_unknown(req, ())
        number = base.row_number(version[:_LONGEST + 1])
        if version != _VALID and (number is None or len(version) > _LONGEST):
            raise errors.PriceBookNotFound(version=version[:80])
        return {'price_book': price_view.book(self._parts.manager.get_price_book(caller, number))}

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        document = body.read(req, price_schemas.PRICE_BOOK, self._parts.conf.api.max_body_bytes)
        valid_from = None
        if 'valid_from' in document:
            now = self._parts.clock()
            asked = times.asked('valid_from', document.pop('valid_from'), now)
            valid_from = None if asked == now else asked
        made = self._parts.manager.create_price_book(caller, valid_from, document)
        resp.status = 201
        resp.headers['Location'] = f'{req.application_url}/v1/price-books/{made.version}'
        return {'price_book': price_view.book(made)}

    def _authorized(self, req, rule):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rule)
        base.refuse_lenient(req, 'Price books are served')
        return caller
