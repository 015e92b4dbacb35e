# SPDX-License-Identifier: Apache-2.0
"""Who may ask whether a reservation may be used; Nova's scheduler does."""
from oslo_policy import policy

from climate.policies import base

GET_HOSTS = 'climate:reservations:get_hosts'

_RULES = [
    policy.DocumentedRuleDefault(
        GET_HOSTS, base.SERVICE_OR_ADMIN,
        'Ask whether a project may use a reservation now, and on which hosts.',
        [{'path': '/v1/reservations/{reservation_id}/hosts', 'method': 'GET'}],
        scope_types=['project']),
]


def list_rules():
    return _RULES
