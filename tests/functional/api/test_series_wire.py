# SPDX-License-Identifier: Apache-2.0
"""Series on the wire: bodies, answers, refusals, and what other projects may not see."""
import pytest
from support import builders

V = '1.1'
URL = '/v1/series'
HOSTS = [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]
BODY = {'name': 'lab', 'start': '2030-05-06 09:00', 'duration': '8h',
        'repeat': 'every monday until 2030-05-31', 'time_zone': 'Europe/Berlin',
        'reservations': HOSTS}


@pytest.fixture
def created(api, manager):
    """Return a function that creates a series with changes of BODY, or is refused."""
    manager.enrol(1)

    def create(query='', **changes):
        return api.post(URL + query, {**BODY, **changes}, version=V)
    return create


def _one(api, series, **options):
    return api.get(f'{URL}/{series["id"]}', version=V, **options)


def test_a_series_is_created_listed_and_shown(api, created):
    answer = created()
    assert answer.status_int == 201, answer.json
    series = answer.json['series']
    assert answer.headers['Location'].endswith(f'/v1/series/{series["id"]}')
    assert (series['start'], series['time_zone'], series['duration']) == (
        '2030-05-06 09:00:00', 'Europe/Berlin', 8 * 3600)
    assert (series['repeat'], series['status']) == (
        'FREQ=WEEKLY;BYDAY=MO;UNTIL=20300531', 'active')
    assert [each['start'] for each in series['occurrences']] == [
        f'2030-05-{day:02}T07:00:00Z' for day in (6, 13, 20, 27)]
    assert {each['status'] for each in series['occurrences']} == {'booked'}
    assert series['reservations'][0]['max'] == 1
    assert _one(api, series).json['series'] == series
    [listed] = api.get(URL, version=V).json['series']
    assert listed == {name: value for name, value in series.items() if name != 'occurrences'}


def test_a_key_makes_one_series_and_no_lease(api, manager):
    manager.enrol(1)

    def send(path, body):
        return api.call('POST', path, body, version=V, headers={'Idempotency-Key': 'k'})
    first, again = (send(URL, BODY) for _ in range(2))
    assert (first.status_int, again.status_int) == (201, 201)
    assert first.json['series'] == again.json['series']
    assert first.headers['Location'] == again.headers['Location']
    lease = {'name': 'x', 'duration': '1h', 'reservations': HOSTS}
    for path, body in ((URL, {**BODY, 'name': 'other'}), ('/v1/leases', lease)):
        answer = send(path, body)
        assert (answer.status_int, answer.json['error_name']) == (422, 'key_reused')
    wrong = api.call('POST', URL, BODY, version=V, headers={'Idempotency-Key': 'k' * 256})
    assert wrong.status_int == 400 and 'Idempotency-Key' in wrong.json['error_message']


def test_leases_name_their_series_from_1_1_on(api, created):
    series = created().json['series']
    lease_id = series['occurrences'][0]['lease_id']
    leases = api.get(f'/v1/leases?series_id={series["id"]}', version=V).json['leases']

    assert {lease['id'] for lease in leases} == {
        each['lease_id'] for each in series['occurrences']}
    assert {lease['series_id'] for lease in leases} == {series['id']}
    assert api.get('/v1/leases?series_id=x', version=V).json['leases'] == []
    shown = api.get(f'/v1/leases/{lease_id}', version='1.0').json['lease']
    assert 'series_id' not in shown
    assert len(api.get('/v1/leases', version='1.0').json['leases']) == 4


def test_a_dry_run_shows_each_occurrence_and_creates_nothing(api, created):
    api.post('/v1/leases', {'name': 'other', 'start': '2030-05-13 12:00', 'duration': '1h',
                            'reservations': HOSTS}, version=V)
    answer = created('?dry_run=true', repeat='every monday until 2030-12-31')

    assert answer.status_int == 200
    occurrences = answer.json['series']['occurrences']
    assert len(occurrences) == 35
    assert [each['fits'] for each in occurrences[:3]] == [True, False, True]
    assert occurrences[0]['counts'] == [1]
    assert occurrences[0]['resources'] is None
    assert 'Only 0 of 1 hosts are free' in occurrences[1]['problem']
    assert occurrences[1]['nearest'] == '2030-05-13T13:00:00Z'
    assert api.get(URL, version=V).json['series'] == []


