# SPDX-License-Identifier: Apache-2.0
"""The policy of usage and utilisation."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:usage:get'
GET_ALL_PROJECTS = 'climate:usage:get_all_projects'
GET_UTILISATION = 'climate:utilisation:get'

_USAGE = [{'path': '/v1/usage', 'method': 'GET'}]
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'See the usage of the own project.', _USAGE,
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_ALL_PROJECTS, base.ADMIN,
        'See the usage of other projects, and group usage by private properties and facts.',
        _USAGE, scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_UTILISATION, base.ADMIN,
        'See how full pools were and will be, without names and leases.',
        [{'path': '/v1/utilisation', 'method': 'GET'}], scope_types=['project']),
]


def list_rules():
    return _RULES
