# SPDX-License-Identifier: Apache-2.0
"""The policy of the limit book."""
from climate.policies import base

GET = 'climate:limit_books:get'
POST = 'climate:limit_books:post'

_MANY = '/v1/limit-books'
RULES = [
    base.rule(
        GET, base.ADMIN, 'List the versions of the limit book, and show one.',
        ('GET', _MANY), ('GET', '/v1/limit-books/{version}')),
    base.rule(POST, base.ADMIN, 'Add a version of the limit book.', ('POST', _MANY)),
]
