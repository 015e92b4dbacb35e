# SPDX-License-Identifier: Apache-2.0
"""The policy of plans: who may ask what if, and for a forecast."""
from oslo_policy import policy

from climate.policies import base

WHAT_IF = 'climate:plan:what_if'
FORECAST = 'climate:plan:forecast'

_RULES = [
    policy.DocumentedRuleDefault(
        WHAT_IF, base.ADMIN,
        'Ask what would become of the leases of all projects if a pool or the demand changed.',
        [{'path': '/v1/what-if', 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        FORECAST, base.ADMIN, 'Ask how much of a pool is expected to be used in the next days.',
        [{'path': '/v1/forecast', 'method': 'GET'}], scope_types=['project']),
]


def list_rules():
    return _RULES
