# SPDX-License-Identifier: Apache-2.0
"""The driver redfish, and managers that use it, on BMCs in a process of their own that go wrong.

They are those of sushy-tools' emulator.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import types

import bcrypt
from oslo_config import cfg
import pytest
from support import builders
from support import loopback
from support import waiting
import trustme

from climate import errors
from climate import power as power_drivers
from climate.conf import cloud
from climate.conf import energy
from climate.db import power
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import sleep
from climate.manager.energy import power_saving
from climate.power import base
from tools.cloud import bmc
from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import settings

pytestmark = pytest.mark.proof

hours, minutes = builders.hours, builders.minutes

HOST = records.Resource(1, 'host', 'compute-1', {})
_NAMES = ('compute-1', 'compute-2')
_PASSWORD = 'very-secret'
# [energy] timeout_seconds.
_LIMIT = 2


@pytest.fixture(scope='module')
def authority():
    """An authority of certificates."""
    return trustme.CA()


@pytest.fixture(scope='module')
def emulator(tmp_path_factory, authority):
    """The emulator: its `url`, its `process`, and the file of its `ca`."""
    folder = tmp_path_factory.mktemp('bmcs')
    port = builders.a_free_port()
    issued = authority.issue_cert('127.0.0.1')
    issued.cert_chain_pems[0].write_to_path(folder / 'bmc.pem')
    issued.private_key_pem.write_to_path(folder / 'bmc.key')
    authority.cert_pem.write_to_path(folder / 'ca.pem')
    hashed = bcrypt.hashpw(_PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    (folder / 'users').write_text(f'admin:{hashed}\n')
    systems = [{'uuid': bmc.identity(name), 'name': name, 'power_state': 'On', 'nics': []}
               for name in _NAMES]
    (folder / 'emulator.conf').write_text('\n'.join(
        f'SUSHY_EMULATOR_{name} = {value!r}' for name, value in {
            'FAKE_DRIVER': True, 'FAKE_SYSTEMS': systems, 'STATE_DIR': str(folder),
            'AUTH_FILE': str(folder / 'users'), 'FEATURE_SET': 'minimum',
            'SSL_CERT': str(folder / 'bmc.pem'), 'SSL_KEY': str(folder / 'bmc.key'),
            'LISTEN_IP': '127.0.0.1', 'LISTEN_PORT': port}.items()))
    with open(folder / 'log', 'wb') as log, subprocess.Popen(
            [sys.executable, '-m', 'sushy_tools.emulator.main', '--config',
             folder / 'emulator.conf'], stdout=log, stderr=log) as process:
        try:
            waiting.until(lambda: loopback.listens(port))
            yield types.SimpleNamespace(url=f'https://127.0.0.1:{port}', process=process,
                                        ca=folder / 'ca.pem')
        finally:
            process.kill()


@pytest.fixture
def bmc_file(emulator, tmp_path):
    """callable(more of each BMC): the path of a file with the BMCs."""
    def write(**more):
        path = tmp_path / 'bmcs.yaml'
        every = {'address': emulator.url, 'username': 'admin', 'password': _PASSWORD,
                 'ca_file': str(emulator.ca), **more}
        path.write_text('\n'.join([
            f'"*": {{{", ".join(f"{key}: {value!r}" for key, value in every.items())}}}',
            *(f'{name}: {{system: /redfish/v1/Systems/{bmc.identity(name)}}}'
              for name in _NAMES)]))
        path.chmod(0o600)
        return str(path)
    return write


def _configured(conf, path):
    for name, value in (('driver', 'redfish'), ('bmc_file', path), ('spare', 0),
                        ('timeout_seconds', _LIMIT)):
        conf.set_override(name, value, group='energy')
    return conf


@pytest.fixture
def driver(bmc_file):
    """callable(more of each BMC): the driver."""
    def make(**more):
        found = cfg.ConfigOpts()
        for module in (energy, cloud):
            module.GROUP.register(found)
        found([], project='climate', default_config_files=[], default_config_dirs=[])
        return power_drivers.load(_configured(found, bmc_file(**more)), None)
    return make


@contextlib.contextmanager
def hanging(process):
    """Stop a process inside the block."""
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def _refused(call):
    """Return the message of the error that a call ends with."""
    with pytest.raises(errors.PowerFailed) as told:
        call(HOST)
    assert 'compute-1' in told.value.message
    assert _PASSWORD not in told.value.message
    return told.value.message


def test_a_bmc_with_tls_and_a_password_switches_its_host(driver):
    found = driver()
    found.sleep(HOST)
    waiting.until(lambda: found.state(HOST) == base.OFF)
    found.wake(HOST)
    waiting.until(lambda: found.state(HOST) == base.ON)


def test_a_certificate_of_nobody_is_refused_before_the_password_is_sent(driver, tmp_path):
    path = tmp_path / 'other.pem'
    trustme.CA().cert_pem.write_to_path(path)
    assert 'certificate' in _refused(driver(ca_file=str(path)).state).lower()


def test_a_wrong_password_is_an_error_that_does_not_show_it(driver):
    message = _refused(driver(password='wrong-secret').state)
    assert 'wrong-secret' not in message


@pytest.mark.parametrize('call', ['state', 'wake', 'sleep'])
def test_a_bmc_that_hangs_is_an_error_in_time(driver, emulator, call):
    found = driver()
    assert found.state(HOST) == base.ON
    with hanging(emulator.process):
        assert f'read timeout={_LIMIT}' in _refused(getattr(found, call))
    # What it was asked meanwhile, it does now.
    with contextlib.suppress(errors.PowerFailed):
        found.state(HOST)
    found.wake(HOST)
    waiting.until(lambda: found.state(HOST) == base.ON)


def test_a_bmc_that_refuses_is_an_error(driver):
    found = driver()
    _refused(lambda host: found._ask(host, lambda system: system.reset_system('Explode')))
    unknown = records.Resource(3, 'host', 'compute-3', {})
    with pytest.raises(errors.PowerFailed, match='compute-3'):
        found.sleep(unknown)


class _Kept:
    """A manager whose hosts sleep by real BMCs; simulated hosts do not follow by themselves."""

    def __init__(self, manager, driver):
        self.manager, self.driver = manager, driver
        self.keeper = power_saving.PowerSaving(manager.core, 'here', driver)

    def states(self):
        with self.manager.database.reader() as connection:
            return [each.state for each in power.in_states(connection, sleep.STATES)]

    def minute(self, follow=_NAMES):
        """Advance the clock by a minute; simulated hosts of these names follow their BMCs."""
        manager = self.manager
        manager.run_until(manager.clock.now + minutes(1))
        self.keeper.step(manager.clock())
        with manager.database.reader() as connection:
            waking = {each.resource_id for each in power.in_states(connection, [sleep.WAKING])}
        for each in manager.client.list_resources(builders.an_admin(), 'host'):
            if each.name in follow:
                if each.id in waking:
                    self._switched_on(each)
                with contextlib.suppress(errors.PowerFailed):
                    manager.cloud.mark_host(each.name, up=self.driver.state(each) == base.ON)

    def _switched_on(self, host):
        """Give a real BMC its real time, in which the clock of the manager stands still."""
        def is_on():
            with contextlib.suppress(errors.PowerFailed):
                return self.driver.state(host) == base.ON
        waiting.until(is_on)


@pytest.fixture
def kept(conf, bmc_file, manager):
    """Two hosts that sleep."""
    _configured(conf, bmc_file())
    found = _Kept(manager, power_drivers.load(conf, manager.cloud))
    for name in _NAMES:
        found.driver.wake(records.Resource(0, 'host', name, {}))
    manager.enrol(2)
    manager.clock.advance(hours(1))

    def sleep_both():
        found.minute()
        return found.states() == [sleep.ASLEEP] * 2
    waiting.until(sleep_both, lambda: str(found.states()))
    return found


def _lives(kept, lease, follow=_NAMES):
    def active():
        kept.minute(follow)
        return kept.manager.lease(lease).state == lifecycle.ACTIVE
    waiting.until(active, lambda: str(kept.manager.lease(lease)))
    return kept.manager.lease(lease).reservations[0].resource_ids


def test_a_bmc_that_says_on_of_a_host_that_is_off_costs_its_lease_no_more_than_time(
        conf, kept):
    conf.set_override('wake_limit_minutes', 4, group='energy')
    lease = kept.manager.book(end=kept.manager.clock() + hours(8))
    [first] = lease.reservations[0].resource_ids
    liar = _NAMES[first - 1]
    [found] = _lives(kept, lease, follow=set(_NAMES) - {liar})
    assert found != first
    assert sleep.FAILED in kept.states()


def test_a_bmc_that_hangs_while_its_host_wakes_delays_the_start_and_no_more(kept, emulator):
    lease = kept.manager.book(end=kept.manager.clock() + hours(8))
    with hanging(emulator.process):
        for _ in range(3):
            kept.manager.run_until(kept.manager.clock.now + minutes(1))
            kept.keeper.step(kept.manager.clock())
        assert kept.manager.lease(lease).state == lifecycle.PENDING
    assert _lives(kept, lease) == lease.reservations[0].resource_ids


@pytest.fixture
def cloud_of_one_program(tmp_path):
    """The settings of a cloud of which only cinder-volume is there: a program that does nothing."""
    found = settings.from_environment({'CLOUD_DIR': str(tmp_path / 'cloud')})
    found.make_folders()
    (found.venv / 'bin').mkdir(parents=True)
    (found.conf / 'cinder').mkdir(parents=True, exist_ok=True)
    (found.venv / 'bin' / 'python').symlink_to(sys.executable)
    (found.venv / 'bin' / 'cinder-volume').write_text('import time\ntime.sleep(300)\n')
    yield found
    processes.stop(found, bmc.process_of(found, 'nap'))


def test_the_bmc_of_a_storage_host_starts_and_stops_its_cinder_volume(
        conf, tmp_path, cloud_of_one_program):
    port, state = builders.a_free_port(), tmp_path / 'state'
    state.mkdir()
    configure.storage_host(cloud_of_one_program, 'nap', 10)
    path = tmp_path / 'bmcs.yaml'
    path.write_text(f'nap: {{address: "http://127.0.0.1:{port}", username: a, password: b}}\n')
    path.chmod(0o600)
    driver = power_drivers.load(_configured(conf, str(path)), None)
    machine, process = records.Resource(1, 'host', 'nap', {}), bmc.process_of(
        cloud_of_one_program, 'nap')
    with open(tmp_path / 'log', 'wb') as log, subprocess.Popen(
            [sys.executable, '-m', 'tools.cloud.bmc', str(port), str(state), 'nap'],
            stdout=log, stderr=log, cwd=settings.CHECKOUT,
            env={**os.environ, 'CLOUD_DIR': str(cloud_of_one_program.folder)}) as served:
        try:
            waiting.until(lambda: loopback.listens(port))
            driver.sleep(machine)
            assert driver.state(machine) == base.OFF
            driver.wake(machine)
            waiting.until(lambda: driver.state(machine) == base.ON)
            pid = processes.pid_of(cloud_of_one_program, process)
            words = pathlib.Path(f'/proc/{pid}/cmdline').read_text()
            assert 'bin/cinder-volume' in words and 'cinder/nap.conf' in words
            driver.sleep(machine)
            waiting.until(lambda: driver.state(machine) == base.OFF)
            assert processes.pid_of(cloud_of_one_program, process) is None
        finally:
            served.terminate()
    written = (cloud_of_one_program.conf / 'cinder' / 'nap.conf').read_text()
    assert 'host = nap' in written and 'pool_gb = 10' in written
