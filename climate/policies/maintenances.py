# SPDX-License-Identifier: Apache-2.0
"""The policy of maintenance."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:maintenances:get'
POST = 'climate:maintenances:post'
DELETE = 'climate:maintenances:delete'

_MANY = '/v1/maintenances'
_ONE = '/v1/maintenances/{maintenance_id}'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'List maintenances, and show one with the leases in its way.',
        [{'path': _MANY, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.ADMIN, 'Plan a maintenance, or preview it. Leases of all projects are moved or '
        'ended for it.', [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, 'Delete a maintenance.', [{'path': _ONE, 'method': 'DELETE'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
