# SPDX-License-Identifier: Apache-2.0
"""The policy of services: the list of managers."""
from climate.policies import base

GET = 'climate:services:get'

RULES = [
    base.rule(
        GET, base.ADMIN, 'List the managers and whether they are alive.', ('GET', '/v1/services')),
]
