# SPDX-License-Identifier: Apache-2.0
"""The availability command, run as a user runs it."""
import json

import pytest
from unit.client import canned

URL = f'{canned.URL}/availability'
GROUP = {'count': 2, 'properties': {'vcpus': 16, 'gpu': 'A100'}}
OFFER = {
    'id': None, 'held_until': None, 'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T14:00:00Z',
    'last_start': '2030-05-01T13:00:00Z', 'reservations': [
        {'resource_type': 'physical:host', 'count': 2, 'resources': [GROUP]}]}
LATER = {**OFFER, 'start': '2030-05-01T13:00:00Z', 'end': '2030-05-01T15:00:00Z'}
ANSWER = {'offers': [OFFER, LATER], 'reasons': [], 'alternatives': [], 'complete': True}
WORDS = ('availability', '--hosts', '1-2', '--require', 'gpu=A100', '--duration', '2h')


@pytest.fixture
def free(requests_mock):
    """A service that has two offers."""
    requests_mock.get(URL, json=ANSWER)
    requests_mock.post(URL, status_code=201, json={**ANSWER, 'offers': [
        {**OFFER, 'id': 'an-offer', 'held_until': '2030-05-01T11:02:00Z'}]})
    return requests_mock


def test_the_command_sends_a_query_and_shows_the_offers(run, free):
    outcome = run(*WORDS, '--earliest', '2030-05-01 12:00', '--latest', '2030-05-02 12:00',
                  '--limit', '2')
    assert outcome.code == 0, outcome.err
    query = {name: value for name, [value] in free.last_request.qs.items()}
    assert json.loads(query.pop('reservations')) == [{
        'resource_type': 'physical:host', 'min': 1, 'max': 2,
        'resource_properties': json.dumps(['==', '$gpu', 'a100'])}]
    assert query == {'duration': '7200', 'earliest': '2030-05-01t12:00:00z',
                     'latest': '2030-05-02t12:00:00z', 'limit': '2'}
    assert '2030-05-01 12:00 UTC' in outcome.out
    assert '2 x physical:host' in outcome.out
    assert '2 with vcpus=16 gpu=A100' in outcome.out
    assert '====' not in outcome.out


def test_programs_get_what_the_wire_has(run, free):
    found = run(*WORDS, '--timeline', '-f', 'json').json
    assert [each['start'] for each in found] == [OFFER['start'], LATER['start']]
    assert found[0]['reservations'] == OFFER['reservations']


def test_a_timeline_shows_each_offer_and_how_far_it_may_be_moved(run, free):
    lines = run(*WORDS, '--timeline').out.splitlines()[-4:]
    assert lines == [
        '2030-05-01 12:00 UTC to 2030-05-01 15:00 UTC',
        ' 1 |' + '=' * 40 + '.' * 20 + '|', ' 2 |' + ' ' * 20 + '=' * 40 + '|',
        '   = the lease   . free, if the lease starts later']


@pytest.mark.parametrize(('words', 'count'), [(['--hold'], 1), (['--hold', '3'], 3)])
def test_a_held_offer_is_shown_with_its_id(run, free, words, count):
    outcome = run(*WORDS, *words)
    assert outcome.code == 0, outcome.err
    assert free.last_request.method == 'POST'
    assert free.last_request.json()['hold'] == count
    assert free.last_request.json()['duration'] == 7200
    assert 'an-offer' in outcome.out
    assert '2030-05-01 11:02 UTC' in outcome.out


def test_the_command_fails_with_alternatives_if_none_fits(run, requests_mock):
    requests_mock.get(URL, json={
        'offers': [], 'reasons': ['3 hosts are enrolled.'], 'complete': False, 'alternatives': [
            {'kind': 'fewer', 'start': OFFER['start'], 'end': OFFER['end'], 'duration': 7200,
             'counts': [1, 2]}]})
    outcome = run(*WORDS)
    assert (outcome.code, outcome.out) == (1, '')
    assert outcome.err.splitlines() == [
        'There is no time at which the reservations fit.', '3 hosts are enrolled.',
        'Fewer: 1 and 2 for 2h from 2030-05-01 12:00 UTC.',
        'The search stopped at its limit: give an earlier --latest.',
        'Hint: Take one of these numbers and times, or change --require or --duration.']


@pytest.mark.parametrize(('words', 'told'), [
    (['availability', '--duration', '2h'], 'What to reserve?'),
    (['availability', '--hosts', '2'], '--duration'),
    (['availability', '--hosts', 'two', '--duration', '2h'], 'is not a count'),
    ([*WORDS, '--hold', '0'], 'is not a number of at least 1'),
    ([*WORDS, '--latest', 'someday'], 'is not a time')])
def test_wrong_words_are_told_before_anything_is_asked(run, free, words, told):
    outcome = run(*words)
    assert outcome.code in (1, 2)
    assert told in outcome.err
    assert not free.called


def test_an_answer_of_somebody_else_is_told_as_such(run, requests_mock):
    requests_mock.get(URL, json={'hello': 'world'})
    outcome = run(*WORDS)
    assert outcome.code == 1
    assert 'is the address right?' in ' '.join(outcome.err.split())


def test_offers_show_their_price_if_there_is_a_price_book(run, requests_mock):
    requests_mock.get(URL, json={**ANSWER, 'offers': [
        {**OFFER, 'price': {'amount': '7.00', 'currency': 'EUR', 'lines': []}}, LATER]})
    outcome = run('availability', '--hosts', '1', '--duration', '1h')
    assert outcome.code == 0, outcome.err
    assert '| 7.00 EUR |' in outcome.out
