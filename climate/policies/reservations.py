# SPDX-License-Identifier: Apache-2.0
"""Who may say what a reservation leases, and who may ask whether it may be used."""
from oslo_policy import policy

from climate.policies import base

PUT = 'climate:reservations:put'
GET_HOSTS = 'climate:reservations:get_hosts'

_RULES = [
    policy.DocumentedRuleDefault(
        PUT, base.MEMBER_OR_ADMIN,
        'Say which server a reservation leases that was made before its server; whoever may see '
        'the lease is asked for this rule.',
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
