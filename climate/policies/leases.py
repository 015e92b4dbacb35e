# SPDX-License-Identifier: Apache-2.0
"""Who may do what with leases; the target is the stored lease."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:leases:get'
POST = 'climate:leases:post'
PUT = 'climate:leases:put'
DELETE = 'climate:leases:delete'
ALL_PROJECTS = 'climate:leases:get_all_projects'

_ONE = '/v1/leases/{lease_id}'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'List leases and show one.',
        [{'path': '/v1/leases', 'method': 'GET'}, {'path': _ONE, 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        ALL_PROJECTS, base.ADMIN,
        'See the leases of all projects in the list, and those that were deleted.',
        [{'path': '/v1/leases', 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.MEMBER_OR_ADMIN, 'Create a lease.',
        [{'path': '/v1/leases', 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        PUT, base.MEMBER_OR_ADMIN, 'Change a lease.',
        [{'path': _ONE, 'method': 'PUT'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, base.MEMBER_OR_ADMIN, 'Delete a lease.',
        [{'path': _ONE, 'method': 'DELETE'}], scope_types=['project']),
]


def list_rules():
    return _RULES
