# SPDX-License-Identifier: Apache-2.0
"""Wrong bodies and URLs: each is refused with the name of the wrong field, never a 500."""
import json

import pytest
from support import builders

HOSTS = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@pytest.fixture
def refused(api, manager):
    """Tries a body as a lease at REST 1.1; returns the message of the 400."""
    manager.enrol(1, gpu='A100', memory_kind='DDR5')

    def try_it(status=400, **changes):
        body = {'name': 'x', 'duration': '1h', 'reservations': [HOSTS], **changes}
        answer = api.post('/v1/leases', body, version='1.1')
        assert answer.status_int == status, answer.body
        assert api.get('/v1/leases').json == {'leases': []}
        return answer.json['error_message']
    return try_it


@pytest.mark.parametrize(('raw', 'told'), [
    (b'', 'not JSON'), (b'{', 'not JSON'), (b'[]', 'JSON object'), (b'"x"', 'JSON object'),
    (b'null', 'JSON object'), (b'{"name": NaN}', 'NaN'), (b'{"name": -Infinity}', 'Infinity'),
    (b'{"name": 1e999}', '1e999'), (b'{"name": %s}' % (b'9' * 5000), 'digits'),
    (b'\xff\xfe{}', 'utf-8'), (b'\xef\xbb\xbf{}', 'BOM'), (b'[' * 100000, 'not JSON'),
    (b'{"a":' * 900 + b'1' + b'}' * 900, 'deep'), (b'{"a":' * 33 + b'1' + b'}' * 33, 'deep'),
    (b'{"a":' * 100000, 'not JSON'), (b'{"name": "\\ud800"}', 'U+D800'),
    (b'{"name": "a", "name": "b"}', 'the key "name" is given twice'),
    (b'{"a": [{"\\u0007": 1, "b": 2, "\\u0007": 1}]}', 'the key "\\u0007" is given twice'),
    (b'{"\\u0007": 1}', 'U+0007'), (b'{"a": ["\\u0000"]}', 'U+0000')],
    ids=lambda value: repr(value[:12]))
def test_a_body_that_is_no_json_object_is_refused(api, raw, told):
    for version, path in (('1.0', '/v1/leases'), ('1.1', '/v1/leases'), ('1.1', '/v1/os-hosts')):
        answer = api.post(path, raw=raw, version=version, token=builders.ADMIN)
        assert answer.status_int == 400
        assert told in answer.json['error_message']


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_body_that_is_too_large_is_refused_as_json(api, version):
    for raw in (b' ' * 10 * 1024 * 1024, b'{"name": "' + b'x' * 1024 * 1024 + b'"}'):
        answer = api.call('POST', '/v1/leases', raw=raw, version=version)
        assert answer.status_int == 413
        assert answer.content_type == 'application/json'
        assert '1048576' in answer.json['error_message']


def test_a_name_that_is_none_is_refused(api):
    for name in (
            '', 'x' * 81, 5, None, [], {}, True, 'a\nb', 'a\tb', 'a\0b',
            'a\x7fb', 'a\x85b', '\ud83d', '\udc00\ud800'):
        lease = api.post('/v1/leases', builders.a_body(reservations=[])).json['lease']
        for answer in (api.post('/v1/leases', builders.a_body(name=name, reservations=[])),
                       api.put(f'/v1/leases/{lease["id"]}', {'name': name})):
            assert answer.status_int == 400
            assert answer.json['error_message'].startswith('name: ')


def test_a_name_in_any_script_comes_back_as_it_was(api):
    for name in (
            'x' * 80, '😀' * 80, 'Ünïcode ½', 'null', '0', '\U0010ffff'):
        lease = api.post('/v1/leases', builders.a_body(name=name, reservations=[])).json['lease']
        assert api.get(f'/v1/leases/{lease["id"]}').json['lease']['name'] == name


@pytest.mark.parametrize('field', ['start', 'end', 'before_end'])
def test_a_moment_that_is_none_is_refused_and_named(api, field):
    for value in (5, True, [], {}, '', 'soon', ' now', '2030-02-30 10:00', '2030-05-01 25:00',
                  '9999-12-31 23:59', '0001-01-01 00:00', '-2030-05-01 14:00', 'x' * 81,
                  '2030-05-01T14:00:00+99:00', '٢٠٣٠-05-01 14:00', '2030-05-01 14:00 '):
        body = {'name': 'x', 'start': '2030-05-01 13:00', 'end': '2030-05-01 15:00', field: value}
        answer = api.post('/v1/leases', body, version='1.1')
        assert answer.status_int == 400, value
        assert field in answer.json['error_message']


