# SPDX-License-Identifier: Apache-2.0
"""Labels and dependencies of reservations over REST: shown, refused, unchangeable."""
import json

import pytest
from support import builders

V = {'version': '1.1'}


def dummy(label=None, *depends_on):
    said = {'resource_type': 'virtual:dummy'}
    if label is not None:
        said['label'] = label
    if depends_on:
        said['depends_on'] = list(depends_on)
    return said


def body(*reservations, **more):
    return {'name': 'x', 'duration': '1h', 'reservations': list(reservations), **more}


def shown(lease):
    return [(each.get('label'), each.get('depends_on')) for each in lease['reservations']]


STACK = (dummy('server', 'net'), dummy('net'), dummy())


@pytest.fixture
def lease(api):
    return api.post('/v1/leases', body(*STACK), **V).json['lease']


def test_labels_and_dependencies_are_shown_where_they_were_said(api, lease):
    wanted = [('server', ['net']), ('net', []), (None, None)]
    assert shown(lease) == wanted
    assert shown(api.get(f'/v1/leases/{lease["id"]}', **V).json['lease']) == wanted
    assert shown(api.get('/v1/leases', **V).json['leases'][0]) == wanted
    assert 'label' not in lease['reservations'][2]
    assert all('label' not in each and 'depends_on' not in each for each in api.get(
        f'/v1/leases/{lease["id"]}').json['lease']['reservations'])


def test_a_dry_run_shows_the_order_and_refuses_what_gives_none(api):
    answer = api.post('/v1/leases?dry_run=true', body(*STACK), **V)
    assert shown(answer.json['lease']) == [('server', ['net']), ('net', []), (None, None)]
    assert api.post('/v1/leases?dry_run=true', body(dummy('a', 'a')), **V).status_int == 400
    assert api.get('/v1/leases', **V).json == {'leases': []}


def test_rest_1_0_ignores_labels_and_refuses_an_order(api):
    answer = api.post('/v1/leases', builders.a_body(reservations=[dummy('a', 'b'), dummy('b')]))
    assert answer.status_int == 400
    assert 'reservations.depends_on: REST 1.0 has no such field' in answer.json['error_message']
    answer = api.post('/v1/leases', builders.a_body(reservations=[
        {**dummy('a'), 'depends_on': []}, dummy('a')]))
    assert answer.status_int == 201
    lease_id = answer.json['lease']['id']
    assert shown(api.get(f'/v1/leases/{lease_id}', **V).json['lease']) == [(None, None)] * 2


@pytest.mark.parametrize(('reservations', 'told'), [
    ([dummy('a', 'b')], 'reservations.depends_on: no reservation of the lease has the label "b"'),
    ([dummy(None, 'b')], 'give the other one that label'),
    ([dummy('a', 'a')], 'reservations.depends_on: "a" depends on itself'),
    ([dummy('a', 'b'), dummy('b', 'c'), dummy('c', 'a')], 'a -> b -> c -> a'),
    ([dummy('a'), dummy('a')], 'reservations.label: two reservations have the label "a"'),
    ([dummy('a', 'b', 'b'), dummy('b')], 'reservations.0.depends_on'),
    ([dummy('')], 'reservations.0.label'), ([dummy('a b')], 'reservations.0.label'),
    ([dummy('a\n')], 'reservations.0.label'), ([dummy('a,b')], 'reservations.0.label'),
    ([dummy('x' * 65)], 'reservations.0.label'), ([dummy(5)], 'reservations.0.label'),
    ([dummy('a', 5)], 'reservations.0.depends_on'), ([dummy('a', '')], 'depends_on'),
    ([{**dummy('a'), 'depends_on': 'b'}], 'reservations.0.depends_on'),
    ([{**dummy('a'), 'depends_on': None}], 'reservations.0.depends_on'),
    ([dummy('a', *(f'n{number}' for number in range(101)))], 'reservations.0.depends_on')])
def test_a_wrong_start_order_is_refused_with_its_field(api, reservations, told):
    answer = api.post('/v1/leases', body(*reservations), **V)
    assert answer.status_int == 400
    assert told in answer.json['error_message']
    asked = {'duration': '1h', 'reservations': reservations}
    assert told in api.post('/v1/availability', asked, **V).json['error_message']


def test_no_label_is_a_label_that_is_null(api):
    answer = api.post('/v1/leases', body({**dummy(), 'label': None}, {**dummy(), 'label': None}),
                      **V)
    assert shown(answer.json['lease']) == [(None, None)] * 2


def change(api, lease, place, **said):
    reservation_id = lease['reservations'][place]['id']
    return api.put(f'/v1/leases/{lease["id"]}',
                   {'reservations': [{'id': reservation_id, **said}]}, **V)


def test_shown_order_fields_may_be_sent_back(api, lease):
    for place, said in ((0, {'label': 'server', 'depends_on': ['net']}), (1, {'depends_on': []}),
                        (2, {'label': None, 'depends_on': []})):
        assert change(api, lease, place, **said).status_int == 200


@pytest.mark.parametrize(('place', 'said', 'told'), [
    (0, {'label': 'other'}, 'reservations.label: it cannot change, and stays "server"'),
    (0, {'label': None}, 'reservations.label: it cannot change, and stays "server"'),
    (2, {'label': 'other'}, 'reservations.label: it cannot change, and stays none'),
    (0, {'depends_on': []}, 'reservations.depends_on: it cannot change, and stays net'),
    (1, {'depends_on': ['server']}, 'reservations.depends_on: it cannot change, and stays empty')])
def test_the_order_cannot_change(api, lease, place, said, told):
    answer = change(api, lease, place, **said)
    assert answer.status_int == 400
    assert told in answer.json['error_message']
    assert 'make another lease instead' in answer.json['error_message']


def test_an_offer_is_shown_with_its_order_and_gives_it_to_its_lease(api):
    asked = {'duration': '1h', 'reservations': STACK}
    [offer_id, *_] = [each['id'] for each in api.post('/v1/availability', asked, **V).json[
        'offers']]
    assert shown(api.get(f'/v1/offers/{offer_id}', **V).json['offer']) == [
        ('server', ['net']), ('net', []), (None, None)]
    lease = api.post('/v1/leases', {'name': 'x', 'offer': offer_id}, **V).json['lease']
    assert shown(lease) == [('server', ['net']), ('net', []), (None, None)]


def test_labels_may_be_said_in_a_query(api):
    answer = api.get('/v1/availability?duration=1h&reservations=' + json.dumps(list(STACK)), **V)
    assert answer.status_int == 200, answer.body
