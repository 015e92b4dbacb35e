# SPDX-License-Identifier: Apache-2.0
"""The policy of limits, and of their use."""
from climate.policies import base

GET = 'climate:limits:get'
GET_OTHERS = 'climate:limits:get_others'

_PATH = ('GET', '/v1/limits')
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN,
        'Show the limits of the caller and of their project, and how much of them is used.', _PATH),
    base.rule(
        GET_OTHERS, base.ADMIN, 'Show the limits of another project, or of another user.', _PATH),
]
