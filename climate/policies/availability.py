# SPDX-License-Identifier: Apache-2.0
"""The policy of availability: asking when resources are free, and holding them."""
from climate.policies import base

GET = 'climate:availability:get'
POST = 'climate:availability:post'
GET_NAMES = 'climate:availability:get_names'

_PATH = '/v1/availability'
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN, 'Ask when the resources of reservations are free.',
        ('GET', _PATH), ('GET', '/v1/flavor-instances/availability')),
    base.rule(
        POST, base.MEMBER_OR_ADMIN,
        'Ask when the resources of reservations are free, and hold offers for the caller\'s '
        'project.',
        ('POST', _PATH)),
    base.rule(
        GET_NAMES, base.ADMIN,
        'See the names of the offered resources; other callers see only their properties.',
        ('GET', _PATH), ('POST', _PATH)),
]
