# SPDX-License-Identifier: Apache-2.0
"""The path /v1/price-books, from REST 1.1 on: the versions of the price book."""
from climate import errors
from climate.api.controllers import book_versions
from climate.policies import price_books as rules

# A number may be text, which is not rounded. The parser of the price book checks the text.
_NUMBER = {'type': ['string', 'number'], 'maxLength': 32, 'format': 'decimal',
           'description': 'Not negative; text such as "12.50" is kept exactly.'}
_SURCHARGE = book_versions.closed(['percent'], percent=_NUMBER)
_BOOK = book_versions.closed(
    ['currency'],
    currency={'type': 'string', 'minLength': 3, 'maxLength': 3, 'format': 'currency',
              'description': 'A code of ISO 4217, such as "EUR".'},
    valid_from=book_versions.VALID_FROM,
    description=book_versions.DESCRIPTION,
    lease_fee=_NUMBER,
    rates={'type': 'array', 'maxItems': 500, 'items': book_versions.closed(
        ['rate'], rate=_NUMBER, resource_type=book_versions.TEXT, pool=book_versions.TEXT,
        properties={'type': 'object', 'minProperties': 1, 'maxProperties': 8,
                    'additionalProperties': {'type': 'string', 'maxLength': 512}})},
    short_notice=book_versions.closed(['hours', 'percent'], hours=_NUMBER, percent=_NUMBER),
    peak_hours=book_versions.closed(
        ['timezone', 'windows'], timezone=book_versions.TIME_ZONE,
        windows={'type': 'array', 'minItems': 1, 'maxItems': 50, 'items': book_versions.closed(
            ['days', 'from', 'to', 'percent'], percent=_NUMBER, **book_versions.WINDOW)}),
    late_cancel=book_versions.closed(['hours', 'percent'], hours=_NUMBER, percent=_NUMBER),
    priority=_SURCHARGE, best_effort=_SURCHARGE, idle=_SURCHARGE,
    early_end=book_versions.closed(['credit_percent'], credit_percent=_NUMBER))

PATHS = book_versions.paths('/price-books', 'the price book', _BOOK)


class PriceBooksController(book_versions.BookVersionsController):
    """Adds, lists and shows versions of the price book."""

    since_1_1 = 'Price books are served'
    noun = 'price_book'
    schema = _BOOK
    rules = rules.GET, rules.GET_VALID, rules.POST
    not_found = errors.PriceBookNotFound