@pytest.mark.parametrize('far', ['9999-01-01 00:00', '9998-12-31T23:30:00-01:00',
                                 '1969-12-31 23:59', '9999-12-31T23:59:59-23:59'])
def test_a_moment_that_cannot_be_kept_is_refused_as_such(refused, far):
    told = 'the year must be from 1970 to 9998'
    assert told in refused(end=far)
    assert told in refused(duration='1h', acquire={'type': 'wait', 'not_after': far})


def test_a_duration_that_is_none_is_refused_and_named(refused):
    for value in (0, -1, 1.5, True, None, '', '0', '-5', '1x', 'P', 'PT', 'P1M', '3h 5', '١h',
                  10 ** 30, '9' * 60, '99999999999w', [], {}):
        assert refused(duration=value).startswith('duration: ')


def test_a_duration_that_is_too_long_is_refused_as_such(refused):
    assert 'longer than a century' in refused(duration=10 ** 12)


LAST = '9998-12-31 23:00'


@pytest.mark.parametrize(('duration', 'status'), [
    ('59m', 201), ('1h', 400), ('8h', 400), ('364d', 400), ('365d', 400), ('36600d', 400)])
def test_no_duration_goes_beyond_the_last_year(api, manager, duration, status):
    manager.enrol(2)
    manager.client.create_price_book(builders.an_admin(), None, {
        'currency': 'EUR', 'rates': [{'rate': '0.50'}], 'peak_hours': {
            'timezone': 'Pacific/Auckland', 'windows': [
                {'days': ['fri'], 'from': '00:00', 'to': '24:00', 'percent': '10'}]}})
    body = {'name': 'x', 'start': LAST, 'reservations': [HOSTS]}
    lease = api.post('/v1/leases', {**body, 'duration': '59m'}, version='1.1').json['lease']
    for method, path, sent, good in (
            ('POST', '/v1/leases?dry_run=true', {**body, 'duration': duration}, 200),
            ('PUT', f'/v1/leases/{lease["id"]}?dry_run=true', {'duration': duration}, 200),
            ('PUT', f'/v1/leases/{lease["id"]}', {'duration': duration}, 200),
            ('POST', '/v1/leases', {**body, 'duration': duration}, 201)):
        answer = api.call(method, path, sent, version='1.1')
        assert answer.status_int == (good if status == 201 else status), answer.body
        if status == 400:
            assert answer.json['error_message'].startswith('duration: it goes beyond the years')


@pytest.mark.parametrize('path', [
    '/v1/timeline?start={}', '/v1/utilisation?start={}', '/v1/timeline?start={}&end={}',
    '/v1/usage?end={}', '/v1/energy?end={}', '/v1/forecast?end={}', '/v1/leases?ends_after={}'])
@pytest.mark.parametrize('moment', [
    LAST, '9998-12-31T23:59:59.999999Z', '1970-01-01'])
def test_the_ends_of_the_calendar_are_no_internal_error(api, manager, path, moment):
    manager.enrol(1)
    assert api.get(path.replace('{}', moment), version='1.1',
                   token=builders.ADMIN).status_int in (200, 400)


@pytest.mark.parametrize(('span', 'told'), [
    ({'start': '2030-05-03', 'end': '2030-05-02'},
     'End date must be later than start date. end: 2030-05-02 00:00:00 UTC is not after the start, '
     '2030-05-03 00:00:00 UTC.'),
    ({'duration': '1h', 'before_end': '2030-05-02T12:00Z'},
     'before_end: 2030-05-02 12:00 UTC must lie between the start, 2030-05-01 12:00 UTC, and the '
     'end, 2030-05-01 13:00 UTC.'),
    ({'duration': '1h', 'events': [{'type': 'notify', 'time': '2030-05-02 12:00'}]},
     'events.time: 2030-05-02 12:00 UTC lies after the end, 2030-05-01 13:00 UTC.'),
    ({'start': '2030-05-01T11:00:00Z', 'duration': '5h'},
     'start: 2030-05-01 11:00 UTC lies in the past; it is 2030-05-01 12:00:00 UTC now.')])
def test_a_refused_moment_has_its_field_and_its_zone(api, span, told):
    answer = api.post('/v1/leases', {'name': 'x', 'reservations': [], **span}, version='1.1')
    assert (answer.status_int, answer.json['error_message']) == (400, told)


