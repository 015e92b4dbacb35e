# SPDX-License-Identifier: Apache-2.0
"""The policy of leases; the target of a rule is the stored lease."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:leases:get'
POST = 'climate:leases:post'
PUT = 'climate:leases:put'
DELETE = 'climate:leases:delete'
SWAP = 'climate:leases:swap'
ALL_PROJECTS = 'climate:leases:get_all_projects'

BEST_EFFORT = 'climate:leases:best_effort'
CHOOSE_STRATEGY = 'climate:leases:choose_strategy'
EXEMPT_FROM_IDLE = 'climate:leases:exempt_from_idle'
GET_MOVES = 'climate:leases:get_moves'
HIDDEN_CRITERIA = 'climate:leases:hidden_criteria'
HIDDEN_CRITERIA_1_0 = 'climate:leases:hidden_criteria_1_0'
OPERATOR_TEXTS = 'climate:leases:operator_texts'
PRIORITIZE = 'climate:leases:prioritize'
WAIT_WITHOUT_LIMIT = 'climate:leases:wait_without_limit'

_MANY = '/v1/leases'
_ONE = '/v1/leases/{lease_id}'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.READER_OR_ADMIN, 'List leases, show a lease, and show its history.',
        [{'path': _MANY, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'},
         {'path': f'{_ONE}/history', 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        ALL_PROJECTS, base.ADMIN,
        'List the leases of all projects, and deleted leases.',
        [{'path': _MANY, 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.MEMBER_OR_ADMIN, 'Create a lease.',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        PUT, base.MEMBER_OR_ADMIN, 'Change a lease.',
        [{'path': _ONE, 'method': 'PUT'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, base.MEMBER_OR_ADMIN, 'Delete a lease.',
        [{'path': _ONE, 'method': 'DELETE'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        SWAP, base.MEMBER_OR_ADMIN, 'Swap a broken resource of a running lease for another one.',
        [{'path': f'{_ONE}/swap', 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        BEST_EFFORT, base.MEMBER_OR_ADMIN,
        'Create a lease for which instances of other projects are migrated (best-effort).',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        CHOOSE_STRATEGY, base.MEMBER_OR_ADMIN,
        'Choose the strategy by which hosts are cleared for a lease (best-effort).',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        EXEMPT_FROM_IDLE, base.ADMIN,
        'Exempt a lease from being called idle and taken back (idle_exempt), or end that.',
        [{'path': _MANY, 'method': 'POST'}, {'path': _ONE, 'method': 'PUT'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_MOVES, base.ADMIN,
        'See which servers of other projects are migrated for a lease (best-effort), between which '
        'hosts, and why a host cannot be cleared; other callers see only numbers.',
        [{'path': _MANY, 'method': 'POST'}, {'path': _ONE, 'method': 'GET'},
         {'path': f'{_ONE}/history', 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        HIDDEN_CRITERIA, base.ADMIN,
        'Use criteria that name hosts ($hypervisor_hostname, $service_name) or private properties, '
        'from REST 1.1 on. To others, private properties do not exist.',
        [{'path': _MANY, 'method': 'POST'}, {'path': _ONE, 'method': 'PUT'},
         {'path': '/v1/availability', 'method': 'GET'},
         {'path': '/v1/availability', 'method': 'POST'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        HIDDEN_CRITERIA_1_0, base.MEMBER_OR_ADMIN,
        'Use such criteria at REST 1.0, which existing clients may do.',
        [{'path': _MANY, 'method': 'POST'}, {'path': _ONE, 'method': 'PUT'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        OPERATOR_TEXTS, base.ADMIN,
        'Read the operators\' version of status_reason, history and errors: with names of hosts, '
        'ids of other projects\' reservations, and the words of Nova and other services. Others '
        'read a version without them.',
        [{'path': _MANY, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'},
         {'path': f'{_ONE}/history', 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        PRIORITIZE, base.ADMIN,
        'Create a lease that waits with another priority than 0.',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        WAIT_WITHOUT_LIMIT, base.ADMIN,
        'Create a lease that waits without a limit (not_after).',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
]


def list_rules():
    return _RULES
