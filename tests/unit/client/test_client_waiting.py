# SPDX-License-Identifier: Apache-2.0
"""Waiting until a lease has a status."""
import pytest
from unit.client import canned

from climate.client import errors

LEASE_ID = canned.LEASE_ID
LEASE_URL = f'{canned.URL}/leases/{LEASE_ID}'


def statuses(requests_mock, *words):
    requests_mock.get(LEASE_URL, [
        word if isinstance(word, dict)
        else {'json': {'lease': canned.a_lease(status=word, status_reason='no hosts')}}
        for word in words])


def test_waiting_ends_when_the_lease_is_there(climate, requests_mock):
    statuses(requests_mock, 'to_be_started', 'starting', 'active')
    seen = []
    lease = climate.leases.wait(LEASE_ID, report=lambda lease, waited: seen.append(
        (lease['status'], waited)))
    assert lease['status'] == 'active'
    assert seen == [('to_be_started', 0.0), ('starting', 0.5), ('active', 1.5)]


@pytest.mark.parametrize('status', ['error', 'timedout', 'terminated', 'deleting'])
def test_a_lease_that_cannot_get_there_fails_with_its_reason(climate, requests_mock, status):
    statuses(requests_mock, 'in_progress', status)
    with pytest.raises(errors.LeaseFailed, match=f'is {status} and will not.*: no hosts'):
        climate.leases.wait(LEASE_ID)


def test_a_failure_without_a_reason_is_a_whole_sentence(climate, requests_mock):
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease(status='terminated')})
    with pytest.raises(errors.LeaseFailed) as caught:
        climate.leases.wait(LEASE_ID)
    assert caught.value.message == (
        f'Lease demo ({LEASE_ID}) is terminated and will not become active.')


def test_a_failure_that_is_waited_for_is_none(climate, requests_mock):
    statuses(requests_mock, 'error')
    assert climate.leases.wait(LEASE_ID, 'error')['status'] == 'error'


def test_waiting_gives_up_in_time(climate, requests_mock, clock):
    statuses(requests_mock, 'in_progress')
    with pytest.raises(errors.WaitTimedOut, match=r'still in_progress \(no hosts\) after 12 s'):
        climate.leases.wait(LEASE_ID, timeout=12)
    assert clock.now == 12


def test_a_moment_without_answer_does_not_stop_waiting(climate, requests_mock):
    statuses(requests_mock, {'status_code': 503, 'json': {'error_message': 'busy'}}, 'active')
    assert climate.leases.wait(LEASE_ID)['status'] == 'active'


def test_a_lease_can_be_waited_for_to_be_gone(climate, requests_mock):
    statuses(requests_mock, 'deleting', {'status_code': 404, 'json': {'error_message': 'gone'}})
    assert climate.leases.wait(LEASE_ID, 'deleted') is None


def test_a_lease_that_is_gone_does_not_become_active(climate, requests_mock):
    statuses(requests_mock, {'status_code': 404, 'json': {'error_message': 'gone'}})
    with pytest.raises(errors.LeaseFailed, match='was deleted'):
        climate.leases.wait(LEASE_ID)
