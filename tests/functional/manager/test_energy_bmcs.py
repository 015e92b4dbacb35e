# SPDX-License-Identifier: Apache-2.0
"""Hosts sleep and wake by Redfish, whatever their BMCs answer over HTTP."""
import json
import threading

import pytest
import sleepers_world
from support import builders
from support import thinning
from werkzeug import serving
from werkzeug import wrappers

from climate import power as power_drivers
from climate.db import power
from climate.domain import lifecycle
from climate.domain import sleep
from climate.manager.energy import power_saving

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
_SYSTEM, _RESET = '/redfish/v1/Systems/1', '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset'
_INFO = '/redfish/v1/Systems/1/ResetActionInfo'
_ALL = ('On', 'ForceOn', 'GracefulShutdown', 'ForceOff', 'ForceRestart', 'PushPowerButton')


class Bmc:
    """A BMC, as a WSGI application, that switches a machine of the simulated cloud.

    :ivar trouble: callable(what it would answer): (status, what it answers), for each of the next
        `polls` questions; asked after each switch, too.
    :ivar switched: the reset types that it was asked for.
    """

    def __init__(self, switch, allowed, trouble):
        self._switch, self._allowed = switch, allowed
        self._is_on = self._was_on = True
        self.trouble, self.polls, self.switched = trouble, 0, []

    @wrappers.Request.application
    def __call__(self, request):
        if request.path == _RESET:
            return self._reset(request.get_json()['ResetType'])
        if request.path == _INFO:
            return _answer(*self.trouble(None, 'info'))
        if request.path != _SYSTEM:
            return _answer(200, {'RedfishVersion': '1.6.0', 'Id': 'root', 'Name': 'root',
                                 'Systems': {'@odata.id': '/redfish/v1/Systems'}})
        reset = {'target': _RESET}
        if self._allowed is not None:
            reset['ResetType@Redfish.AllowableValues'] = self._allowed
        system = {'Id': '1', 'Name': '1', 'PowerState': 'On' if self._is_on else 'Off',
                  'Actions': {'#ComputerSystem.Reset': reset}}
        if not self.polls:
            return _answer(200, system)
        self.polls -= 1
        return _answer(*self.trouble(system, 'On' if self._was_on else 'Off'))

    def _reset(self, kind):
        self.switched.append(kind)
        if self._allowed is not None and kind not in self._allowed:
            return _answer(400, {})
        self._was_on, self._is_on = self._is_on, 'On' in kind
        self.polls = 2
        self._switch(self._is_on)
        return _answer(204, '')


def _answer(status, body):
    return wrappers.Response(body if isinstance(body, str) else json.dumps(body), status,
                             content_type='application/json')


def _none(system, _before):
    return 200, system


def _says(state):
    return lambda system, _before: (200, {**system, 'PowerState': state})


def _without_a_state(system, _before):
    return 200, {key: each for key, each in system.items() if key != 'PowerState'}


def _switching(system, before):
    target = 'On' if system['PowerState'] == 'On' else 'Off'
    return 200, {**system, 'PowerState': system['PowerState'] if before == target
                 else f'Powering{target}'}


def _stale(system, before):
    return 200, {**system, 'PowerState': before}


def _lists(status, *allowed):
    """Return the trouble of a BMC that lists its reset types in a resource of their own."""
    def trouble(system, before):
        if before == 'info':
            return status, {'Id': 'i', 'Name': 'i', 'Parameters': [
                {'Name': 'ResetType', 'AllowableValues': allowed}]}
        reset = {'target': _RESET, '@Redfish.ActionInfo': _INFO}
        return 200, {**system, 'Actions': {'#ComputerSystem.Reset': reset}}
    return trouble


def _gives(status, body):
    return lambda _system, _before: (status, body)


@pytest.fixture
def world(manager, conf, tmp_path):
    """callable(allowed, trouble): (the BMC, a Keeping whose driver is Redfish, its one host)."""
    servers = []

    def make(allowed, trouble):
        [host] = manager.enrol(1)
        keeping = sleepers_world.Keeping(manager, sleepers_world.configured(conf))
        made = Bmc(lambda up: manager.cloud.machines.switch(host.name, up=up), allowed, trouble)
        server = serving.make_server('127.0.0.1', 0, made)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, thread))
        path = tmp_path / 'bmcs.yaml'
        path.write_text(f'{host.name}: {{address: "http://127.0.0.1:{server.server_port}", '
                        f'system: {_SYSTEM}}}')
        path.chmod(0o600)
        conf.set_override('driver', 'redfish', group='energy')
        conf.set_override('bmc_file', str(path), group='energy')
        keeping.keeper = power_saving.PowerSaving(manager.core, 'this manager',
                                                  power_drivers.load(conf, None))
        manager.clock.advance(hours(1))
        return made, keeping, host
    yield make
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def _polls(manager, keeping, count=6):
    for _ in range(count):
        keeping.step()
        manager.clock.advance(minutes(1))


