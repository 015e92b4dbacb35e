# SPDX-License-Identifier: Apache-2.0
"""The login of a manager: when it is ready, and when it may carry out events."""
import dataclasses
import logging

import pytest

from climate import errors
from climate.manager import login

_REFUSED = 'the login in [keystone] is refused: 401'


def test_a_keystone_that_does_not_answer_at_the_start_keeps_no_manager_from_its_work(
        conf, manager, caplog):
    caplog.set_level(logging.INFO)
    access = login.Login(manager.core, 'm:1')
    assert not access.may_act
    with pytest.raises(errors.ManagerNotReady):
        access.check()
    manager.cloud.fail('keystone.log_in', 1, errors.CloudUnreachable(
        service='Keystone', reason='Connection refused'))
    access.refresh()
    assert access.may_act
    access.check()
    assert ('m:1: not ready; it retries failed events until all services answer: Keystone is '
            'not available: Connection refused') in caplog.text
    assert ': ready' not in caplog.text
    access.refresh()
    assert 'Manager m:1: ready' in caplog.text


def test_a_login_that_is_refused_later_stops_the_events_until_it_is_accepted(manager, caplog):
    access = login.Login(manager.core, 'm:1')
    access.refresh()
    assert access.may_act
    manager.cloud.fail('keystone.log_in', 1, errors.CloudError(
        service='Keystone', reason=_REFUSED))
    access.refresh()
    assert not access.may_act
    with pytest.raises(errors.CloudError):
        access.check()
    access.refresh()
    assert access.may_act


class _Services:
    """A cloud whose services answer as a test says.

    :ivar errors: the results of the next checks, in order.
    """

    def __init__(self, *found):
        self.errors = list(found)
        self.logins = 0

    def check(self):
        if self.errors:
            raise self.errors.pop(0)

    def log_in(self):
        self.logins += 1


def test_a_manager_is_ready_when_all_services_accept_it(manager, caplog):
    caplog.set_level(logging.INFO)
    cloud = _Services(
        errors.CloudError('[nova] Nova: no endpoint 1', service='Nova', reason='x'),
        errors.CloudError('[nova] Nova: no endpoint 2', service='Nova', reason='x'),
        errors.CloudError('[glance] Glance: 403', service='Glance', reason='x'),
        errors.CloudUnreachable('[glance] Glance is down', service='Glance', reason='x'))
    access = login.Login(dataclasses.replace(manager.core, cloud=cloud), 'm:1')
    may_act = []
    for _ in range(4):
        access.refresh()
        may_act.append(access.may_act)
    assert may_act == [False, False, False, True]
    assert ': ready' not in caplog.text
    access.refresh()
    access.refresh()
    assert [each.getMessage() for each in caplog.records] == [
        'Manager m:1: not ready, and carries out no event: [nova] Nova: no endpoint 1',
        'Manager m:1: not ready, and carries out no event: [glance] Glance: 403',
        'Manager m:1: not ready; it retries failed events until all services answer: [glance] '
        'Glance is down', 'Manager m:1: ready']
    assert cloud.logins == 1


def test_a_manager_without_a_connection_to_the_bus_acts_but_is_not_ready(manager, caplog):
    caplog.set_level(logging.INFO)
    connected = []
    access = login.Login(manager.core, 'm:1', lambda: bool(connected))
    access.refresh()
    assert access.may_act
    assert access.not_ready == 'The message bus is not available: no connection'
    connected.append(True)
    access.refresh()
    assert access.not_ready is None
    assert [each.getMessage() for each in caplog.records] == [
        'Manager m:1: not ready; it retries failed events until all services answer: The '
        'message bus is not available: no connection', 'Manager m:1: ready']
