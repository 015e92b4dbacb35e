# SPDX-License-Identifier: Apache-2.0
"""Many callers want what is left of a limit at once, over REST: one gets it, the others learn why.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import os

import pytest
from support import builders
from support import crowds
from support import thinning

from climate.api import app
from climate.manager.limits import books

CALLERS = 16
ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)
VERSION = {'OpenStack-API-Version': 'reservation 1.1'}


@pytest.fixture
def crowd(conf, manager):
    service = app.build(conf, manager.client, builders.manager_plugins(conf))
    found = crowds.Crowd(service, CALLERS)
    yield found
    found.leave()


def put_in_force(manager, **limit):
    books.LimitBooks(manager.core).create(builders.an_admin(), None, {
        'limits': [{'name': 'rule', **limit}]})


@pytest.mark.proof
@pytest.mark.parametrize('limit', thinning.few([
    {'measure': 'resource_hours', 'most': 1, 'window': '1d'},
    {'measure': 'resources', 'most': 1}, {'measure': 'open_leases', 'most': 1},
    {'measure': 'resource_hours', 'most': 1, 'window': '1d', 'per': 'user'},
], 1), ids=['hours', 'resources', 'leases', 'of a user'])
def test_one_of_sixteen_requests_gets_the_last_of_a_limit(manager, api, crowd, limit):
    manager.enrol(4)
    put_in_force(manager, **limit)
    for number in range(ROUNDS):
        start = builders.at(48 * number + 1)
        bodies = [{'name': f'lease {each}', 'start': start.isoformat(), 'duration': 3600,
                   'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
                  for each in range(CALLERS)]
        answers = crowd.ask('post_json', '/v1/leases', bodies, [VERSION] * CALLERS)
        assert crowds.statuses(answers) == {201: 1, 403: CALLERS - 1}, [
            answer.text for answer in answers if answer.status_code not in (201, 403)]
        for answer in answers:
            if answer.status_code == 403:
                assert answer.json['error_name'] == 'limit_exceeded'
        [lease] = [each for each in api.get('/v1/leases', version='1.1').json['leases']]
        assert api.delete(f'/v1/leases/{lease["id"]}', version='1.1').status_int == 204


@pytest.fixture
def as_many_hosts_as_callers(conf):
    conf.set_override('hosts', CALLERS, group='simulated')


@pytest.mark.proof
@pytest.mark.parametrize('per', ['project', 'user'])
def test_leases_that_are_extended_at_once_share_what_is_left(
        as_many_hosts_as_callers, manager, crowd, per):
    manager.enrol(CALLERS)
    put_in_force(manager, measure='resource_hours', most=2 * CALLERS + 1, window='1d', per=per)
    for number in range(ROUNDS):
        start = builders.at(72 * number + 1)
        leases = [manager.book(start=start, end=start + builders.hours(2)) for _ in range(CALLERS)]
        answers = crowd.put_each([f'/v1/leases/{lease.id}' for lease in leases],
                                 {'end': (start + builders.hours(3)).isoformat()}, VERSION)
        assert crowds.statuses(answers) == {200: 1, 403: CALLERS - 1}
        for lease in leases:
            manager.delete(lease)
