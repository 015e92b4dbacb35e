# SPDX-License-Identifier: Apache-2.0
"""The policy of allocations: who may see which reservation has which resource."""
from oslo_policy import policy

from climate.policies import base

GET_HOSTS = 'climate:oshosts:get_allocations'

_RULES = [
    policy.DocumentedRuleDefault(
        GET_HOSTS, base.ADMIN, 'List the allocations of hosts.',
        [{'path': '/v1/os-hosts/allocations', 'method': 'GET'},
         {'path': '/v1/os-hosts/{host_id}/allocation', 'method': 'GET'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