@pytest.mark.parametrize(('allowed', 'trouble', 'used'), thinning.few([
    pytest.param(_ALL, _none, {'GracefulShutdown', 'On'}, id='all reset types'),
    pytest.param(None, _none, {'GracefulShutdown', 'On'}, id='reset types are not listed'),
    pytest.param(('ForceOn', 'ForceOff'), _none, {'ForceOff', 'ForceOn'}, id='forced types only'),
    pytest.param(_ALL, _says(None), {'GracefulShutdown', 'On'}, id='the state is null'),
    pytest.param(_ALL, _says('Unknown'), {'GracefulShutdown', 'On'}, id='the state is unknown'),
    pytest.param(_ALL, _says('Paused'), {'GracefulShutdown', 'On'}, id='the state is paused'),
    pytest.param(_ALL, _says(7), {'GracefulShutdown', 'On'}, id='the state is a number'),
    pytest.param(_ALL, _says([]), {'GracefulShutdown', 'On'}, id='the state is a list'),
    pytest.param(_ALL, _without_a_state, {'GracefulShutdown', 'On'}, id='there is no state'),
    pytest.param(_ALL, _switching, {'GracefulShutdown', 'On'}, id='intermediate states'),
    pytest.param(_ALL, _stale, {'GracefulShutdown', 'On'}, id='stale states'),
    pytest.param(_ALL, _gives(404, {}), {'GracefulShutdown', 'On'}, id='404 after a restart'),
    pytest.param(_ALL, _gives(401, {}), {'GracefulShutdown', 'On'}, id='401 after a restart'),
    pytest.param(_ALL, _gives(503, {}), {'GracefulShutdown', 'On'}, id='503 after a restart'),
    pytest.param(_ALL, _gives(200, '<html>'), {'GracefulShutdown', 'On'}, id='a page of HTML'),
    pytest.param(_ALL, _gives(200, []), {'GracefulShutdown', 'On'}, id='a list'),
    pytest.param(_ALL, _lists(200, 'ForceOff', 'GracefulShutdown', 'On'),
                 {'GracefulShutdown', 'On'}, id='reset types are listed elsewhere'),
], 4))
def test_a_host_sleeps_and_wakes_for_a_lease_with_any_bmc(
        manager, world, allowed, trouble, used):
    bmc, keeping, host = world(allowed, trouble)
    # In trouble when it is asked whether it can be woken, and after each switch.
    bmc.polls = 1
    _polls(manager, keeping)
    assert keeping.states() == {host.id: sleep.ASLEEP}
    assert not keeping.compute(host).up
    if trouble is not _stale:
        bmc.polls = 2
        _polls(manager, keeping, 3)
        assert keeping.states() == {host.id: sleep.ASLEEP}
    lease = manager.book(end=NOON + hours(9))
    manager.event_loop.tick(manager.clock())
    _polls(manager, keeping)
    assert keeping.states() == {host.id: sleep.AWAKE}
    manager.expect(lease, lifecycle.ACTIVE, manager.clock.now + minutes(1))
    assert keeping.compute(host).up
    assert {*bmc.switched} == used


@pytest.mark.parametrize(('allowed', 'trouble'), thinning.few([
    pytest.param(('GracefulShutdown', 'ForceOff', 'ForceRestart'), _none, id='no way on'),
    pytest.param(('ForceOff', 'PushPowerButton'), _none, id='a button only'),
    pytest.param(('On', 'ForceOn', 'Nmi'), _none, id='no way off'),
    pytest.param(('Vendor',), _none, id='unknown reset types'),
    pytest.param(_ALL, _says(None), id='never a state'),
    pytest.param(_ALL, _gives(404, {}), id='never a system'),
    pytest.param(_ALL, lambda system, _before: (200, {**system, 'Actions': {}}), id='no actions'),
    pytest.param(_ALL, _gives(200, []), id='never Redfish'),
    pytest.param(None, _lists(200, 'ForceOff', 'PushPowerButton'), id='no way on elsewhere'),
    pytest.param(None, _lists(404), id='listed where nothing is'),
    pytest.param(None, _lists(200), id='an empty list elsewhere'),
], 4))
def test_a_host_that_could_not_be_woken_stays_awake_and_the_log_says_why_once(
        manager, world, caplog, allowed, trouble):
    bmc, keeping, host = world(allowed, trouble)
    bmc.polls = 10 ** 6
    _polls(manager, keeping)
    assert keeping.states() in ({}, {host.id: sleep.AWAKE})
    found = keeping.compute(host)
    assert (found.up, found.enabled, bmc.switched) == (True, True, [])
    assert sum('could not be woken' in each.message for each in caplog.records
               if each.levelname == 'WARNING') == 1
    # Neither does it sleep if an administrator says so.
    manager.client.set_power(builders.an_admin(), 'host', host.id, False)
    _polls(manager, keeping, 2)
    with manager.database.reader() as connection:
        assert power.of(connection, [host.id])[host.id].state != sleep.ASLEEP
    assert bmc.switched == []
