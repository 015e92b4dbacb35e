# SPDX-License-Identifier: Apache-2.0
"""The policy of the energy report."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:energy:get'

_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'See which resources sleep, for how long, and the energy it saved.',
        [{'path': '/v1/energy', 'method': 'GET'}], scope_types=['project']),
]


def list_rules():
    return _RULES
