# SPDX-License-Identifier: Apache-2.0
"""Many callers want the last free resource at once, over REST: one gets it, the others learn why.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import concurrent.futures
import os

import pytest
from support import builders
from support import crowds
from support import every_type
from support import thinning

from climate import errors
from climate.api import app
from climate.manager.booking import booking
from climate.manager.leases import draft

CALLERS = 16
ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)


@pytest.fixture
def crowd(conf, manager):
    service = app.build(conf, manager.client, builders.manager_plugins(conf))
    found = crowds.Crowd(service, CALLERS)
    yield found
    found.leave()


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_one_of_sixteen_requests_gets_the_last_host_and_the_others_learn_why(
        manager, api, crowd):
    manager.enrol(1)
    for _ in range(ROUNDS):
        answers = crowd.ask('post_json', '/v1/leases', [
            builders.a_body(f'lease {number}') for number in range(CALLERS)])
        assert crowds.statuses(answers) == {201: 1, 400: 15}
        for answer in answers:
            if answer.status_code == 400:
                message = answer.json['error_message']
                assert 'Only 0 of 1 hosts are free' in message
                assert '1 are enrolled' in message
        [lease] = api.get('/v1/leases').json['leases']
        assert _leases_on_each_host(api) == [1]
        api.delete(f'/v1/leases/{lease["id"]}')
    assert len(manager.cloud.as_service().keystone.trusts()) == ROUNDS
    manager.run()
    assert manager.cloud.as_service().keystone.trusts() == []


@pytest.mark.proof
@pytest.mark.parametrize('leasable', thinning.few(every_type.POOLS, 1), ids=every_type.IDS)
def test_one_of_sixteen_requests_gets_the_last_of_any_resource(manager, api, crowd, leasable):
    version = {'OpenStack-API-Version': 'reservation 1.1'}
    [resource] = leasable.enrol(manager)
    for number in range(leasable.parts - 1):
        earlier = api.post('/v1/leases', leasable.body(f'before {number}'), headers=version)
        assert earlier.status_int == 201, earlier.text
    before = manager.cloud.leftovers()
    for _ in range(ROUNDS):
        answers = crowd.ask('post_json', '/v1/leases', [
            leasable.body(f'lease {number}') for number in range(CALLERS)], [version] * CALLERS)
        assert crowds.statuses(answers) == {201: 1, 409: 15}, {answer.text for answer in answers}
        for answer in answers:
            if answer.status_code == 409:
                assert answer.json['error_message'].startswith(leasable.refused)
        [made] = [answer.json['lease'] for answer in answers if answer.status_code == 201]
        assert _given(api, leasable, resource) == leasable.parts
        assert api.delete(f'/v1/leases/{made["id"]}').status_int == 204
        assert _given(api, leasable, resource) == leasable.parts - 1
    assert manager.cloud.leftovers() == before


@pytest.mark.proof
def test_sixteen_who_want_two_of_five_hosts_each_never_share_one(manager, api, crowd):
    manager.enrol(5)
    for _ in range(ROUNDS):
        answers = crowd.ask('post_json', '/v1/leases', [
            builders.a_body(f'lease {number}', least=2) for number in range(CALLERS)])
        assert crowds.statuses(answers) == {201: 2, 400: 14}
        assert sorted(_leases_on_each_host(api)) == [0, 1, 1, 1, 1]
        for lease in api.get('/v1/leases').json['leases']:
            api.delete(f'/v1/leases/{lease["id"]}')


@pytest.fixture
def many_hosts_and_few_attempts(conf):
    conf.set_override('hosts', 200, group='simulated')
    conf.set_override('booking_attempts', 6, group='manager')


@pytest.mark.proof
def test_the_loser_of_a_race_for_the_first_of_many_free_hosts_gets_another(
        many_hosts_and_few_attempts, manager, api, crowd):
    manager.enrol(200)
    for _ in range(ROUNDS):
        answers = crowd.ask('post_json', '/v1/leases', [
            builders.a_body(f'lease {number}') for number in range(CALLERS)])
        assert crowds.statuses(answers) == {201: CALLERS}
        assert sum(_leases_on_each_host(api)) == CALLERS
        for lease in api.get('/v1/leases').json['leases']:
            api.delete(f'/v1/leases/{lease["id"]}')


@pytest.mark.proof
def test_no_two_tries_of_a_lease_begin_with_the_same_hosts(
        many_hosts_and_few_attempts, manager):
    manager.enrol(200)
    drafted = draft.Drafts(manager.core).draft(
        builders.a_member(), 'lease', builders.a_lease(builders.hosts(2)), builders.NOON)
    tried = []

    def too_late(_connection, chosen):
        tried.append([given.resource_id for given in chosen])
        raise errors.LostRace()
    with pytest.raises(errors.LostRace):
        booking.Booking(manager.core).book(
            drafted.wishes, drafted.lease.interval, builders.NOON, too_late)
    assert len(tried) == 6
    # Twelve draws of a hundred hosts: some may be drawn twice, six of them once in 30,000 runs.
    assert len({key for each in tried for key in each}) > 6


def test_running_leases_that_all_want_the_last_free_host_grow_by_one_host_in_all(
        manager, api):
    manager.enrol(8)
    leases = [api.post('/v1/leases', builders.a_body(f'lease {number}')).json['lease']
              for number in range(7)]
    bodies = {lease['id']: {'reservations': [{**lease['reservations'][0], 'min': 2, 'max': 2}]}
              for lease in leases}
    manager.run()
    with concurrent.futures.ThreadPoolExecutor(len(leases)) as threads:
        answers = list(threads.map(
            lambda lease: api.put(f'/v1/leases/{lease["id"]}', bodies[lease['id']]), leases))
    assert crowds.statuses(answers) == {200: 1, 400: 6}
    assert _leases_on_each_host(api) == [1] * 8


def test_one_request_sent_many_times_at_once_makes_one_lease(manager, api, crowd):
    manager.enrol(4)
    for number in range(ROUNDS):
        key = {'Idempotency-Key': f'key {number}', 'OpenStack-API-Version': 'reservation 1.1'}
        body = {'name': 'once', 'end': '2030-05-01 13:00', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
        answers = crowd.ask('post_json', '/v1/leases', [body] * CALLERS, [key] * CALLERS)
        assert crowds.statuses(answers) == {201: CALLERS}
        [lease] = api.get('/v1/leases').json['leases']
        assert {answer.json['lease']['id'] for answer in answers} == {lease['id']}
        api.delete(f'/v1/leases/{lease["id"]}')


def _leases_on_each_host(api):
    answer = api.get('/v1/os-hosts/allocations', token=builders.ADMIN)
    return [len(each['reservations']) for each in answer.json['allocations']]


def _given(api, leasable, resource):
    """Return how many reservations have a resource now."""
    answer = api.get(f'/v1/resources/{leasable.pool}/allocations', token=builders.ADMIN,
                     version='1.1')
    [found] = [each for each in answer.json['allocations']
               if str(each['resource_id']) == str(resource.id)]
    return len(found['reservations'])
