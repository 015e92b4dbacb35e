# SPDX-License-Identifier: Apache-2.0
"""The policy of the shares of leases; the target of a rule is the stored lease."""
from climate.policies import base

GET = 'climate:shares:get'
POST = 'climate:shares:post'
DELETE = 'climate:shares:delete'
LEAVE = 'climate:shares:leave'

_MANY = '/v1/leases/{lease_id}/shares'
_ONE = f'{_MANY}/{{share_id}}'
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN,
        'List the shares of a lease. Callers with whom it is shared see only their own share.',
        ('GET', _MANY)),
    base.rule(POST, base.MEMBER_OR_ADMIN, 'Share a lease with another project or user.',
              ('POST', _MANY)),
    base.rule(DELETE, base.MEMBER_OR_ADMIN, 'Withdraw a share of a lease.', ('DELETE', _ONE)),
    base.rule(LEAVE, base.MEMBER_OR_ADMIN, 'Leave a lease that is shared with the caller.',
              ('DELETE', _ONE)),
]
