# SPDX-License-Identifier: Apache-2.0
"""The scheduler hints of a request to boot: how they become a lease, and what is refused."""
import datetime
import json

import pytest

from climate.client import times
from climate.nova import boots
from climate.nova import errors
from climate.nova import lease_client
from climate.nova import lease_hints

FIRST, SECOND = lease_hints.KEYS
NOW = datetime.datetime(2030, 5, 1, 12, 0, tzinfo=datetime.UTC)
END = {'end': '2030-12-01 16:07'}


def body(**said):
    return {'server': {}, FIRST: said}


def read(**said):
    return lease_hints.read(body(**said))


def wanted(default_days=None, **said):
    return lease_hints.lease_params(read(**said), default_days)


def server(**fields):
    return {'name': 'vm1', 'flavorRef': '7', **fields}


@pytest.mark.parametrize(('values', 'expected'), [
    (['True', 'true', 'TRUE', 'yes', 'on', '1', True, 1], True),
    (['False', 'false', 'no', 'off', '0', False, 0], False)])
def test_the_hint_reserved_has_the_flags_of_nova(values, expected):
    assert [read(reserved=value).reserved for value in values] == [expected] * len(values)


@pytest.mark.parametrize('value', [None, '', 'maybe', [], ['True'], {}, 2, 1.0, 'x' * 10 ** 6])
def test_a_flag_that_is_neither_true_nor_false_is_refused(value):
    with pytest.raises(errors.BadBootRequest, match=r'^reserved: .* is neither True nor') as told:
        read(reserved=value)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize('key', [FIRST, SECOND])
def test_both_of_novas_keys_are_read(key):
    found = lease_hints.read({'server': {}, key: {'reserved': True, 'lease_params': END}})
    assert (found.reserved, found.params) == (True, END)


def test_both_keys_may_say_the_same():
    found = lease_hints.read({FIRST: {'reserved': 'True', 'lease_params': json.dumps(END)},
                             SECOND: {'reserved': True, 'lease_params': END}})
    assert (found.reserved, found.params) == (True, END)


@pytest.mark.parametrize(('name', 'here', 'there'), [
    ('reserved', 'True', 'False'), ('lease_params', END, {'end': '2031-01-01'})])
def test_both_keys_may_not_contradict_each_other(name, here, there):
    with pytest.raises(errors.BadBootRequest, match=rf'^{name}: .*contradict each other: '):
        lease_hints.read({FIRST: {name: here}, SECOND: {name: there}})


@pytest.mark.parametrize('value', [None, [], 'x', 7])
def test_hints_that_are_no_object_are_refused(value):
    with pytest.raises(errors.BadBootRequest, match=rf'^{SECOND}: it must be an object'):
        lease_hints.read({SECOND: value})


def test_a_reservation_is_read_only_from_the_key_that_nova_reads():
    assert lease_hints.read({SECOND: {'reservation': 'r1'}}).reservation
    assert not lease_hints.read({FIRST: {}, SECOND: {'reservation': 'r1'}}).reservation


@pytest.mark.parametrize(('value', 'said'), [
    ('{"end": "+1h", "end": "+9h"}', 'the key "end" is given twice'),
    ('{"name": ', 'is not JSON'), ('', 'is not JSON'), ('[' * 4000, 'is not JSON'),
    ('[]', 'is not an object'), ([], 'is not an object'), (None, 'is not an object'),
    ('null', 'is not an object'), ('7', 'is not an object'), (7, 'is not an object'),
    ('"{}"', 'is not an object'), ('x' * 10 ** 6, 'it has 1000000 characters; at most 4096'),
    ('{"ende": 1}', '"ende" is not known. Known are: name, start'),
    ({'reservations': []}, '"reservations" is not known')], ids=lambda value: str(value)[:30])
def test_parameters_that_cannot_be_read_are_refused(value, said):
    with pytest.raises(errors.BadBootRequest) as told:
        read(reserved=True, lease_params=value)
    assert str(told.value).startswith('lease_params: ')
    assert said in str(told.value)
    assert len(str(told.value)) < 400
    assert told.value.status == 400


@pytest.mark.parametrize('name', ['name', 'start', 'end', 'before_end', 'duration', 'on_end'])
@pytest.mark.parametrize('value', [None, [], {}, 1.5, True, 'x' * 256], ids=str)
def test_a_value_of_a_wrong_kind_is_refused(name, value):
    with pytest.raises(errors.BadBootRequest, match=rf'^lease_params\.{name}: ') as told:
        read(lease_params={name: value})
    assert len(str(told.value)) < 250


