# SPDX-License-Identifier: Apache-2.0
"""The policy of reservations: binding to a target, and asking whether one is usable."""
from climate.policies import base

PUT = 'climate:reservations:put'
GET_HOSTS = 'climate:reservations:get_hosts'

RULES = [
    base.rule(
        PUT, base.MEMBER_OR_ADMIN,
        'Bind a reservation to its server, which was booted after the reservation was created. '
        'Callers who may not see the lease are answered with 404.',
        ('PUT', '/v1/reservations/{reservation_id}')),
    base.rule(
        GET_HOSTS, base.SERVICE_OR_ADMIN,
        'Ask whether a project may use a reservation now, and on which hosts.',
        ('GET', '/v1/reservations/{reservation_id}/hosts')),
]
