# SPDX-License-Identifier: Apache-2.0
"""The policy of reservations: who may bind one to its target, and ask whether it is usable."""
from oslo_policy import policy

from climate.policies import base

PUT = 'climate:reservations:put'
GET_HOSTS = 'climate:reservations:get_hosts'

_RULES = [
    policy.DocumentedRuleDefault(
        PUT, base.MEMBER_OR_ADMIN,
        'Bind a reservation to its server, which was booted after the reservation was made. '
        'Callers who may not see the lease are answered with 404.',
        [{'path': '/v1/reservations/{reservation_id}', 'method': 'PUT'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_HOSTS, base.SERVICE_OR_ADMIN,
        'Ask whether a project may use a reservation now, and on which hosts.',
        [{'path': '/v1/reservations/{reservation_id}/hosts', 'method': 'GET'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
