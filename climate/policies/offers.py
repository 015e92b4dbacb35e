# SPDX-License-Identifier: Apache-2.0
"""The policy of offers that are held for the caller's own project."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:offers:get'
DELETE = 'climate:offers:delete'

_MANY = '/v1/offers'
_ONE = '/v1/offers/{offer_id}'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'List the offers held for the own project, and show an offer.',
        [{'path': _MANY, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, base.MEMBER_OR_ADMIN, 'Release an offer of the own project.',
        [{'path': _ONE, 'method': 'DELETE'}], scope_types=['project']),
]


def list_rules():
    return _RULES
