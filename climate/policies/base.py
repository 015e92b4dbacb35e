# SPDX-License-Identifier: Apache-2.0
"""The rules for roles, of which all other rules are composed."""
from oslo_policy import policy

ADMIN_RULE = 'admin'
ADMIN = 'rule:admin'
MEMBER_OR_ADMIN = 'rule:project_member_or_admin'
READER_OR_ADMIN = 'rule:project_reader_or_admin'
SERVICE_OR_ADMIN = 'rule:service_or_admin'

RULES = [
    policy.RuleDefault(ADMIN_RULE, 'is_admin:True or role:admin',
                       'An administrator, who may do everything in all projects.'),
    policy.RuleDefault('project_member_api', 'role:member and project_id:%(project_id)s',
                       'A member of the project that owns the target.'),
    policy.RuleDefault('project_reader_api',
                       '(role:reader or role:member) and project_id:%(project_id)s',
                       'A reader or member of the project that owns the target.'),
    policy.RuleDefault('project_member_or_admin', 'rule:project_member_api or rule:admin',
                       'A member of the owning project, or an admin.'),
    policy.RuleDefault('project_reader_or_admin', 'rule:project_reader_api or rule:admin',
                       'A reader or member of the owning project, or an admin.'),
    policy.RuleDefault('service_or_admin', 'role:service or rule:admin',
                       'Another service of the cloud, such as Nova, or an admin.'),
]


def rule(name, check, description, *operations):
    """Return a documented rule with a scope of projects.

    :param operations: pairs (HTTP method, path).
    """
    return policy.DocumentedRuleDefault(
        name, check, description,
        [{'path': path, 'method': method} for method, path in operations], scope_types=['project'])
