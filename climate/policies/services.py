# SPDX-License-Identifier: Apache-2.0
"""The policy of services: who may see which managers are alive."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:services:get'

_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'List the managers and whether they are alive.',
        [{'path': '/v1/services', 'method': 'GET'}], scope_types=['project']),
]


def list_rules():
    return _RULES
