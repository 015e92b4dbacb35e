# SPDX-License-Identifier: Apache-2.0
"""The policy of the price book."""
from climate.policies import base

GET = 'climate:price_books:get'
GET_VALID = 'climate:price_books:get_valid'
POST = 'climate:price_books:post'

_MANY = '/v1/price-books'
RULES = [
    base.rule(
        GET, base.ADMIN, 'List the versions of the price book, and show one.',
        ('GET', _MANY), ('GET', '/v1/price-books/{version}')),
    base.rule(
        GET_VALID, base.READER_OR_ADMIN, 'Show the version of the price book that is valid now.',
        ('GET', '/v1/price-books/valid')),
    base.rule(POST, base.ADMIN, 'Add a version of the price book.', ('POST', _MANY)),
]
