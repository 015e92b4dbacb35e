# SPDX-License-Identifier: Apache-2.0
"""An answer to a request that does not fit says why, and when it would fit."""
import pytest
from support import builders


@pytest.fixture
def ask(api):
    """Asks for hosts from noon on at REST 1.1; returns the answer."""
    def post(least, criteria=(), start='now', duration='2h', version='1.1'):
        body = {'name': 'x', 'reservations': [{
            'resource_type': 'physical:host', 'min': least, 'max': least,
            'resource_properties': list(criteria) if version == '1.1' else ''}]}
        span = ({'start': start, 'duration': duration} if version == '1.1'
                else {'start_date': start, 'end_date': '2030-05-01 14:00'})
        return api.post('/v1/leases', {**body, **span}, version=version)
    return post


@pytest.fixture
def hosts(manager):
    """Six hosts, of 16, 32 and 64 cores in turn; the first three have a GPU."""
    for number in range(1, 7):
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}',
                                       {'gpu': 'A100'} if number <= 3 else {'ssd': 'yes'})


def test_a_refusal_counts_the_hosts_by_criterion_and_the_free_ones(ask, hosts):
    assert ask(1, ['and', ['==', '$gpu', 'A100'], ['>=', '$vcpus', 64]]).status_int == 201
    answer = ask(2, ['and', ['==', '$gpu', 'A100'], ['>=', '$vcpus', 32]])
    assert answer.status_int == 409
    assert answer.json['error_name'] == 'not_enough'
    details = answer.json['details']
    assert details['criteria'] == [{'criterion': 'gpu == A100', 'met_by': 3},
                                   {'criterion': 'vcpus >= 32', 'met_by': 4}]
    assert {name: details[name] for name in ('wanted', 'free', 'matching', 'total')} == {
        'wanted': 2, 'free': 1, 'matching': 2, 'total': 6}
    assert answer.json['error_message'] == (
        'Only 1 of 2 hosts are free for all of the time asked for: 6 are enrolled, 3 with gpu == '
        'A100, 4 with vcpus >= 32, 2 meet all criteria. It fits from 2030-05-01 14:00 UTC.')


def test_the_nearest_time_that_it_names_is_accepted_then(ask, hosts):
    ask(5, duration='3h')
    ask(6, start='2030-05-01T16:00:00Z', duration='1h')
    answer = ask(2, duration='2h')
    assert answer.status_int == 409
    nearest = answer.json['details']['nearest']
    # From 15 to 16 o'clock is too short for two hours.
    assert nearest == '2030-05-01T17:00:00+00:00'
    assert ask(2, start=nearest, duration='2h').status_int == 201


def test_starts_before_the_nearest_time_are_refused(ask, hosts):
    ask(6, duration='90m')
    assert ask(1).json['details']['nearest'] == '2030-05-01T13:30:00+00:00'
    assert ask(1, start='2030-05-01T13:29:59Z').status_int == 409
    assert ask(1, start='2030-05-01T13:30:00Z').status_int == 201


def test_a_request_that_never_fits_has_no_nearest_time(ask, hosts):
    for least, criteria in ((7, []), (4, ['==', '$gpu', 'A100'])):
        answer = ask(least, criteria)
        assert answer.status_int == 409
        assert answer.json['details']['nearest'] is None
        assert 'Fewer, or other criteria, would fit.' in answer.json['error_message']


def test_a_refusal_names_the_own_offer_that_holds_the_hosts(ask, api, hosts):
    query = {'reservations': [{'resource_type': 'physical:host', 'min': 6, 'max': 6}],
             'duration': '2h'}
    [offer] = api.post('/v1/availability', {**query, 'limit': 1, 'hold': 1},
                       version='1.1').json['offers']
    answer = ask(2)
    assert answer.status_int == 409
    assert f'by offers: {offer["id"]} (until 12:02:00 UTC)' in answer.json['error_message']
    assert answer.json['details']['offers'] == [offer['id']]
    for later in (ask(7, start='2030-05-03 12:00'), api.post('/v1/leases', {
            'name': 'x', 'duration': '1h', 'reservations': query['reservations']},
            version='1.1', token=builders.STRANGER)):
        assert later.status_int == 409
        assert 'offer' not in later.json['error_message']
        assert 'offers' not in later.json['details']


@pytest.fixture
def ask_room(api, manager):
    """Asks for instances on a host for eight of them, at REST 1.1; returns the answer."""
    manager.cloud.add_host('small', vcpus=2)
    manager.client.create_resource(builders.an_admin(), 'host', 'small', {})

    def post(*amounts, start='now', duration='2h', affinity=None, vcpus=1):
        return api.post('/v1/leases', {
            'name': 'x', 'start': start, 'duration': duration, 'reservations': [{
                'resource_type': 'virtual:instance', 'vcpus': vcpus, 'memory_mb': 512,
                'disk_gb': 1, 'amount': amount, 'affinity': affinity} for amount in amounts]},
            version='1.1')
    return post


