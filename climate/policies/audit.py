# SPDX-License-Identifier: Apache-2.0
"""The policy of the managers' audits."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:audit:get'

_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'See what the newest audit of the managers found.',
        [{'path': '/v1/audit', 'method': 'GET'}], scope_types=['project']),
]


def list_rules():
    return _RULES
