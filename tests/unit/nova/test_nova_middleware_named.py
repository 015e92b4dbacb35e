# SPDX-License-Identifier: Apache-2.0
"""Booting with the id of an existing lease in the hint ``reservation``."""
import booting
import pytest
import requests


def lease(*reservations):
    """Climate's answer about a lease with reservations (id, type, status)."""
    return {'json': {'lease': {'id': 'l7', 'reservations': [
        {'id': each, 'resource_type': kind, 'status': status}
        for each, kind, status in reservations]}}}


@pytest.mark.parametrize('hint', ['l7', ['l7']])
@pytest.mark.parametrize('kind', ['physical:host', 'virtual:instance', 'flavor:instance'])
def test_a_lease_stands_for_its_only_reservation(user, nova, service, hint, kind):
    service.refuses('GET', '/leases/l7', **lease(
        ('r1', kind, 'active'), ('r2', 'virtual:volume', 'active'), ('r3', kind, 'deleted')))
    user.boots({'reservation': hint, 'same_host': 'x'})
    assert nova.asked[booting.HINTS] == {'reservation': 'r1', 'same_host': 'x'}
    assert service.asked[0].headers['X-Auth-Token'] == 'user-token'


def test_a_lease_with_several_reservations_is_refused_with_their_ids(user, nova, service):
    service.refuses('GET', '/leases/l7', **lease(
        ('r1', 'physical:host', 'active'), ('r2', 'virtual:instance', 'pending')))
    answer = user.boots({'reservation': 'l7'})
    assert booting.told(user, answer) == (400, 'badRequest', (
        'reservation: lease l7 has 2 reservations: name one of them instead: r1, r2.'))
    assert nova.bodies == []


def test_a_lease_without_reservations_for_servers_is_refused(user, nova, service):
    service.refuses('GET', '/leases/l7', **lease(('r1', 'virtual:volume', 'active')))
    status, _, message = booting.told(user, user.boots({'reservation': 'l7'}))
    assert (status, nova.bodies) == (400, [])
    assert 'lease l7 has no reservation for servers' in message


@pytest.mark.parametrize('answer', [
    booting.climate_says(404, 'lease_not_found', 'no'), {'exc': requests.ConnectTimeout},
    {'exc': requests.ConnectionError},
    {'json': {'lease': {}}}, {'text': 'x'}, {'status_code': 500, 'text': 'x'}],
    ids=['unknown', 'silent', 'down', 'unreadable', 'no JSON', 'broken'])
def test_a_hint_that_names_no_lease_is_forwarded_unchanged(user, nova, service, answer):
    service.refuses('GET', '/leases/r1', **answer)
    sent = booting.request({'reservation': 'r1'})
    user.sends(sent)
    assert nova.bodies == [sent]


@pytest.mark.parametrize('hint', [['r1', 'r2'], [], {}, '../x', 'x' * 37, None, 7.5])
def test_a_hint_that_is_not_an_id_is_forwarded_without_a_call(user, nova, service, hint):
    user.boots({'reservation': hint})
    assert (len(nova.bodies), service.asked) == (1, [])