def test_a_reservation_that_is_none_is_refused_and_named(refused):
    for reservations, told in (
            (None, 'reservations'), ({}, 'reservations'), ('x', 'reservations'),
            ([None], 'reservations.0'),
            ([[]], 'reservations.0'), ([{}], 'resource_type'),
            ([{'resource_type': 5}], 'resource_type'),
            ([{'resource_type': 'nope'}], 'physical:host, virtual:cluster'),
            ([{'resource_type': 'physical:host'}], 'max'), ([HOSTS] * 101, 'at most 100'),
            ([HOSTS] * 1001, 'reservations'), ([{**HOSTS, 'colour': 1}], 'colour'),
            ([{**HOSTS, 'before_end': 'x'}], 'before_end'),
            ([{**HOSTS, 'extra_specs': 5}], 'extra_specs')):
        assert told in refused(reservations=reservations)


def test_a_count_that_is_none_is_refused_and_named(refused):
    for value in (0, -1, 1.5, True, None, '', 'x', [], '1', 10 ** 6 + 1, 10 ** 30):
        assert 'min' in refused(reservations=[{**HOSTS, 'min': value, 'max': 10 ** 6}])


def test_a_count_that_nobody_has_is_a_conflict(refused):
    assert 'of 1000000 hosts' in refused(409, reservations=[{**HOSTS, 'min': 10 ** 6,
                                                            'max': 10 ** 6}])


@pytest.mark.parametrize(('criteria', 'told'), [
    ('x', '"x"'), ('{', '"{"'), ('{}', '{}'), ('["=="]', '["=="]'), ('[]]', '"[]]"'),
    ('["==", "$gpu"]', 'three items'), ('["==", "gpu", "1"]', 'begins with $'),
    ('["~", "$gpu", "1"]', 'begin with one of'), ('["and"]', '"and" takes'),
    ('["and", []]', 'list is expected'), ('["not"]', 'exactly one'), ('["in", "$gpu"]', '"in"'),
    ('["==", "$gpu", {}]', '{}'), ('["==", "$gpu", NaN]', 'NaN'), ('["==", "$", "1"]', '128'),
    ('["==", "$trait:X", "maybe"]', 'required'), ('["==", "$gpu", "\\u0000"]', 'no value'),
    ('["not", ' * 20 + '["==", "$gpu", "1"]' + ']' * 20, '16 deep'), ('[' * 5000, 'not JSON'),
    (json.dumps(['or', *[['==', '$gpu', '1']] * 201]), '200 comparisons'),
    ('["==", "$gpu", "%s"]' % ('x' * 65536), '65536'), (5, 'resource_properties'),
    ({'a': 1}, 'resource_properties'), (['==', '$gpu', ['x']], 'no value')],
    ids=lambda value: str(value)[:20])
def test_criteria_that_cannot_be_read_are_refused_with_their_part(refused, criteria, told):
    for name in ('resource_properties', 'hypervisor_properties'):
        message = refused(reservations=[{**HOSTS, name: criteria}])
        assert told.replace('resource_properties', name) in message


def test_criteria_about_unknown_names_tell_the_near_ones(refused):
    for criteria, told in (
            (['==', '$gpuu', '1'], 'Known names: gpu'), (['==', '$memory', '1'], 'memory_'),
            (['=', '$region', 'other'], 'region RegionOne only')):
        message = refused(reservations=[{**HOSTS, 'resource_properties': criteria}])
        assert told in message


def test_an_idempotency_key_that_is_none_is_refused(api):
    for key in (
            '', 'x' * 256, 'é', '\x7f'):
        answer = api.post('/v1/leases', {'name': 'x', 'duration': '1h'}, version='1.1',
                          headers={'Idempotency-Key': key})
        assert answer.status_int == 400
        assert 'Idempotency-Key' in answer.json['error_message']


def test_an_etag_that_is_none_of_ours_matches_nothing(api):
    for match in (
            'x', '', '"-1"', '"1", "0"', '"99999999999999999999"', '٣'):
        lease = api.post('/v1/leases', builders.a_body(reservations=[])).json['lease']
        answer = api.put(f'/v1/leases/{lease["id"]}', {'name': 'y'}, version='1.1',
                         headers={'If-Match': match})
        assert answer.status_int == 412


