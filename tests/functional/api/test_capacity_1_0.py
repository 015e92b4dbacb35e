# SPDX-License-Identifier: Apache-2.0
"""Instance capacity over REST: the fields of the contract, and what is refused."""
import json

import pytest
from support import builders
from support import thinning

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
@pytest.mark.parametrize(('written', 'read'), thinning.few(AFFINITIES, 4), ids=repr)
def test_affinity_is_understood_in_all_its_spellings(create, reservation, written, read):
    answer = create(reservation, affinity=written)
    assert answer.status_int == 201
    assert answer.json['lease']['reservations'][0]['affinity'] is read


@pytest.mark.parametrize('version', ['1.0', '1.1'])
@pytest.mark.parametrize('reservation', thinning.few([SIZED, {**FLAVORED, 'affinity': None}], 1),
                         ids=['sized', 'flavor'])
@pytest.mark.parametrize(('field', 'value'), thinning.few([
    ('amount', 0), ('amount', -1), ('amount', 10 ** 9), ('amount', 1.5), ('amount', None),
    ('amount', True), ('amount', 'two'), ('amount', []), ('affinity', 'perhaps'),
    ('affinity', 2), ('affinity', []), ('affinity', {})], 4), ids=repr)
def test_a_value_that_cannot_be_meant_is_refused_by_its_field(
        api, create, reservation, version, field, value):
    answer = create(reservation, version, **{field: value})
    assert answer.status_int == 400
    assert field in answer.json['error_message']
    assert api.get('/v1/leases').json['leases'] == []


@pytest.mark.parametrize(('field', 'value'), thinning.few([
    ('vcpus', 0), ('vcpus', 10 ** 12), ('vcpus', ''), ('memory_mb', -1), ('disk_gb', -1),
    ('disk_gb', 'x'), ('resource_properties', '['), ('resource_properties', 8)], 4), ids=repr)
def test_a_size_that_cannot_be_meant_is_refused_by_its_field(create, field, value):
    answer = create(SIZED, **{field: value})
    assert answer.status_int == 400
    assert field in answer.json['error_message'] or 'Criteria' in answer.json['error_message']


@pytest.mark.parametrize('value', thinning.few([
    'unheard-of', '', None, '..', '../servers/detail', 'a/b', 'x' * 300, '?', [], {}, True, 99], 4),
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
def test_a_missing_field_is_named(create, missing):
    for version in ('1.0', '1.1'):
        answer = create({key: value for key, value in SIZED.items() if key != missing}, version)
        assert answer.status_int == 400
        assert missing in answer.json['error_message']


def test_an_instance_that_exists_cannot_be_leased_yet(create):
    answer = create(SIZED, '1.1', resource_id='9d5dcb71-98b8-46a2-9b80-1a2dd4d9adce')
    assert answer.status_int == 400
    assert 'resource_id' in answer.json['error_message']


@pytest.mark.parametrize('asked', [SIZED, FLAVORED])
def test_too_few_resources_are_400_at_1_0_and_409_later_with_the_same_message(create, asked):
    answers = [create(asked, version, amount=1000, affinity=None)
               for version in ('1.0', '1.1')]
    assert [each.status_int for each in answers] == [400, 409]
    assert answers[0].json['error_code'] == 400
    assert '1000 servers ' in answers[0].json['error_message']
    assert answers[0].json['error_message'] == answers[1].json['error_message']


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


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_ephemeral_disk_and_extra_specs_are_in_the_flavor_and_in_the_answer(
        create, manager, version):
    specs = {'hw:cpu_policy': 'shared', 'hw_rng:allowed': 'true'}
    lease = create(SIZED, version, ephemeral_gb=7, extra_specs=specs).json['lease']
    [shown] = lease['reservations']
    assert (shown['ephemeral_gb'], shown['extra_specs']) == (7, specs)
    manager.run()
    flavor = manager.cloud.as_service().flavors.flavor(shown['id'], 'demo')
    assert (flavor.disk, flavor.ephemeral) == (1, 7)
    assert specs.items() <= flavor.extra_specs.items()


@pytest.mark.parametrize('more', [
    {'ephemeral_gb': 10 ** 6}, {'extra_specs': {'resources:CUSTOM_GPU': '1'}},
    {'extra_specs': {'resources:CUSTOM_GPU': 1}}, {'extra_specs': {'hw:cpu_policy': 'dedicated'}},
    {'extra_specs': {'trait:CUSTOM_FAST': 'required'}}], ids=repr)
def test_a_host_without_what_ephemeral_disk_and_extra_specs_need_is_not_taken(create, more):
    assert create(SIZED).status_int == 201
    answer = create(SIZED, **more)
    assert answer.status_int == 400
    assert 'enrolled, 0 with ' in answer.json['error_message']


@pytest.mark.parametrize('specs', [
    {'resources:VCPU': '0'}, {'resources:CUSTOM_RESERVATION_X': '0'}, {'quota:vif': '1'},
    {'aggregate_instance_extra_specs:reservation': 'x'}, {'pci_passthrough:alias': 'a:1'},
    {'hw:pci_numa_affinity_policy': 'x'}, {'hw:mem_encryption': 'true'}, {'color': 'red'},
    {'resources1:VCPU': '1'}, {'resources:CUSTOM_X': 'many'}, {'hw:cpu_policy': 'mixed'},
    {'trait:X': 'perhaps'}, {'a' * 300: 'x'}, {'hw:x': 1.5}, 'text', [1]], ids=repr)
def test_an_extra_spec_that_cannot_be_counted_is_refused(create, specs):
    answer = create(SIZED, extra_specs=specs)
    assert answer.status_int == 400
    assert 'extra_specs' in answer.json['error_message']


@pytest.mark.parametrize(('reservation', 'field', 'value'), [
    (FLAVORED, 'ephemeral_gb', 5), (FLAVORED, 'extra_specs', {'trait:X': 'required'}),
    (SIZED, 'swap', 512), (SIZED, 'root_gb', '5'), (SIZED, 'traits', ['X']),
    (FLAVORED, 'availability_zone', 'nova')])
def test_an_unknown_key_that_asks_for_more_is_refused_and_any_other_is_dropped(
        create, reservation, field, value):
    answer = create(reservation, **{field: value})
    assert answer.status_int == 400
    assert field in answer.json['error_message']
    for empty in (None, '', 0):
        assert create(reservation, note='unknown', **{field: empty}).status_int == 201
