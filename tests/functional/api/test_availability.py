# SPDX-License-Identifier: Apache-2.0
"""GET /v1/availability: clients ask over HTTP when resources are free."""
import json
from urllib import parse

import pytest
from support import builders

READER = 'rita:demo:reader'
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@pytest.fixture
def ask(api):
    """Asks with the fields of a query, those that are no text as JSON; returns the answer."""
    def get(token=builders.DEMO, version='1.1', **fields):
        asked = {'reservations': [HOST], 'duration': '2h', **fields}
        query = parse.urlencode({name: each if isinstance(each, str) else json.dumps(each)
                                 for name, each in asked.items() if each is not None})
        return api.get(f'/v1/availability?{query}', token=token, version=version)
    return get


def test_an_answer_has_times_and_properties_of_the_hosts(ask, manager):
    manager.enrol(2)
    manager.book()
    manager.run()
    answer = ask(reservations=[{**HOST, 'max': 2}])
    assert answer.status_int == 200
    small = {'vcpus': 16, 'memory_mb': 65536, 'local_gb': 500}
    large = {'vcpus': 32, 'memory_mb': 131072, 'local_gb': 1000}
    month = '2030-05-31T12:00:00Z'
    assert answer.json == {
        'earliest': '2030-05-01T12:00:00Z', 'latest': '2030-05-31T14:00:00Z', 'duration': 7200,
        'complete': True,
        'offers': [
            {'id': None, 'held_until': None, 'start': '2030-05-01T12:00:00Z',
             'end': '2030-05-01T14:00:00Z', 'last_start': month, 'reservations': [
                 {'resource_type': 'physical:host', 'count': 1,
                  'resources': [{'count': 1, 'properties': large}]}]},
            {'id': None, 'held_until': None, 'start': '2030-05-01T13:00:00Z',
             'end': '2030-05-01T15:00:00Z', 'last_start': month, 'reservations': [
                 {'resource_type': 'physical:host', 'count': 2, 'resources': [
                     {'count': 1, 'properties': small}, {'count': 1, 'properties': large}]}]}],
        'considered': [{'resource_type': 'physical:host', 'pool': 'host', 'wanted': 1,
                        'enrolled': 2, 'matching': 2, 'free': 2, 'free_at_earliest': 1,
                        'values': {}, 'criteria': []}],
        'reasons': [], 'alternatives': []}


def test_an_offer_can_be_leased_in_the_words_of_the_answer(ask, api, manager):
    manager.enrol(1)
    manager.book()
    [offer] = ask(earliest='2030-05-01 12:30').json['offers']
    body = {'name': 'x', 'start': offer['start'], 'end': offer['end'], 'reservations': [HOST]}
    assert api.post('/v1/leases', body, version='1.1').status_int == 201
    for earliest in ('2030-05-01 12:30', '+30m'):
        assert ask(earliest=earliest).json['offers'][0]['start'] == '2030-05-01T15:00:00Z'


def test_an_answer_without_offers_has_reasons_and_alternatives(ask, manager):
    manager.enrol(3)
    answer = ask(reservations=[{**HOST, 'min': 2, 'max': 2,
                                'resource_properties': ['>', '$vcpus', 32]}]).json
    assert answer['offers'] == []
    assert answer['reasons'] == [
        'physical:host: 3 hosts are enrolled, 1 with vcpus > 32; 2 wanted, at the best time 1 '
        'fit. vcpus has the values 16, 32, 64.']
    assert answer['considered'][0]['criteria'] == [
        {'criterion': 'vcpus > 32', 'met_by': 1, 'remaining': 1}]
    assert answer['alternatives'] == [
        {'kind': 'fewer', 'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T14:00:00Z',
         'duration': 7200, 'counts': [1]}]


def test_admins_alone_read_the_names_of_hosts(ask, manager):
    manager.enrol(1)
    for token, named in ((builders.DEMO, False), (READER, False), (builders.ADMIN, True)):
        answer = ask(token=token)
        assert ('compute-1' in answer.text) == named
    [group] = answer.json['offers'][0]['reservations'][0]['resources']
    assert group['names'] == ['compute-1']


def test_at_1_0_nothing_is_told(ask):
    answer = ask(version='1.0')
    assert answer.status_int == 404
    assert 'REST 1.1' in answer.json['error_message']


DEEP = '[' * 10000 + ']' * 10000


@pytest.mark.parametrize(('fields', 'named'), [
    ({'reservations': None}, 'reservations'), ({'duration': None}, 'duration'),
    ({'reservations': ''}, 'reservations'), ({'reservations': 'physical:host'}, 'reservations'),
    ({'reservations': DEEP}, 'reservations'), ({'reservations': '[NaN]'}, 'reservations'),
    ({'reservations': {}}, 'reservations'), ({'reservations': []}, 'reservations'),
    ({'reservations': [7]}, 'reservations.0'),
    ({'reservations': [{'min': 1}]}, 'resource_type (in reservations.0)'),
    ({'reservations': [{'resource_type': 'a\0b'}]}, 'resource_type'),
    ({'reservations': [{**HOST, 'min': 'two'}]}, 'min'),
    ({'reservations': [{**HOST, 'colour': 'red'}]}, 'Known are'),
    ({'reservations': [{**HOST, 'resource_type': 'nothing'}]}, 'nothing'),
    ({'reservations': [{**HOST, 'resource_properties': ['>', '$wings', 2]}]}, 'wings'),
    ({'duration': '0'}, 'duration'), ({'duration': '-5'}, 'duration'),
    ({'duration': 'soon'}, 'duration'), ({'duration': '2h\x07'}, 'duration'),
    ({'duration': '9' * 99}, 'duration'),
    ({'earliest': 'tomorrow'}, 'earliest'), ({'earliest': '2030-04-01 12:00'}, 'earliest'),
    ({'latest': 'now'}, 'latest'), ({'latest': '2030-05-01 13:00'}, 'duration'),
    ({'latest': '2099-05-01 13:00'}, 'latest'), ({'earliest': '9998-12-31 23:00'}, 'latest'),
    ({'limit': '0'}, 'limit'), ({'limit': '21'}, 'limit'), ({'limit': 'all'}, 'limit'),
    ({'limit': '9' * 99}, 'limit'), ({'limit': ''}, 'limit'), ({'colour': 'red'}, 'colour')],
    ids=str)
