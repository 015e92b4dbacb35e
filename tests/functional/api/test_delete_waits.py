# SPDX-License-Identifier: Apache-2.0
"""DELETE at REST 1.0 waits for the end of a lease, and keeps nobody else from being served."""
import collections
from concurrent import futures
import threading

import pytest
from support import builders
from support import waiting
import webtest

from climate import errors
from climate.api import app
from climate.domain import event_kinds
from climate.manager import endpoint
from climate.rpc import client

NOVA = 'nova:service:service'
MOST = 3


class Watched(client.ManagerClient):
    """A client of a manager that shows which deletions the API waits for."""

    def __init__(self, core):
        super().__init__(builders.Wire(endpoint.InProcess(endpoint.Endpoint(core))))
        self._request, self._awaited = threading.local(), collections.defaultdict(threading.Event)

    def get_lease(self, caller, lease_id):
        found = super().get_lease(caller, lease_id)
        if getattr(self._request, 'deletes', None) == lease_id and found.deleted_at is None:
            self._awaited[lease_id].set()
        return found

    def delete_lease(self, caller, lease_id, *arguments, **options):
        found = super().delete_lease(caller, lease_id, *arguments, **options)
        self._request.deletes = lease_id
        return found

    def until_awaited(self, lease):
        """Wait until a DELETE has seen that its lease is not gone yet."""
        assert self._awaited[lease.id].wait(waiting.SECONDS)


@pytest.fixture
def watched(manager):
    return Watched(manager.core)


@pytest.fixture
def application(conf, manager, watched):
    """An API that handles three requests at a time."""
    for name, value in (('max_requests', MOST), ('delete_wait_seconds', waiting.SECONDS),
                        ('delete_waits', 3), ('delete_waits_per_project', 2)):
        conf.set_override(name, value, group='api')
    return app.build(conf, watched, builders.manager_plugins(conf), clock=manager.clock)


@pytest.fixture
def running(manager):
    """callable(count): running leases, whose ends wait until the test runs them."""
    def made(count, project='demo'):
        leases = [manager.create(builders.a_lease(builders.hosts(1)),
                                 builders.a_member(project=project)) for _ in range(count)]
        manager.run()
        return leases
    manager.enrol(8)
    return made


def call(application, method, path, token=builders.DEMO, version='1.0'):
    """Return the status of the answer."""
    answer = webtest.TestApp(application).request(
        path, method=method, expect_errors=True, headers={
            'X-Auth-Token': token, 'OpenStack-API-Version': f'reservation {version}'})
    return answer.status_int


def until_asked(manager, lease):
    waiting.until(lambda: manager.lease(lease).event(event_kinds.DELETE))


def test_many_deletes_of_one_lease_wait_once_and_others_are_served(application, running, manager):
    [lease] = running(1)
    place = f'/v1/leases/{lease.id}'
    with futures.ThreadPoolExecutor(30) as pool:
        first = pool.submit(call, application, 'DELETE', place)
        until_asked(manager, lease)
        for _ in range(20):
            # The first one does not end before the manager runs.
            assert call(application, 'DELETE', place) == 204
        for path, token in (('/v1/leases', builders.STRANGER), ('/v1/leases', builders.DEMO),
                            (f'/v1/reservations/{lease.reservations[0].id}/hosts?project_id=demo',
                             NOVA)):
            assert call(application, 'GET', path, token, '1.1') == 200
        assert not first.done()
        manager.run()
    assert first.result() == 204
    assert manager.lease(lease).deleted_at is not None


def test_a_delete_that_waits_answers_when_the_lease_is_gone(
        application, running, manager, watched):
    [lease] = running(1)
    with futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(call, application, 'DELETE', f'/v1/leases/{lease.id}')
        watched.until_awaited(lease)
        manager.run()
        assert first.result(waiting.SECONDS) == 204


@pytest.mark.proof
def test_deletes_of_many_leases_of_one_project_leave_waits_and_slots_to_others(
        application, running, manager, watched):
    mine, other = running(5), running(1, 'other')[0]
    with futures.ThreadPoolExecutor(10) as pool:
        # One after the other begins, as more than three at a time are too many for this API.
        answers = []
        for lease in mine:
            answers.append(pool.submit(call, application, 'DELETE', f'/v1/leases/{lease.id}'))
            until_asked(manager, lease)
        theirs = pool.submit(call, application, 'DELETE', f'/v1/leases/{other.id}',
                             builders.STRANGER)
        # Two of five wait; the one of the other project does, too.
        for lease in (*mine[:2], other):
            watched.until_awaited(lease)
        for each in answers[2:]:
            assert each.result(waiting.SECONDS) == 204
        assert not any(each.done() for each in answers[:2])
        assert not theirs.done()
        assert call(application, 'GET', '/v1/leases', builders.STRANGER) == 200
        manager.run()
    assert {each.result() for each in [*answers, theirs]} == {204}


@pytest.mark.proof
def test_a_lease_whose_deletion_was_given_up_is_waited_for_again(
        application, running, manager, watched):
    [lease] = running(1)
    manager.cloud.fail('nova.remove_host', 1000, errors.CloudError(service='Nova', reason='no'))
    place = f'/v1/leases/{lease.id}'
    assert call(application, 'DELETE', place, version='1.1') == 204
    manager.run_until(manager.clock() + builders.hours(30))
    assert manager.lease(lease).state == 'ERROR'
    manager.cloud.fail('nova.remove_host', 0, None)
    with futures.ThreadPoolExecutor(1) as pool:
        again = pool.submit(call, application, 'DELETE', place)
        watched.until_awaited(lease)
        assert not again.done()
        manager.run()
        assert again.result() == 204
    assert manager.lease(lease).deleted_at is not None