def test_a_number_is_refused_except_as_a_duration():
    assert read(lease_params={'duration': 3600}).params == {'duration': 3600}
    with pytest.raises(errors.BadBootRequest, match=r'lease_params\.end: "3600" cannot be used'):
        read(lease_params={'end': 3600})


@pytest.mark.parametrize('written', [
    'now', 'Now', '+2h', '+1d12h', '+PT2H', '2030-12-1 16:07', '2030-1-2 3:4', '2030-12-1',
    '2030-12-1T6:07:30Z', '2030-12-01T16:07:00+02:00', ' 2030-12-1 16:07 '])
def test_times_have_the_forms_of_the_command_line(written):
    assert times.on_the_wire(written, NOW)
    assert read(lease_params={'end': written}).params == {'end': written.strip()}
    assert read(lease_params={'name': written}).params == {'name': written}


@pytest.mark.parametrize('written', ['tomorrow', '', '+', '+2x', '-2h', '2030-13-1', '٢٠٣٠-1-1',
                                     '2030-12-1 25:00', '+99999999999d'])
def test_a_malformed_time_is_refused_with_examples(written):
    with pytest.raises(errors.BadBootRequest, match=(
            r'^lease_params\.end: .* is not a time: write now, \+2h, "2030-12-1 16:07" in UTC')):
        read(lease_params={'end': written})


@pytest.mark.parametrize('written', [
    '90m', '1d12h', 'PT1H30M', '3600', '1h30m', '2H', '1.5h', '1 hour'])
def test_durations_have_the_forms_of_the_command_line(written):
    assert times.span(written)
    assert read(lease_params={'duration': written}).params == {'duration': written}


def test_a_malformed_duration_is_refused_with_examples():
    with pytest.raises(errors.BadBootRequest, match=(
            r'^lease_params\.duration: "2 months" is not a duration: a month or a year has no')):
        read(lease_params={'duration': '2 months'})


def test_without_hints_there_is_no_lease():
    assert wanted() is None
    assert wanted(reservation='r1') is None
    assert wanted(reserved=False) is None


def test_the_parameters_of_a_lease_are_those_of_its_hint():
    assert wanted(reserved='True', lease_params=END) == END


@pytest.mark.parametrize('said', [{}, {'lease_params': {}}, {'lease_params': {'start': 'now'}}])
def test_without_an_end_a_lease_is_refused(said):
    with pytest.raises(errors.BadBootRequest, match=r'^lease_params: "end" or "duration" is'):
        wanted(reserved=True, **said)


@pytest.mark.parametrize('said', [{}, {'reserved': False}])
def test_parameters_alone_are_refused(said):
    with pytest.raises(errors.BadBootRequest, match=r'^lease_params: it needs the hint reserved'):
        wanted(lease_params=END, **said)


def test_a_reservation_and_a_new_lease_exclude_each_other():
    for days in (None, 30):
        with pytest.raises(errors.BadBootRequest, match=r'^reserved: .* leave one of the two out'):
            wanted(days, reserved=True, lease_params=END, reservation='r1')


@pytest.mark.parametrize(('said', 'meant'), [
    ({}, {'duration': '30d'}), ({'reserved': True}, {'duration': '30d'}),
    ({'reserved': False}, {'duration': '30d'}), ({'reserved': True, 'lease_params': END}, END),
    ({'lease_params': END}, END),
    ({'lease_params': {'duration': '2h'}}, {'duration': '2h'}),
    ({'reserved': True, 'lease_params': {'name': 'mine', 'start': '2030-1-1'}},
     {'name': 'mine', 'start': '2030-1-1', 'duration': '30d'})])
def test_a_default_lease_fills_what_was_not_said(said, meant):
    assert wanted(30, **said) == meant


def test_a_request_with_a_reservation_gets_no_default_lease():
    assert wanted(30, reservation='r1') is None
    with pytest.raises(errors.BadBootRequest, match='it needs the hint reserved'):
        wanted(30, reservation='r1', lease_params=END)
    with pytest.raises(errors.BadBootRequest, match='it needs the hint reserved'):
        wanted(30, reserved=False, lease_params=END)


