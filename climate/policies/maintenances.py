# SPDX-License-Identifier: Apache-2.0
"""The policy of maintenance."""
from climate.policies import base

GET = 'climate:maintenances:get'
POST = 'climate:maintenances:post'
DELETE = 'climate:maintenances:delete'

_MANY = '/v1/maintenances'
_ONE = '/v1/maintenances/{maintenance_id}'
RULES = [
    base.rule(
        GET, base.ADMIN, 'List maintenances, and show one with the leases that it affects.',
        ('GET', _MANY), ('GET', _ONE)),
    base.rule(
        POST, base.ADMIN, 'Plan a maintenance, or preview it. Leases of all projects are moved or '
        'ended for it.', ('POST', _MANY)),
    base.rule(DELETE, base.ADMIN, 'Delete a maintenance.', ('DELETE', _ONE)),
]
