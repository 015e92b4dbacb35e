# SPDX-License-Identifier: Apache-2.0
"""The policy of the managers' audits."""
from climate.policies import base

GET = 'climate:audit:get'

RULES = [
    base.rule(
        GET, base.ADMIN, 'See the result of the newest audit of the managers.',
        ('GET', '/v1/audit')),
]
