# SPDX-License-Identifier: Apache-2.0
"""The path /v1/price-books, from REST 1.1 on: the versions of the price book."""
import pecan

from climate import errors
from climate.api import body
from climate.api import operations
from climate.api import price_view
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.domain import peak_hours
from climate.policies import price_books as rules

_VALID = 'valid'
_LONGEST = 9
# A number may be text, which is not rounded. The parser of the price book checks the text.
_NUMBER = {'type': ['string', 'number'], 'maxLength': 32, 'format': 'decimal',
           'description': 'Not negative; text such as "12.50" is kept exactly.'}
_TEXT = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_TIME = {'type': 'string', 'maxLength': 5, 'format': 'time of day',
         'description': '"08:00"; the end of a day is "24:00".'}


def _closed(required, **properties):
    return {'type': 'object', 'required': required, 'properties': properties,
            'additionalProperties': False}


_SURCHARGE = _closed(['percent'], percent=_NUMBER)
_BOOK = _closed(
    ['currency'],
    currency={'type': 'string', 'minLength': 3, 'maxLength': 3, 'format': 'currency',
              'description': 'A code of ISO 4217, such as "EUR".'},
    valid_from={'type': 'string', 'maxLength': 80, 'format': 'moment',
                'description': 'Default: now. It must not be in the past.'},
    description={'type': 'string', 'maxLength': 255},
    lease_fee=_NUMBER,
    rates={'type': 'array', 'maxItems': 500, 'items': _closed(
        ['rate'], rate=_NUMBER, resource_type=_TEXT, pool=_TEXT,
        properties={'type': 'object', 'minProperties': 1, 'maxProperties': 8,
                    'additionalProperties': {'type': 'string', 'maxLength': 512}})},
    short_notice=_closed(['hours', 'percent'], hours=_NUMBER, percent=_NUMBER),
    peak_hours=_closed(
        ['timezone', 'windows'], timezone={**_TEXT, 'format': 'time zone'},
        windows={'type': 'array', 'minItems': 1, 'maxItems': 50, 'items': {
            **_closed(['days', 'from', 'to', 'percent'], days={
                'type': 'array', 'minItems': 1, 'maxItems': 7, 'uniqueItems': True,
                'items': {'enum': list(peak_hours.DAYS)}}, to=_TIME, percent=_NUMBER,
                **{'from': _TIME})}}),
    priority=_SURCHARGE, best_effort=_SURCHARGE, idle=_SURCHARGE,
    early_end=_closed(['credit_percent'], credit_percent=_NUMBER))

PATHS = {
    '/price-books': {
        'get': operations.operation('List the versions of the price book'),
        'post': operations.operation('Add a version of the price book', _BOOK, 201)},
    '/price-books/{id}': {
        'parameters': [operations.in_path(pattern='^([0-9]{1,9}|valid)$')],
        'get': operations.operation('Show a version of the price book, or the valid one')},
}


class PriceBooksController(base.Controller):
    """Adds, lists and shows versions. A version is never changed."""

    since_1_1 = 'Price books are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, ())
        return {'price_books': [price_view.book(book)
                                for book in self._parts.manager.list_price_books(caller)]}

    @pecan.expose('json')
    def get_one(self, req, resp, version):
        caller = self._authorized(req, rules.GET_VALID if version == _VALID else rules.GET)
        queries.refuse_unknown(req, ())
        number = queries.row_number(version[:_LONGEST + 1])
        if version != _VALID and (number is None or len(version) > _LONGEST):
            raise errors.PriceBookNotFound(version=version[:80])
        return {'price_book': price_view.book(self._parts.manager.get_price_book(caller, number))}

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        document = body.read(req, (_BOOK, _BOOK), self._parts.conf.api.max_body_bytes)
        valid_from = None
        if 'valid_from' in document:
            now = self._parts.clock()
            moment = times.asked('valid_from', document.pop('valid_from'), now)
            valid_from = None if moment == now else moment
        book = self._parts.manager.create_price_book(caller, valid_from, document)
        base.created(req, resp, f'price-books/{book.version}')
        return {'price_book': price_view.book(book)}
