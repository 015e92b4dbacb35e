# SPDX-License-Identifier: Apache-2.0
"""The policy of plans: what-if questions and forecasts."""
from climate.policies import base

WHAT_IF = 'climate:plan:what_if'
FORECAST = 'climate:plan:forecast'

RULES = [
    base.rule(
        WHAT_IF, base.ADMIN,
        'Ask what would happen to the leases of all projects if a pool or the demand changed.',
        ('POST', '/v1/what-if')),
    base.rule(
        FORECAST, base.ADMIN, 'Ask how much of a pool is expected to be used in the next days.',
        ('GET', '/v1/forecast')),
]
