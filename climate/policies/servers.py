# SPDX-License-Identifier: Apache-2.0
"""The policy of servers: who, such as Nova, may ask where a leased server may be placed."""
from oslo_policy import policy

from climate.policies import base

GET_HOSTS = 'climate:servers:get_hosts'

_RULES = [
    policy.DocumentedRuleDefault(
        GET_HOSTS, base.SERVICE_OR_ADMIN,
        'Ask on which hosts a leased server may be placed now.',
        [{'path': '/v1/servers/{server_id}/hosts', 'method': 'GET'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
