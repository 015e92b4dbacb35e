# SPDX-License-Identifier: Apache-2.0
"""The policy of the energy report."""
from climate.policies import base

GET = 'climate:energy:get'

RULES = [
    base.rule(
        GET, base.ADMIN, 'See which resources sleep, for how long, and the energy that this saved.',
        ('GET', '/v1/energy')),
]
