# SPDX-License-Identifier: Apache-2.0
"""The policy of statements of what leases cost."""
from climate.policies import base

GET = 'climate:statements:get'
GET_ALL_PROJECTS = 'climate:statements:get_all_projects'

_PATHS = ('GET', '/v1/statements'), ('GET', '/v1/statements/{month}')
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN, 'List the statements of the caller\'s project, and show their '
                                   'lines.',
        *_PATHS),
    base.rule(
        GET_ALL_PROJECTS, base.ADMIN, 'List the statements of other projects, or of all.', *_PATHS),
]