@pytest.mark.proof
def test_an_id_that_is_nonsense_is_not_found(api):
    for part in (
            'x' * 5000, '%F0%9F%98%80', '..', '%2e%2e', 'a.b.c', "'--", '%25',
            '%20', 'new', 'get_all', '_lookup', '-1', '0', '9' * 30,
            '%C2%B2', '*', '%0a'):
        for path in (f'/v1/leases/{part}', f'/v1/os-hosts/{part}',
                     f'/v1/os-hosts/{part}/allocation', f'/v1/resources/{part}',
                     f'/v1/resources/{part}/7', f'/v1/resources/host/{part}',
                     f'/v1/resources/host/{part}/allocation'):
            for version in ('1.0', '1.1') if '/resources/' in path else ('1.0',):
                answer = api.get(path, token=builders.ADMIN, version=version)
                assert answer.status_int == 404
                assert answer.content_type == 'application/json'


def test_an_id_with_something_behind_it_is_not_found(api):
    lease = api.post('/v1/leases', builders.a_body(reservations=[])).json['lease']
    for behind in ('x', '%20', '.png', '%00', '/edit'):
        for method in ('GET', 'PUT', 'DELETE'):
            answer = api.call(method, f'/v1/leases/{lease["id"]}{behind}', {'name': 'y'})
            assert answer.status_int in (400, 404, 405)
    assert api.get(f'/v1/leases/{lease["id"]}').json['lease']['name'] == 'a lease'


def test_a_url_that_is_no_text_is_refused_as_json(api):
    for url in (
            '/v1/leases/%ff', '/v1/leases/%00', '/v1/leases?name=%ff',
            '/v1/leases?name=%00', '/%ff', '/healthcheck%ff',
            '/v1/os-hosts/allocations?lease_id=a%00'):
        answer = api.get(url, token=builders.ADMIN, version='1.1')
        assert answer.status_int == 400
        assert 'UTF-8' in answer.json['error_message']


def test_a_property_name_that_is_none_is_refused(api, manager):
    manager.enrol(1)
    for name in (
            'gpu type', '', 'a\tb', 'x' * 65, 'created_at', 'region'):
        answer = api.put('/v1/os-hosts/1', {name: 'x'}, token=builders.ADMIN)
        assert answer.status_int == 400


def test_a_property_that_a_lease_relies_on_stays_as_it_is(api, manager):
    [host] = manager.enrol(1, gpu='A100', ssd='yes')
    api.post('/v1/leases', builders.a_body(start='2030-06-01 10:00', end='2030-06-01 12:00',
                                           reservations=[{**HOSTS, 'hypervisor_properties': '',
                                                          'resource_properties':
                                                          '["==", "$gpu", "A100"]'}]))
    for value in ('H100', None):
        answer = api.put(f'/v1/os-hosts/{host.id}', {'gpu': value}, token=builders.ADMIN)
        assert answer.status_int == 409
        assert '"gpu"' in answer.json['error_message']
    for body in ({'gpu': 'A100'}, {'ssd': 'no'}):
        assert api.put(f'/v1/os-hosts/{host.id}', body, token=builders.ADMIN).status_int == 200


@pytest.mark.parametrize('body', [{}, {'private': 'yes'}, {'private': None}, {'private': 1}])
def test_whether_a_property_is_private_is_true_or_false(api, manager, body):
    manager.enrol(1, gpu='A100')
    answer = api.call('PATCH', '/v1/os-hosts/properties/gpu', body, token=builders.ADMIN)
    assert answer.status_int == 400
    assert 'private' in answer.json['error_message']


@pytest.mark.parametrize('nothing', [{}, {'affinity': None}, {
    'affinity': None, 'resource_properties': None, 'vcpus': None}])
def test_a_leased_server_without_its_id_is_refused_whatever_is_null_beside(refused, nothing):
    wish = {'resource_type': 'virtual:instance', 'flavor_id': '2', **nothing}
    message = refused(reservations=[wish])
    assert 'resource_id' in message or 'vcpus' in message


def test_dates_in_the_past_and_ends_before_starts_are_refused(api):
    for span, words in (({'start': '2030-05-01T11:00:00Z', 'duration': '5h'}, 'in the past'),
                        ({'start': '2030-05-03', 'end': '2030-05-02'}, 'later than start date'),
                        ({'end': '2030-05-01T11:00:00Z'}, 'later than start date')):
        answer = api.post('/v1/leases', {'name': 'x', **span}, version='1.1')
        assert answer.status_int == 400
        assert words in answer.json['error_message']
