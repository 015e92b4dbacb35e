# SPDX-License-Identifier: Apache-2.0
"""Each route that knows its query refuses all other queries, in the same words."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
# The routes, each with a parameter that it knows.
ROUTES = [
    ('/v1/usage', 'start'), ('/v1/utilisation', 'pool'), ('/v1/energy', 'pool'),
    ('/v1/subscriptions', 'limit'), ('/v1/statements', 'month'), ('/v1/maintenances', 'limit'),
    ('/v1/timeline', 'pool'), ('/v1/forecast', 'pool'), ('/v1/availability', 'earliest'),
    ('/v1/leases', 'name'),
]


def refused(api, query):
    answer = api.get(query, **ADMIN)
    assert answer.status_int == 400, answer.json
    return answer.json['error_message']


@pytest.mark.parametrize(('route', 'known'), ROUTES)
def test_an_unknown_parameter_is_named_with_those_that_are_known(api, route, known):
    text = refused(api, f'{route}?{known}=1&limits=9')
    assert text.startswith('limits: no such parameter; known are ')
    assert known in text.partition('known are ')[2].rstrip('.').split(', ')


def test_a_route_without_parameters_says_so(api):
    assert refused(api, '/v1/price-books?limit=9').startswith(
        'limit: no such parameter; the route has none.')


@pytest.mark.parametrize(('route', 'known'), ROUTES)
def test_a_parameter_that_is_given_twice_is_refused(api, route, known):
    assert refused(api, f'{route}?{known}=1&{known}=2').startswith(
        f'{known}: it is given more than once.')


@pytest.mark.parametrize(('route', 'known'), ROUTES)
def test_characters_that_no_database_keeps_are_refused(api, route, known):
    assert refused(api, f'{route}?{known}=a%07b').startswith(
        f'{known}: the character U+0007 is not allowed in text.')


def test_groups_may_be_given_one_by_one(api):
    answer = api.get('/v1/usage?group_by=project&group_by=day', **ADMIN)
    assert answer.status_int == 200, answer.json
