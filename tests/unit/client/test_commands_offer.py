# SPDX-License-Identifier: Apache-2.0
"""The commands about offers."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/offers'
OFFER = {'id': 'o1', 'start': '2030-05-01T13:00:00Z', 'end': '2030-05-01T15:00:00Z',
         'held_until': '2030-05-01T12:02:00Z', 'created_at': '2030-05-01T12:00:00Z',
         'reservations': [{'resource_type': 'physical:host', 'min': 2, 'max': 2,
                           'resource_properties': ''}]}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'offers': [OFFER]})
    requests_mock.get(f'{URL}/o1', json={'offer': OFFER})
    requests_mock.delete(f'{URL}/o1', status_code=204)
    return requests_mock


def test_offers_are_listed_with_what_they_hold_and_until_when(run, service):
    outcome = run('offer', 'list')
    assert outcome.code == 0, outcome.err
    assert '2030-05-01 12:02 UTC' in outcome.out
    assert 'physical:host min=2 max=2 |' in run('offer', 'list', '--long').out
    assert run('offer', 'list', '-f', 'json', '-c', 'reservations').json == [
        {'reservations': OFFER['reservations']}]


def test_an_offer_is_shown(run, service):
    assert run('offer', 'show', 'o1', '-f', 'json').json == OFFER


PRICE = {'amount': '2.50', 'currency': 'EUR', 'lines': [
    {'kind': 'lease_fee', 'amount': '2.00', 'price_book': 1},
    {'kind': 'resource_hours', 'amount': '0.50', 'price_book': 1, 'hours': '1.000000',
     'rate': '0.50', 'pool': 'host', 'resource_type': 'physical:host', 'reservation_id': 'r1'}]}


def test_offers_show_their_price_if_there_is_a_price_book(run, service):
    assert 'price' not in run('offer', 'list').out
    priced = {**OFFER, 'price': PRICE}
    service.get(URL, json={'offers': [priced]})
    service.get(f'{URL}/o1', json={'offer': priced})
    assert '| 2.50 EUR |' in run('offer', 'list').out
    assert run('offer', 'list', '-f', 'json', '-c', 'price').json == [{'price': PRICE}]
    shown = run('offer', 'show', 'o1').out
    for words in ('2.50 EUR', '2.00 lease_fee',
                  '0.50 resource_hours 1.000000 h of host at 0.50'):
        assert words in shown


def test_offers_are_released(run, service):
    service.delete(f'{URL}/gone', status_code=404, json={
        'error_code': 404, 'error_name': 'offer_not_found', 'error_message': 'It is gone.'})
    assert run('offer', 'delete', 'o1').code == 0
    assert service.last_request.method == 'DELETE'
    outcome = run('offer', 'delete', 'gone', 'o1')
    assert outcome.code == 1
    assert 'gone: It is gone.' in outcome.err
    assert service.last_request.path.endswith('/o1')
