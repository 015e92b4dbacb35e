# SPDX-License-Identifier: Apache-2.0
"""The policy of subscriptions; the target of a rule is the stored subscription."""
from oslo_policy import policy

from climate.policies import base

GET = 'climate:subscriptions:get'
POST = 'climate:subscriptions:post'
PUT = 'climate:subscriptions:put'
DELETE = 'climate:subscriptions:delete'
TEST = 'climate:subscriptions:test'
ALL_PROJECTS = 'climate:subscriptions:get_all_projects'

_MANY = '/v1/subscriptions'
_ONE = '/v1/subscriptions/{subscription_id}'
# A subscription for a project is managed by its members, any other one by its user alone.
_MINE = ('rule:admin or (rule:{role} and '
         "(user_id:%(user_id)s or 'project':%(scope)s))")
_READER, _MEMBER = (_MINE.format(role=role)
                    for role in ('project_reader_api', 'project_member_api'))
_RULES = [
    policy.DocumentedRuleDefault(
        GET, _READER, 'List and show the own subscriptions and those for the own project, and '
        'read their logs.',
        [{'path': _MANY, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'},
         {'path': f'{_ONE}/log', 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        ALL_PROJECTS, base.ADMIN, 'List the subscriptions of all users and projects.',
        [{'path': _MANY, 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.MEMBER_OR_ADMIN, 'Create a subscription.',
        [{'path': _MANY, 'method': 'POST'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        PUT, _MEMBER, 'Change a subscription, or renew its secret.',
        [{'path': _ONE, 'method': 'PUT'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, _MEMBER, 'Delete a subscription.',
        [{'path': _ONE, 'method': 'DELETE'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        TEST, _MEMBER, 'Send a test to a subscription.',
        [{'path': f'{_ONE}/test', 'method': 'POST'}], scope_types=['project']),
]


def list_rules():
    return _RULES
