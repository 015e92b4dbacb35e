# SPDX-License-Identifier: Apache-2.0
"""The policy of leases; the target of a rule is the stored lease."""
from climate.policies import base

GET = 'climate:leases:get'
POST = 'climate:leases:post'
PUT = 'climate:leases:put'
DELETE = 'climate:leases:delete'
SWAP = 'climate:leases:swap'
GIVE_BACK = 'climate:leases:give_back'
ALL_PROJECTS = 'climate:leases:get_all_projects'

BEST_EFFORT = 'climate:leases:best_effort'
CHOOSE_STRATEGY = 'climate:leases:choose_strategy'
EXEMPT_FROM_IDLE = 'climate:leases:exempt_from_idle'
GET_MOVES = 'climate:leases:get_moves'
GET_NAMES = 'climate:leases:get_names'
GET_RESOURCE_NAMES = 'climate:leases:get_resource_names'
HIDDEN_CRITERIA = 'climate:leases:hidden_criteria'
HIDDEN_CRITERIA_1_0 = 'climate:leases:hidden_criteria_1_0'
OPERATOR_TEXTS = 'climate:leases:operator_texts'
PRIORITIZE = 'climate:leases:prioritize'
WAIT_WITHOUT_LIMIT = 'climate:leases:wait_without_limit'

_MANY = '/v1/leases'
_ONE = '/v1/leases/{lease_id}'
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN,
        'List leases, show a lease, its history, its resources with their health, and the request '
        'that creates it again.',
        ('GET', _MANY), ('GET', _ONE), ('GET', f'{_ONE}/history'), ('GET', f'{_ONE}/request'),
        ('GET', f'{_ONE}/resources')),
    base.rule(
        ALL_PROJECTS, base.ADMIN, 'List the leases of all projects, and deleted leases.',
        ('GET', _MANY)),
    base.rule(POST, base.MEMBER_OR_ADMIN, 'Create a lease.', ('POST', _MANY)),
    base.rule(
        PUT, base.MEMBER_OR_ADMIN, 'Change a lease, and ask how far it can be extended.',
        ('PUT', _ONE), ('GET', f'{_ONE}/latest_end')),
    base.rule(DELETE, base.MEMBER_OR_ADMIN, 'Delete a lease.', ('DELETE', _ONE)),
    base.rule(
        SWAP, base.MEMBER_OR_ADMIN, 'Swap a broken resource of a running lease for another one.',
        ('POST', f'{_ONE}/swap')),
    base.rule(
        GIVE_BACK, base.MEMBER_OR_ADMIN,
        'Give a future lease, or hosts of it, back for leases that wait for resources.',
        ('POST', f'{_ONE}/give-back')),
    base.rule(
        BEST_EFFORT, base.MEMBER_OR_ADMIN,
        'Create a lease for which instances of other projects are migrated (best-effort).',
        ('POST', _MANY)),
    base.rule(
        CHOOSE_STRATEGY, base.MEMBER_OR_ADMIN,
        'Choose the strategy by which hosts are cleared for a lease (best-effort).',
        ('POST', _MANY)),
    base.rule(
        EXEMPT_FROM_IDLE, base.ADMIN,
        'Exempt a lease from idle detection and reclaiming (idle_exempt), or end the exemption.',
        ('POST', _MANY), ('PUT', _ONE)),
    base.rule(
        GET_MOVES, base.ADMIN,
        'See which servers of other projects are migrated for a lease (best-effort), between which '
        'hosts, and why a host cannot be cleared; other callers see only numbers.',
        ('POST', _MANY), ('GET', _ONE), ('GET', f'{_ONE}/history')),
    base.rule(
        GET_RESOURCE_NAMES, base.ADMIN,
        'See the names of the resources of a lease, and list the leases of a resource by its name; '
        'other callers see their ids, properties and health.',
        ('GET', _MANY), ('GET', f'{_ONE}/resources'), ('GET', f'{_ONE}/latest_end')),
    base.rule(
        GET_NAMES, base.READER_OR_ADMIN,
        'See the names of the owner and of the project of a lease, and filter and sort by them; '
        'other callers see only their ids.', ('GET', _MANY), ('GET', _ONE)),
    base.rule(
        HIDDEN_CRITERIA, base.ADMIN,
        'Use criteria that name hosts ($hypervisor_hostname, $service_name) or private properties, '
        'from REST 1.1 on. For other callers, private properties do not exist.',
        ('POST', _MANY), ('PUT', _ONE), ('GET', '/v1/availability'),
        ('POST', '/v1/availability')),
    base.rule(
        HIDDEN_CRITERIA_1_0, base.MEMBER_OR_ADMIN,
        'Use such criteria at REST 1.0, as existing clients do.',
        ('POST', _MANY), ('PUT', _ONE)),
    base.rule(
        OPERATOR_TEXTS, base.ADMIN,
        'Read the operators\' version of status_reason, history and errors: with names of hosts, '
        'ids of other projects\' reservations, and messages of Nova and other services. Other '
        'callers read a version without '
        'them.', ('GET', _MANY), ('GET', _ONE), ('GET', f'{_ONE}/history')),
    base.rule(
        PRIORITIZE, base.ADMIN, 'Create a lease that waits with another priority than 0.',
        ('POST', _MANY)),
    base.rule(
        WAIT_WITHOUT_LIMIT, base.ADMIN, 'Create a lease that waits without a limit (not_after).',
        ('POST', _MANY)),
]
