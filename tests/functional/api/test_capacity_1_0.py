# SPDX-License-Identifier: Apache-2.0
"""Instance capacity over REST: the fields of the contract, and what is refused."""
import json

import pytest
from support import builders

SIZED = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1,
         'amount': 1, 'affinity': None, 'resource_properties': ''}
FLAVORED = {'resource_type': 'flavor:instance', 'flavor_id': '2', 'amount': 1,
            'affinity': 'None'}
# As people write them: how they are read, or None where they are refused.
AFFINITIES = [
    ('None', None), ('none', None), ('', None), (None, None), ('True', True), ('true', True),
    (True, True), ('False', False), ('false', False), (False, False)]


@pytest.fixture
def create(api, manager):
    """callable(reservation, version='1.0', …): the answer to a lease with that reservation."""
    manager.enrol(2)

    def post(reservation, version='1.0', **changes):
        reservation = {**reservation, **changes}
        body = builders.a_body(reservations=[reservation]) if version == '1.0' else {
            'name': 'x', 'duration': '1h', 'reservations': [reservation]}
        return api.post('/v1/leases', body, version=version)
    return post


def test_a_sized_reservation_shows_the_fields_of_the_contract(api, manager, create):
    lease = create(SIZED, amount=2, affinity='True').json['lease']
    [shown] = lease['reservations']
    own = {name: shown[name] for name in (
        'vcpus', 'memory_mb', 'disk_gb', 'amount', 'affinity', 'resource_properties',
        'flavor_id', 'aggregate_id', 'server_group_id')}
    assert own == {
        'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': True,
        'resource_properties': '', 'flavor_id': shown['id'], 'aggregate_id': None,
        'server_group_id': manager.cloud.leftovers()['server_groups'][0][0]}
    manager.run()
    [shown] = api.get(f'/v1/leases/{lease["id"]}').json['lease']['reservations']
    assert isinstance(shown['aggregate_id'], int)
    assert isinstance(shown['server_group_id'], str)
    found = api.get('/v1/os-hosts/allocations', token=builders.ADMIN).json['allocations']
    assert sorted(len(each['reservations']) for each in found) == [0, 2]


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_flavor_reservation_shows_its_own_flavor_and_keeps_the_source_in_full(create, version):
    [shown] = create(FLAVORED, version, affinity=None).json['lease']['reservations']
    assert shown['flavor_id'] == shown['id']
    assert (shown['vcpus'], shown['memory_mb'], shown['disk_gb']) == (1, 2048, 20)
    source = json.loads(shown['resource_properties'])
    assert (source['id'], source['name'], source['extra_specs']) == ('2', 'm1.small', {})


@pytest.mark.parametrize('reservation', [SIZED, FLAVORED], ids=['sized', 'flavor'])
@pytest.mark.parametrize(('written', 'read'), AFFINITIES, ids=repr)
def test_affinity_is_understood_in_all_its_spellings(create, reservation, written, read):
    answer = create(reservation, affinity=written)
    assert answer.status_int == 201
    assert answer.json['lease']['reservations'][0]['affinity'] is read


@pytest.mark.parametrize('version', ['1.0', '1.1'])
@pytest.mark.parametrize('reservation', [SIZED, {**FLAVORED, 'affinity': None}],
                         ids=['sized', 'flavor'])
@pytest.mark.parametrize(('field', 'value'), [
    ('amount', 0), ('amount', -1), ('amount', 10 ** 9), ('amount', 1.5), ('amount', None),
    ('amount', True), ('amount', 'two'), ('amount', []), ('affinity', 'perhaps'),
    ('affinity', 2), ('affinity', []), ('affinity', {})], ids=repr)
def test_a_value_that_cannot_be_meant_is_refused_by_its_field(
        api, create, reservation, version, field, value):
    answer = create(reservation, version, **{field: value})
    assert answer.status_int == 400
    assert field in answer.json['error_message']
    assert api.get('/v1/leases').json['leases'] == []


@pytest.mark.parametrize(('field', 'value'), [
    ('vcpus', 0), ('vcpus', 10 ** 12), ('vcpus', ''), ('memory_mb', -1), ('disk_gb', -1),
    ('disk_gb', 'x'), ('resource_properties', '['), ('resource_properties', 8)], ids=repr)
def test_a_size_that_cannot_be_meant_is_refused_by_its_field(create, field, value):
    answer = create(SIZED, **{field: value})
    assert answer.status_int == 400
    assert field in answer.json['error_message'] or 'Criteria' in answer.json['error_message']


@pytest.mark.parametrize('value', [
    'unheard-of', '', None, '..', '../servers/detail', 'a/b', 'x' * 300, '?', [], {}, True, 99],
    ids=lambda value: repr(value)[:12])
def test_a_flavor_that_is_not_there_is_refused_by_its_field(create, value):
    answer = create(FLAVORED, flavor_id=value)
    assert answer.status_int == 400
    assert 'flavor_id' in answer.json['error_message']


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_flavor_may_be_named_by_its_name(create, version):
    answer = create(FLAVORED, version, flavor_id='m1.small', affinity=None)
    assert answer.status_int == 201
    [shown] = answer.json['lease']['reservations']
    assert (shown['flavor_id'], shown['memory_mb']) == (shown['id'], 2048)


def test_a_flavor_id_that_looks_like_a_number_may_be_sent_as_one(create):
    assert create(FLAVORED, flavor_id=2).status_int == 201


@pytest.mark.parametrize('missing', ['vcpus', 'memory_mb', 'disk_gb', 'amount'])
def test_what_must_be_there_is_named(create, missing):
    for version in ('1.0', '1.1'):
        answer = create({key: value for key, value in SIZED.items() if key != missing}, version)
        assert answer.status_int == 400
        assert missing in answer.json['error_message']


def test_an_instance_that_exists_cannot_be_leased_yet(create):
    answer = create(SIZED, '1.1', resource_id='9d5dcb71-98b8-46a2-9b80-1a2dd4d9adce')
    assert answer.status_int == 400
    assert 'resource_id' in answer.json['error_message']


def test_no_room_is_a_conflict_that_says_how_much_there_is(create):
    answer = create(SIZED, amount=1000)
    assert answer.status_int == 409
    assert '1000 servers with ' in answer.json['error_message']


def test_a_client_may_send_back_all_that_it_was_shown(api, manager, create):
    for reservation in (SIZED, FLAVORED):
        lease = create(reservation).json['lease']
        manager.run()
        [shown] = api.get(f'/v1/leases/{lease["id"]}').json['lease']['reservations']
        answer = api.put(f'/v1/leases/{lease["id"]}',
                         {'reservations': [{**shown, 'amount': 2}]})
        assert answer.status_int == 200, answer.body
        [shown] = answer.json['lease']['reservations']
        assert shown['amount'] == 2
