# SPDX-License-Identifier: Apache-2.0
"""DELETE at REST 1.0 waits for the end of a lease, and keeps nobody else from being served."""
from concurrent import futures
import time

import pytest
from support import builders
import webtest

from climate import errors
from climate.api import app
from climate.domain import event_kinds

NOVA = 'nova:service:service'
MOST = 3


@pytest.fixture
def application(conf, manager):
    """An API that handles three requests at a time, and where a DELETE waits four seconds."""
    for name, value in (('max_requests', MOST), ('delete_wait_seconds', 4), ('delete_waits', 3),
                        ('delete_waits_per_project', 2)):
        conf.set_override(name, value, group='api')
    return app.build(conf, manager.client, builders.manager_plugins(conf), clock=manager.clock)


@pytest.fixture
def running(manager):
    """A function that makes so many running leases; their ends wait until the test runs them."""
    def made(count, project='demo'):
        leases = [manager.create(builders.a_lease(builders.hosts(1)),
                                 builders.a_member(project=project)) for _ in range(count)]
        manager.run()
        return leases
    manager.enrol(8)
    return made


def call(application, method, path, token=builders.DEMO, version='1.0'):
    """(status, seconds that the answer took)."""
    began = time.monotonic()
    answer = webtest.TestApp(application).request(
        path, method=method, expect_errors=True, headers={
            'X-Auth-Token': token, 'OpenStack-API-Version': f'reservation {version}'})
    return answer.status_int, time.monotonic() - began


def until_asked(manager, lease):
    for _ in range(200):
        if manager.lease(lease).event(event_kinds.DELETE):
            return
        time.sleep(0.02)
    raise AssertionError('The lease was not to be deleted.')


def test_many_deletes_of_one_lease_wait_once_and_others_are_served(application, running, manager):
    [lease] = running(1)
    place = f'/v1/leases/{lease.id}'
    with futures.ThreadPoolExecutor(30) as pool:
        first = pool.submit(call, application, 'DELETE', place)
        until_asked(manager, lease)
        for _ in range(20):
            status, seconds = call(application, 'DELETE', place)
            assert (status, seconds < 2) == (204, True)
        for path, token in (('/v1/leases', builders.STRANGER), ('/v1/leases', builders.DEMO),
                            (f'/v1/reservations/{lease.reservations[0].id}/hosts?project_id=demo',
                             NOVA)):
            assert call(application, 'GET', path, token, '1.1')[0] == 200
        assert not first.done()
        manager.run()
    status, seconds = first.result()
    assert status == 204
    assert manager.lease(lease).deleted_at is not None


def test_a_delete_that_waits_answers_when_the_lease_is_gone(application, running, manager, conf):
    conf.set_override('delete_wait_seconds', 60, group='api')
    slow = app.build(conf, manager.client, builders.manager_plugins(conf), clock=manager.clock)
    [lease] = running(1)
    with futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(call, slow, 'DELETE', f'/v1/leases/{lease.id}')
        until_asked(manager, lease)
        manager.run()
        assert first.result(20)[0] == 204


def test_deletes_of_many_leases_of_one_project_leave_waits_and_slots_to_others(
        application, running, manager):
    mine, other = running(5), running(1, 'other')[0]
    with futures.ThreadPoolExecutor(10) as pool:
        # One after the other begins, as more than three at a time are too many for this API.
        answers = []
        for lease in mine:
            answers.append(pool.submit(call, application, 'DELETE', f'/v1/leases/{lease.id}'))
            until_asked(manager, lease)
        theirs = pool.submit(call, application, 'DELETE', f'/v1/leases/{other.id}',
                             builders.STRANGER)
        until_asked(manager, other)
        time.sleep(1)
        # Two of five wait; the one of the other project does, too.
        assert sum(not each.done() for each in answers) == 2
        assert not theirs.done()
        assert call(application, 'GET', '/v1/leases', builders.STRANGER)[0] == 200
        manager.run()
    assert {each.result()[0] for each in [*answers, theirs]} == {204}


def test_a_lease_whose_deletion_was_given_up_is_waited_for_again(application, running, manager):
    [lease] = running(1)
    manager.cloud.fail('nova.remove_host', 1000, errors.CloudError(service='Nova', reason='no'))
    place = f'/v1/leases/{lease.id}'
    assert call(application, 'DELETE', place, version='1.1')[0] == 204
    manager.run_until(manager.clock() + builders.hours(30))
    assert manager.lease(lease).event(event_kinds.DELETE).status == 'ERROR'
    manager.cloud.fail('nova.remove_host', 0, None)
    with futures.ThreadPoolExecutor(1) as pool:
        again = pool.submit(call, application, 'DELETE', place)
        time.sleep(1)
        assert not again.done()
        manager.run()
        assert again.result()[0] == 204
    assert manager.lease(lease).deleted_at is not None
