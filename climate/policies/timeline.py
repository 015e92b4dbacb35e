# SPDX-License-Identifier: Apache-2.0
"""The policy of timelines."""
from climate.policies import base

GET = 'climate:timeline:get'
GET_ALL_PROJECTS = 'climate:timeline:get_all_projects'
GET_NAMES = 'climate:timeline:get_names'

_PATHS = (('GET', '/v1/timeline'),)
RULES = [
    base.rule(
        GET, base.READER_OR_ADMIN, 'See when the resources of a pool are taken and free, and the '
        'leases of the caller\'s project on them.', *_PATHS),
    base.rule(
        GET_ALL_PROJECTS, base.ADMIN, 'See the leases of other projects in timelines.', *_PATHS),
    base.rule(
        GET_NAMES, base.ADMIN, 'See the names of resources in timelines; other callers see their '
        'ids and properties.', *_PATHS),
]
