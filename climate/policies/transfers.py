# SPDX-License-Identifier: Apache-2.0
"""The policy of transfers; the target of a rule of a lease is the stored lease."""
from climate.policies import base

GET = 'climate:transfers:get'
POST = 'climate:transfers:post'
DELETE = 'climate:transfers:delete'
RECEIVE = 'climate:transfers:receive'
ACCEPT = 'climate:transfers:accept'

_OF_LEASE = '/v1/leases/{lease_id}/transfers'
_ONE = '/v1/transfers/{transfer_id}'
RULES = [
    base.rule(GET, base.READER_OR_ADMIN, 'List the transfers of a lease.', ('GET', _OF_LEASE)),
    base.rule(POST, base.MEMBER_OR_ADMIN, 'Offer a lease to another project.',
              ('POST', _OF_LEASE)),
    base.rule(DELETE, base.MEMBER_OR_ADMIN, 'Withdraw the offer of a lease.',
              ('DELETE', f'{_OF_LEASE}/{{transfer_id}}')),
    base.rule(
        RECEIVE, base.READER_OR_ADMIN,
        'List the offers to the caller\'s project, and show what an offer would give.',
        ('GET', '/v1/transfers'), ('GET', _ONE)),
    base.rule(ACCEPT, base.MEMBER_OR_ADMIN, 'Accept or decline an offer as its receiver.',
              ('POST', f'{_ONE}/accept'), ('POST', f'{_ONE}/decline')),
]
