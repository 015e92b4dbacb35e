# SPDX-License-Identifier: Apache-2.0
"""The policy of sub-leases; the target of a rule is the lease of whose hosts they have a part."""
from climate.policies import base

GET = 'climate:sub_leases:get'
POST = 'climate:sub_leases:post'

_MANY = '/v1/leases/{lease_id}/sub-leases'
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN,
        'List the sub-leases of a lease, and its hosts that are free for one. This rule also '
        'decides who sees a sub-lease as the owner of its parent.',
        ('GET', _MANY), ('GET', '/v1/leases/{lease_id}/availability')),
    base.rule(
        POST, base.MEMBER_OR_ADMIN,
        'Create a sub-lease: give hosts of a lease to another project for a time.',
        ('POST', _MANY)),
]
