# SPDX-License-Identifier: Apache-2.0
"""The policy of offers that are held for the caller's own project."""
from climate.policies import base

GET = 'climate:offers:get'
DELETE = 'climate:offers:delete'

_MANY = '/v1/offers'
_ONE = '/v1/offers/{offer_id}'
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN, 'List the offers held for the caller\'s project, and show an '
                                   'offer.',
        ('GET', _MANY), ('GET', _ONE)),
    base.rule(
        DELETE, base.MEMBER_OR_ADMIN, 'Release an offer of the caller\'s '
                                      'project.', ('DELETE', _ONE)),
]
