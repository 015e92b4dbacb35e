# SPDX-License-Identifier: Apache-2.0
"""The policy of servers: asking, as Nova does, where a leased server may be placed."""
from climate.policies import base

GET_HOSTS = 'climate:servers:get_hosts'

RULES = [
    base.rule(
        GET_HOSTS, base.SERVICE_OR_ADMIN, 'Ask on which hosts a leased server may be placed now.',
        ('GET', '/v1/servers/{server_id}/hosts')),
]
