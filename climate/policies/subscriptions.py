# SPDX-License-Identifier: Apache-2.0
"""The policy of subscriptions; the target of a rule is the stored subscription."""
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
RULES = [
    base.rule(
        GET, _READER, 'List and show the caller\'s subscriptions, and those for the caller\'s '
                      'project, and read their '
                      'logs.', ('GET', _MANY), ('GET', _ONE), ('GET', f'{_ONE}/log')),
    base.rule(
        ALL_PROJECTS, base.ADMIN, 'List the subscriptions of all users and projects.',
        ('GET', _MANY)),
    base.rule(POST, base.MEMBER_OR_ADMIN, 'Create a subscription.', ('POST', _MANY)),
    base.rule(PUT, _MEMBER, 'Change a subscription, or renew its secret.', ('PUT', _ONE)),
    base.rule(DELETE, _MEMBER, 'Delete a subscription.', ('DELETE', _ONE)),
    base.rule(TEST, _MEMBER, 'Send a test notification to a '
                             'subscription.', ('POST', f'{_ONE}/test')),
]