def test_administrators_see_the_names_of_resources_in_a_dry_run(api, created):
    answer = api.post(f'{URL}?dry_run=true', BODY, version=V, token=builders.ADMIN)

    assert created('?dry_run=true').status_int == 200
    assert answer.json['series']['occurrences'][0]['resources'] == [['compute-1']]


def test_all_or_nothing_names_the_occurrences_that_do_not_fit(api, created):
    api.post('/v1/leases', {'name': 'other', 'start': '2030-05-13 12:00', 'duration': '1h',
                            'reservations': HOSTS}, version=V)
    answer = created(mode='all_or_nothing')

    assert (answer.status_int, answer.json['error_name']) == (409, 'series_conflict')
    [refused] = answer.json['details']['occurrences']
    assert (refused['number'], refused['nearest']) == (2, '2030-05-13T13:00:00+00:00')
    assert 'number 2 on 2030-05-13 07:00 UTC' in answer.json['error_message']


def test_a_start_with_an_offset_becomes_local(api, created):
    assert created(start='2030-05-06T07:00:00Z').json['series']['start'] == '2030-05-06 09:00:00'
    assert created('?dry_run=true', start='+1h').json['series']['start'].startswith('2030-05-06')


@pytest.mark.parametrize(('changes', 'field'), [
    ({'repeat': 'every monday'}, 'repeat'), ({'repeat': 'FREQ=SECONDLY;COUNT=3'}, 'repeat'),
    ({'repeat': 'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1'}, 'repeat'),
    ({'repeat': 'now and then'}, 'repeat'), ({'repeat': ''}, 'repeat'),
    ({'repeat': 'every day\0 for 3 times'}, 'repeat'),
    ({'time_zone': 'Mars/Olympus'}, 'time_zone'), ({'time_zone': '../../etc/passwd'}, 'time_zone'),
    ({'start': 'soon'}, 'start'), ({'start': '2029-05-06 09:00'}, 'start'),
    ({'start': '9998-12-31 09:00'}, 'start'), ({'start': '1970-01-01 00:00'}, 'start'),
    ({'duration': '0'}, 'duration'), ({'duration': '9d'}, 'repeat'),
    ({'duration': 10 ** 12}, 'duration'),
    ({'mode': 'maybe'}, 'mode'), ({'same_resources': 'yes'}, 'same_resources'),
    ({'reservations': []}, 'reservations'), ({'name': ' '}, 'name'),
    ({'acquire': {'type': 'wait'}}, 'body'),
    ({'reservations': [{'resource_type': 'physical:host', 'min': 2, 'max': 1}]}, 'max')])
def test_a_bad_series_is_refused_with_the_name_of_the_field(created, changes, field):
    answer = created(**changes)
    assert answer.status_int == 400, answer.json
    assert answer.json['details']['field'] == field, answer.json


def test_an_unknown_type_is_refused(created):
    answer = created(reservations=[{'resource_type': 'physical:moon'}])
    assert answer.status_int == 400


def test_all_occurrences_are_changed(api, created):
    series = created().json['series']
    answer = api.put(f'{URL}/{series["id"]}?scope=all', {'time': '10:30', 'duration': '2h'},
                     version=V)

    assert answer.status_int == 200, answer.json
    assert [each['start'][11:16] for each in answer.json['series']['occurrences']] == ['08:30'] * 4


def test_the_following_occurrences_become_a_series(api, created):
    series = created().json['series']
    preview = api.put(f'{URL}/{series["id"]}?scope=following&occurrence=3&dry_run=true',
                      {'time': '10:30'}, version=V).json['series']
    assert [each['fits'] for each in preview['occurrences']] == [True, True]
    following = api.put(f'{URL}/{series["id"]}?scope=following&occurrence=3', {'time': '10:30'},
                        version=V).json['series']

    assert following['id'] != series['id']
    assert len(following['occurrences']) == len(_one(api, series).json['series']['occurrences'])
    assert following['start'] == '2030-05-20 10:30:00'


