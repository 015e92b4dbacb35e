# SPDX-License-Identifier: Apache-2.0
"""The policy of the price book."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:price_books:get'
GET_VALID = 'climate:price_books:get_valid'
POST = 'climate:price_books:post'

_MANY = '/v1/price-books'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'List the versions of the price book, and show one.',
        [{'path': _MANY, 'method': 'GET'}, {'path': '/v1/price-books/{version}', 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_VALID, base.READER_OR_ADMIN, 'Show the version of the price book that is valid now.',
        [{'path': '/v1/price-books/valid', 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.ADMIN, 'Add a version of the price book.',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
]


def list_rules():
    return _RULES
