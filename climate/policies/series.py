# SPDX-License-Identifier: Apache-2.0
"""The policy of series; the target of a rule is the stored series."""
from climate.policies import base

GET = 'climate:series:get'
POST = 'climate:series:post'
PUT = 'climate:series:put'
DELETE = 'climate:series:delete'
ALL_PROJECTS = 'climate:series:get_all_projects'

_MANY = '/v1/series'
_ONE = '/v1/series/{series_id}'
RULES = [
    base.rule(GET, base.READER_OR_ADMIN, 'List series, and show one with its occurrences.',
              ('GET', _MANY), ('GET', _ONE)),
    base.rule(ALL_PROJECTS, base.ADMIN, 'List the series of all projects.', ('GET', _MANY)),
    base.rule(
        POST, base.MEMBER_OR_ADMIN, 'Create a series, or preview it. The rules for creating leases '
        'apply, too.', ('POST', _MANY)),
    base.rule(
        PUT, base.MEMBER_OR_ADMIN, 'Change one occurrence of a series, those from one on, or all.',
        ('PUT', _ONE)),
    base.rule(
        DELETE, base.MEMBER_OR_ADMIN,
        'Cancel one occurrence of a series, those from one on, or all.', ('DELETE', _ONE)),
]