def test_one_occurrence_is_changed_alone(api, created):
    series = created().json['series']
    answer = api.put(f'{URL}/{series["id"]}?scope=this&occurrence=2', {'name': 'alone'}, version=V)
    assert answer.status_int == 200, answer.json
    leases = api.get(f'/v1/leases?series_id={series["id"]}', version=V).json['leases']

    assert [lease['name'] for lease in leases] == ['lab', 'alone', 'lab', 'lab']


def test_occurrences_are_cancelled_by_scope(api, created):
    series = created().json['series']
    path = f'{URL}/{series["id"]}'
    for query, left in (('scope=this&occurrence=1', 3), ('scope=following&occurrence=4', 2),
                        ('scope=all', 0)):
        assert api.delete(f'{path}?{query}', version=V).status_int == 204
        leases = api.get(f'/v1/leases?series_id={series["id"]}', version=V).json['leases']
        assert len(leases) == left
    again = api.delete(f'{path}?scope=all', version=V)
    assert (again.status_int, again.json['error_name']) == (409, 'series_over')


@pytest.mark.parametrize(('query', 'field'), [
    ('', 'scope'), ('scope=some', 'scope'), ('scope=this', 'occurrence'),
    ('scope=following&occurrence=x', 'occurrence'), ('scope=this&occurrence=0', 'occurrence'),
    ('scope=all&occurrence=1', 'occurrence'), ('scope=this&occurrence=1001', 'occurrence'),
    ('scope=all&colour=red', 'colour')])
def test_a_bad_scope_is_refused(api, created, query, field):
    path = f'{URL}/{created().json["series"]["id"]}?{query}'
    for answer in (api.put(path, {'time': '10:00'}, version=V), api.delete(path, version=V)):
        assert (answer.status_int, answer.json['details']['field']) == (400, field)


@pytest.mark.parametrize('time', ['25:00', '10', 'noon', '10:00:99', '', '１0:00'])
def test_a_bad_time_of_day_is_refused(api, created, time):
    path = f'{URL}/{created().json["series"]["id"]}?scope=all'
    answer = api.put(path, {'time': time}, version=V)
    assert (answer.status_int, answer.json['details']['field']) == (400, 'time')


def test_an_occurrence_that_the_rule_does_not_have_is_not_found(api, created):
    path = f'{URL}/{created().json["series"]["id"]}?scope=this&occurrence=5'
    for answer in (api.put(path, {'time': '10:00'}, version=V), api.delete(path, version=V)):
        assert (answer.status_int, answer.json['error_name']) == (404, 'occurrence_not_found')


def test_other_projects_do_not_see_a_series(api, created):
    series = created().json['series']
    path = f'{URL}/{series["id"]}'
    for answer in (api.get(path, version=V, token=builders.STRANGER),
                   api.put(f'{path}?scope=all', {'name': 'x'}, version=V, token=builders.STRANGER),
                   api.delete(f'{path}?scope=all', version=V, token=builders.STRANGER)):
        assert (answer.status_int, answer.json['error_name']) == (404, 'series_not_found')
    assert api.get(URL, version=V, token=builders.STRANGER).json['series'] == []
    assert api.get(f'{URL}?all_projects=true', version=V, token=builders.STRANGER
                   ).status_int == 403
    assert len(api.get(f'{URL}?all_projects=true', version=V, token=builders.ADMIN
                       ).json['series']) == 1


def test_a_list_of_series_has_pages(api, created):
    for hour in (1, 10, 19):
        created(start=f'2030-05-06 {hour:02}:00', duration='1h')
    first = api.get(f'{URL}?limit=2', version=V).json
    rest = api.get(f'{URL}?limit=2&marker={first["series"][-1]["id"]}', version=V).json

    assert (len(first['series']), len(rest['series'])) == (2, 1)
    assert 'series_links' in first
    assert 'series_links' not in rest
    assert api.get(f'{URL}?marker=x', version=V).status_int == 404
    assert api.get(f'{URL}?status=cancelled', version=V).json['series'] == []
    assert api.get(f'{URL}?status=gone', version=V).status_int == 400


def test_rest_1_0_has_no_series(api):
    assert api.get(URL, version='1.0').status_int == 404
    assert api.post(URL, BODY, version='1.0').status_int == 404
