# SPDX-License-Identifier: Apache-2.0
"""The policy of statements of what leases cost."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:statements:get'
GET_ALL_PROJECTS = 'climate:statements:get_all_projects'

_PATHS = [{'path': '/v1/statements', 'method': 'GET'},
          {'path': '/v1/statements/{month}', 'method': 'GET'}]
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'List the statements of the own project, and show their lines.',
        _PATHS, scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_ALL_PROJECTS, base.ADMIN, 'The same of other projects, and of all.',
        _PATHS, scope_types=['project']),
]


def list_rules():
    return _RULES