def test_the_lease_is_named_after_the_server():
    assert boots.lease_of(server(), END) == {
        'name': 'lease-vm1', **END, 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '7'}]}
    assert boots.lease_of(server(), {'name': 'mine'})['name'] == 'mine'
    assert len(boots.lease_of(server(name='x' * 255), END)['name']) == 80


def test_on_end_belongs_to_the_reservation():
    found = boots.lease_of(server(), {**END, 'on_end': 'delete'})
    assert found['reservations'][0]['on_end'] == 'delete'
    assert 'on_end' not in found


@pytest.mark.parametrize(('written', 'meant'), [
    ('7', '7'), (7, '7'), ('http://nova/v2.1/flavors/m1.small?x=1', 'm1.small')])
def test_a_flavor_is_named_by_its_id_or_its_address(written, meant):
    found = boots.lease_of(server(flavorRef=written), END)
    assert found['reservations'][0]['flavor_id'] == meant


@pytest.mark.parametrize(('counts', 'number'), [
    ({}, 1), ({'min_count': 3}, 3), ({'min_count': '2', 'max_count': '5'}, 5),
    ({'max_count': 1}, 1), ({'max_count': 100}, 100)])
def test_each_server_has_a_reservation(counts, number):
    assert len(boots.lease_of(server(**counts), END)['reservations']) == number


@pytest.mark.parametrize(('fields', 'said'), [
    ({'name': None}, 'server.name: '), ({'name': ' '}, 'server.name: '),
    ({'flavorRef': None}, 'server.flavorRef: '), ({'flavorRef': ''}, 'server.flavorRef: '),
    ({'flavorRef': True}, 'server.flavorRef: '), ({'flavorRef': 'http://['}, 'server.flavorRef: '),
    ({'flavorRef': 'http://nova/flavors/'}, 'server.flavorRef: '),
    ({'max_count': 0}, 'server.max_count: it must be a whole number of 1 or more'),
    ({'max_count': -1}, 'server.max_count: '), ({'max_count': True}, 'server.max_count: '),
    ({'min_count': None}, 'server.min_count: '), ({'min_count': '٣'}, 'server.min_count: '),
    ({'min_count': '9' * 5000}, 'server.min_count: '), ({'min_count': 1.5}, 'server.min_count: '),
    ({'max_count': 101}, 'server.max_count: at most 100 servers'),
    ({'min_count': 10 ** 9}, 'server.max_count: at most 100 servers'),
    ({'metadata': None}, 'server.metadata: '), ({'metadata': []}, 'server.metadata: ')],
    ids=lambda value: str(value)[:40])
def test_a_server_that_cannot_be_is_refused_before_there_is_a_lease(fields, said):
    with pytest.raises(errors.BadBootRequest, match=rf'^{said}'):
        boots.lease_of(server(**fields), END)


def lease(*ids, is_later=False):
    return lease_client.CreatedLease('l1', ids, is_later)


def test_nova_gets_the_hint_reservation_instead_of_the_lease_hints():
    request = {'server': server(metadata={'a': 'b'}), FIRST: {
        'reserved': True, 'lease_params': END, 'same_host': ['x']}}
    before = json.dumps(request)
    assert boots.leased(request, lease('r1')) == {
        'server': server(metadata={'a': 'b', 'climate:lease_id': 'l1',
                                   'climate:status': 'ACTIVE'}),
        FIRST: {'same_host': ['x'], 'reservation': 'r1'}}
    assert json.dumps(request) == before


def test_a_server_whose_lease_starts_later_says_so():
    found = boots.leased({'server': server()}, lease('r1', is_later=True))
    assert found['server']['metadata']['climate:status'] == 'RESERVED'
    assert found[FIRST] == {'reservation': 'r1'}


def test_several_servers_name_all_their_reservations():
    assert boots.leased({'server': server()}, lease('r1', 'r2'))[FIRST] == {
        'reservation': ['r1', 'r2']}


def test_the_key_that_nova_reads_names_the_reservation():
    found = boots.leased({'server': server(), SECOND: {'reserved': True}}, lease('r1'))
    assert (found.get(FIRST), found[SECOND]) == (None, {'reservation': 'r1'})
    found = boots.leased({'server': server(), FIRST: {}, SECOND: {'reserved': True}}, lease('r1'))
    assert (found[FIRST], found.get(SECOND)) == ({'reservation': 'r1'}, None)
