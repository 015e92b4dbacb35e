# SPDX-License-Identifier: Apache-2.0
"""The policy of availability: who may ask when resources are free, and have them held."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:availability:get'
POST = 'climate:availability:post'
GET_NAMES = 'climate:availability:get_names'

_PATH = '/v1/availability'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'Ask when the resources of reservations are free.',
        [{'path': _PATH, 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.MEMBER_OR_ADMIN,
        'Ask when the resources of reservations are free, and hold offers for the own project.',
        [{'path': _PATH, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_NAMES, base.ADMIN,
        'See the names of the offered resources; other callers see only their properties.',
        [{'path': _PATH, 'method': 'GET'}, {'path': _PATH, 'method': 'POST'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