def test_a_malformed_parameter_is_refused_by_name(ask, manager, fields, named):
    manager.enrol(1)
    answer = ask(**fields)
    assert answer.status_int == 400
    assert named in answer.json['error_message']
    assert len(answer.json['error_message']) < 600


@pytest.mark.parametrize(('duration', 'words'), [
    ('2h', '2h'), ('36h', '1d12h'), ('PT90S', '1m30s')])
def test_a_duration_beyond_its_limits_is_shown_as_people_write_one(ask, manager, duration, words):
    manager.enrol(1)
    answer = ask(duration=duration, latest='2030-05-01 12:01')
    assert answer.json['error_message'] == (
        f'duration: {words} does not fit between the earliest moment, 2030-05-01 12:00:00 UTC, and '
        'the latest, 2030-05-01 12:01:00 UTC.')


def test_a_repeated_parameter_is_refused(api):
    answer = api.get('/v1/availability?duration=1h&duration=2h', version='1.1')
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('duration: it is given more than once')


@pytest.mark.parametrize('path', ['/v1/availability/', '/v1/availability/7',
                                  '/v1/availability?duration=%FF&reservations=[]'])
def test_an_odd_url_is_no_fault_of_the_service(api, path):
    assert api.get(path, version='1.1').status_int in (400, 404, 405)


@pytest.fixture
def hold(api):
    """Asks in a body for what is to be held; returns the answer."""
    def post(token=builders.DEMO, **fields):
        return api.post('/v1/availability', {'reservations': [HOST], 'duration': '2h', **fields},
                        token=token, version='1.1')
    return post


def test_an_offer_is_held_and_a_lease_takes_it(hold, ask, api, manager):
    manager.enrol(1)
    answer = hold()
    assert answer.status_int == 201
    offer = answer.json['offers'][0]
    assert offer['held_until'] == '2030-05-01T12:02:00Z'
    assert offer['reservations'][0]['resources'][0]['count'] == 1
    assert ask(token=builders.STRANGER).json['offers'][0]['start'] == '2030-05-01T14:00:00Z'
    made = api.post('/v1/leases', {'name': 'x', 'offer': offer['id']}, version='1.1')
    assert made.status_int == 201
    assert made.json['lease']['reservations'][0]['resources'] == ['1']
    assert (made.json['lease']['start'], made.json['lease']['end']) == (
        offer['start'], offer['end'])


def test_offers_are_held_beside_each_other_where_there_is_room(hold, manager):
    manager.enrol(2)
    manager.book()
    two = {**HOST, 'max': 2}
    # At noon one host is free and from one o'clock on both, of which the first offer has one.
    found = hold(reservations=[two], hold=2).json['offers']
    assert [each['id'] is not None for each in found] == [True, True]
    assert [each['reservations'][0]['resources'][0]['count'] for each in found] == [1, 1]
    [first, *others] = hold(earliest='2030-05-02 12:00', reservations=[HOST], hold=1).json['offers']
    assert first['id'] is not None
    assert others == []
    both = {**HOST, 'min': 2, 'max': 2}
    [together] = hold(earliest='2030-05-03 12:00', reservations=[both], limit=1).json['offers']
    assert together['id'] is not None


def test_an_offer_that_nobody_took_is_offered_again(hold, ask, manager):
    manager.enrol(1)
    hold()
    manager.clock.advance(builders.seconds(121))
    assert ask().json['offers'][0]['start'] == '2030-05-01T12:02:01Z'


def test_a_project_holds_no_more_than_it_may(hold, conf, manager):
    conf.set_override('offers_per_project', 1, group='api')
    manager.enrol(3)
    assert hold().status_int == 201
    answer = hold()
    assert (answer.status_int, answer.json['error_name']) == (409, 'too_many_offers')


def test_offers_are_not_held_if_switched_off_or_none_fits(hold, conf, manager):
    manager.enrol(1)
    answer = hold(reservations=[{**HOST, 'min': 2, 'max': 2}])
    assert (answer.status_int, answer.json['offers']) == (200, [])
    conf.set_override('offer_seconds', 0, group='api')
    answer = hold()
    assert (answer.status_int, answer.json['offers'][0]['id']) == (200, None)


@pytest.mark.parametrize(('fields', 'named'), [
    ({'hold': 0}, 'hold'), ({'hold': 6}, 'hold'), ({'hold': 'one'}, 'hold'),
    ({'limit': '5'}, 'limit'), ({'reservations': '[]'}, 'reservations'), ({'name': 'x'}, 'name')],
    ids=str)
def test_a_body_that_cannot_be_read_is_refused_by_name(hold, fields, named):
    answer = hold(**fields)
    assert answer.status_int == 400
    assert named in answer.json['error_message']