@pytest.mark.parametrize('affinity', [True, None])
def test_the_nearest_time_for_instances_is_accepted_then_and_none_before(ask_room, affinity):
    ask_room(5, duration='3h')
    ask_room(3, start='2030-05-01T14:00:00Z', duration='2h')
    answer = ask_room(4, affinity=affinity)
    assert answer.status_int == 409
    where = ' on one host' if affinity else ''
    assert answer.json['error_message'] == (
        f'4 servers with 1 VCPU, 512 MB of memory and 1 GB of disk{where} were asked for, and only '
        '3 fit for all of the time: 1 host is enrolled, 1 with capacity for one when empty. All 4 '
        'fit from 2030-05-01 15:00 UTC.')
    assert answer.json['details']['nearest'] == '2030-05-01T15:00:00+00:00'
    assert ask_room(4, start='2030-05-01T14:59:59Z').status_int == 409
    assert ask_room(4, start='2030-05-01T15:00:00Z').status_int == 201


def test_instances_that_never_fit_have_no_nearest_time(ask_room):
    answer = ask_room(9)
    assert answer.json['details']['nearest'] is None
    assert answer.json['error_message'].endswith('8 or fewer, or other criteria, would fit.')


@pytest.fixture
def boot(api, manager):
    """Asks for a number of servers of a flavor, each with a reservation, as Nova's middleware."""
    for number in range(3):
        manager.cloud.add_host(f'small-{number}', vcpus=2)
        manager.client.create_resource(builders.an_admin(), 'host', f'small-{number}', {})

    def post(count, start='2030-05-01T14:00:00Z', flavor='3', **query):
        more = '?dry_run=1' if query else ''
        return api.post(f'/v1/leases{more}', {
            'name': 'x', 'start': start, 'duration': '2h', 'reservations': [{
                'resource_type': 'virtual:instance', 'resource_id': None,
                'flavor_id': flavor}] * count}, version='1.1')
    return post


@pytest.mark.parametrize('query', [{}, {'dry_run': True}])
def test_a_boot_of_17_servers_says_that_12_of_the_17_fit(boot, query):
    answer = boot(17, **query)
    assert answer.status_int == 409
    assert answer.json['error_message'] == (
        '17 servers of flavor m1.medium were asked for, and only 12 fit for all of the time: 3 '
        'hosts are enrolled, 3 with capacity for one when empty. 12 or fewer, or other criteria, '
        'would fit.')
    details = answer.json['details']
    assert (details['wanted'], details['free'], details['nearest']) == (17, 12, None)
    assert details['criteria'] == [{'criterion': 'capacity for one when empty', 'met_by': 3}]
    assert boot(12).status_int == 201


def test_a_boot_of_many_servers_says_from_when_all_fit(boot):
    assert boot(7).status_int == 201
    answer = boot(11)
    assert answer.status_int == 409
    assert answer.json['error_message'] == (
        '11 servers of flavor m1.medium were asked for, and only 5 fit for all of the time: 3 '
        'hosts are enrolled, 3 with capacity for one when empty. All 11 fit '
        'from 2030-05-01 16:00 UTC.')
    assert boot(11, start=answer.json['details']['nearest']).status_int == 201


def test_one_server_too_large_for_every_host_is_told_in_the_words_of_its_flavor(boot, manager):
    manager.cloud.add_flavor('huge', 'huge', vcpus=9, ram=512, disk=1)
    answer = boot(1, flavor='huge')
    assert answer.json['error_message'] == (
        '1 server of flavor huge was asked for, and none fits for all of the time: 3 hosts are '
        'enrolled, 0 with capacity for one when empty. Other criteria might fit.')


def test_the_nearest_time_is_one_for_all_reservations_of_a_lease(ask_room):
    ask_room(1, duration='3h')
    ask_room(5, start='2030-05-01T16:00:00Z', duration='1h')
    answer = ask_room(4, 4)
    nearest = answer.json['details']['nearest']
    # Each alone would fit at once, both together neither from 15 to 17 o'clock.
    assert nearest == '2030-05-01T17:00:00+00:00'
    assert ask_room(4, 4, start=nearest).status_int == 201


def test_rest_1_0_tells_the_same_sentence(ask, hosts):
    ask(6)
    answer = ask(2, version='1.0')
    assert answer.status_int == 400
    assert answer.json['error_message'] == (
        'Only 0 of 2 hosts are free for all of the time asked for: 6 are enrolled. It fits from '
        '2030-05-01 14:00 UTC.')


def test_a_dry_run_says_it_as_well(api, hosts):
    body = {'name': 'x', 'duration': '1h', 'reservations': [
        {'resource_type': 'physical:host', 'min': 9, 'max': 9}]}
    answer = api.post('/v1/leases?dry_run=1', body, version='1.1')
    assert answer.status_int == 409
    assert answer.json['details']['free'] == 6


def test_two_reservations_of_one_lease_do_not_share_their_hosts(api, hosts):
    hosts_of = {'resource_type': 'physical:host', 'min': 3, 'max': 3}
    more = {**hosts_of, 'min': 4, 'max': 4}
    body = {'name': 'x', 'duration': '1h', 'reservations': [hosts_of, more]}
    answer = api.post('/v1/leases', body, version='1.1')
    assert answer.status_int == 409
    assert (answer.json['details']['wanted'], answer.json['details']['free']) == (7, 6)
    assert api.get('/v1/leases').json == {'leases': []}
