# SPDX-License-Identifier: Apache-2.0
"""Offers over REST: listed, shown, released, and turned into a lease."""
import pytest
from support import builders

NOON = builders.NOON
BODY = {'name': 'a lease'}
VERSION = {'version': '1.1'}


@pytest.fixture
def offer(manager):
    """An offer of one host for the project demo."""
    manager.enrol(1)
    return manager.hold(builders.a_lease(start=NOON + builders.hours(1)))


def test_an_offer_is_listed_and_shown_with_what_it_is_for(api, offer):
    wanted = {
        'id': offer.id, 'start': '2030-05-01T13:00:00Z', 'end': '2030-05-01T14:00:00Z',
        'held_until': '2030-05-01T12:02:00Z', 'created_at': '2030-05-01T12:00:00Z',
        'reservations': [{'resource_type': 'physical:host', **offer.request[0].request}]}
    assert api.get('/v1/offers', **VERSION).json == {'offers': [wanted]}
    assert api.get(f'/v1/offers/{offer.id}', **VERSION).json == {'offer': wanted}
    assert api.get('/v1/offers', token=builders.STRANGER, **VERSION).json == {'offers': []}


def test_a_lease_is_made_of_an_offer(api, offer):
    answer = api.post('/v1/leases', {**BODY, 'offer': offer.id,
                                     'before_end': '2030-05-01T13:30:00Z'}, **VERSION)
    assert answer.status_int == 201
    lease = answer.json['lease']
    assert (lease['start'], lease['end']) == ('2030-05-01T13:00:00Z', '2030-05-01T14:00:00Z')
    assert lease['reservations'][0]['resources'] == [str(offer.allocations[0].resource_id)]
    again = api.post('/v1/leases', {**BODY, 'offer': offer.id}, **VERSION)
    assert (again.status_int, again.json['error_name']) == (404, 'offer_not_found')


def test_a_key_takes_an_offer_once_and_shows_the_lease_again(api, offer):
    ask = {'headers': {'Idempotency-Key': 'k'}, **VERSION}
    first, second = (api.post('/v1/leases', {**BODY, 'offer': offer.id}, **ask) for _ in range(2))
    assert first.json['lease']['id'] == second.json['lease']['id']


@pytest.mark.parametrize(('name', 'value'), [
    ('start', 'now'), ('end', '2030-05-01 18:00'), ('duration', '1h'), ('reservations', []),
    ('acquire', {'type': 'immediate'})])
def test_fields_that_an_offer_decides_are_refused_with_it(api, offer, name, value):
    answer = api.post('/v1/leases', {**BODY, 'offer': offer.id, name: value}, **VERSION)
    assert (answer.status_int, answer.json['error_name']) == (400, 'bad_field')
    assert f'leave out {name}, or the offer' in answer.json['error_message']
    assert api.get(f'/v1/offers/{offer.id}', **VERSION).status_int == 200


def test_an_offer_that_has_expired_says_so_and_what_to_do(api, manager, offer):
    manager.clock.advance(builders.minutes(2))
    for _ in range(2):
        answer = api.post('/v1/leases', {**BODY, 'offer': offer.id}, **VERSION)
        assert (answer.status_int, answer.json['error_name']) == (409, 'offer_expired')
        assert 'was held until 2030-05-01 12:02:00 UTC. Ask for' in answer.json['error_message']
        manager.expire()
    assert api.get(f'/v1/offers/{offer.id}', **VERSION).status_int == 409


def test_an_offer_is_given_back(api, offer):
    assert api.delete(f'/v1/offers/{offer.id}', **VERSION).status_int == 204
    assert api.delete(f'/v1/offers/{offer.id}', **VERSION).status_int == 404


@pytest.mark.parametrize('token', [builders.STRANGER, builders.ADMIN])
def test_the_offer_of_another_project_is_not_found(api, offer, token):
    asked = {'token': token, **VERSION}
    answers = [api.get(f'/v1/offers/{offer.id}', **asked),
               api.delete(f'/v1/offers/{offer.id}', **asked),
               api.post('/v1/leases', {**BODY, 'offer': offer.id}, **asked)]
    assert [answer.status_int for answer in answers] == [404, 404, 404]


def test_an_offer_in_a_body_of_rest_1_0_is_refused_and_stays(api, offer):
    body = builders.a_body(start='2030-05-01 14:00', end='2030-05-01 15:00', offer=offer.id)
    answer = api.post('/v1/leases', body)
    assert (answer.status_int, answer.json['error_message'][:7]) == (400, 'offer: ')
    assert api.get(f'/v1/offers/{offer.id}', **VERSION).status_int == 200
    assert api.get('/v1/offers').status_int == 404
