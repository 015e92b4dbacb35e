# SPDX-License-Identifier: Apache-2.0
"""Who may ask when something is free, and have it held."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:availability:get'
POST = 'climate:availability:post'
GET_NAMES = 'climate:availability:get_names'

_PATH = '/v1/availability'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'Ask when reservations could be had.',
        [{'path': _PATH, 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.MEMBER_OR_ADMIN,
        'Ask when reservations could be had, and hold what is offered for the own project.',
        [{'path': _PATH, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_NAMES, base.ADMIN,
        'See the names of the resources that are offered; whoever may not sees what they are like.',
        [{'path': _PATH, 'method': 'GET'}, {'path': _PATH, 'method': 'POST'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
