# SPDX-License-Identifier: Apache-2.0
"""The policy of usage and utilisation."""
from climate.policies import base

GET = 'climate:usage:get'
GET_ALL_PROJECTS = 'climate:usage:get_all_projects'
GET_UTILISATION = 'climate:utilisation:get'

_USAGE = (('GET', '/v1/usage'),)
RULES = [
    base.rule(GET, base.READER_OR_ADMIN, 'See the usage of the caller\'s project.', *_USAGE),
    base.rule(
        GET_ALL_PROJECTS, base.ADMIN,
        'See the usage of other projects, and group usage by private properties and facts.',
        *_USAGE),
    base.rule(
        GET_UTILISATION, base.ADMIN,
        'See how full pools were and will be, without names and leases.',
        ('GET', '/v1/utilisation')),
]
