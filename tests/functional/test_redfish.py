# SPDX-License-Identifier: Apache-2.0
"""The drivers of power: real programs, and real BMCs as sushy-tools emulates them."""
import dataclasses
import socket
import threading

from oslo_config import cfg
import pytest
from werkzeug import serving

from climate import errors
from climate import power as power_drivers
from climate.conf import cloud
from climate.conf import energy
from climate.domain import records
from climate.power import base
from tools.cloud import bmc

HOST = records.Resource(1, 'host', 'compute1', {})


@pytest.fixture
def conf():
    """The options of power drivers."""
    found = cfg.ConfigOpts()
    for module in (energy, cloud):
        module.GROUP.register(found)
    found([], project='climate', default_config_files=[], default_config_dirs=[])
    return found


@pytest.fixture(scope='module')
def bmcs(tmp_path_factory):
    """(URL of the emulator, [what was switched])."""
    switched = []
    folder = tmp_path_factory.mktemp('bmcs')
    server = serving.make_server('127.0.0.1', 0, bmc.application(
        ['compute1', 'compute2'], folder, lambda name, on, off: switched.append((name, on))))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f'http://127.0.0.1:{server.server_port}', switched
    server.shutdown()
    thread.join()


@pytest.fixture
def redfish(conf, bmcs, tmp_path):
    """callable(text of the file): the driver redfish."""
    def make(text=None, mode=0o600):
        path = tmp_path / 'bmcs.yaml'
        path.write_text(text or (
            f'"*": {{address: "{bmcs[0]}", username: admin, password: very-secret}}\n'
            f'compute1: {{system: /redfish/v1/Systems/{bmc.identity("compute1")}}}\n'))
        path.chmod(mode)
        conf.set_override('driver', 'redfish', group='energy')
        conf.set_override('bmc_file', str(path), group='energy')
        return power_drivers.load(conf, None)
    return make


def test_a_bmc_switches_its_host_off_and_on(redfish, bmcs):
    driver = redfish()
    assert driver.state(HOST) == base.ON
    driver.sleep(HOST)
    assert driver.state(HOST) == base.OFF
    driver.wake(HOST)
    assert driver.state(HOST) == base.ON
    assert bmcs[1] == [('compute1', False), ('compute1', True)]


def test_a_bmc_that_is_not_there_is_an_error_without_the_password(redfish):
    driver = redfish('compute1: {address: "http://127.0.0.1:9", username: u, password: secret}')
    with pytest.raises(errors.PowerFailed) as told:
        driver.state(HOST)
    assert 'compute1' in told.value.message
    assert 'secret' not in told.value.message


def test_a_host_without_a_bmc_is_named(redfish):
    with pytest.raises(errors.PowerFailed, match=r'compute1.*bmc_file has no address'):
        redfish('compute9: {address: "https://10.0.0.9"}').state(HOST)


@pytest.mark.parametrize(('text', 'properties'), [
    ('compute1: {address: "http://a"}\ncompute2: {address: "http://A/"}', {}),
    ('"*": {address: "http://a"}\ncompute1: {username: x}\ncompute2: {username: y}', {}),
    ('"*": {address: "http://a"}\ncompute1: {system: /1}\ncompute2: {username: y}', {}),
    ('"*": {system: /1}\ncompute1: {address: "http://a"}\ncompute2: {address: "http://a"}', {}),
    ('compute2: {address: "http://a", system: /1}', {'bmc_address': 'http://a'}),
    ('"*": {address: "http://a"}', {}), ('"*": {address: "http://a", system: /1}', {})])
def test_a_bmc_that_would_switch_another_host_too_is_refused(redfish, text, properties):
    driver = redfish(text)
    host = dataclasses.replace(HOST, properties=properties)
    for call in (driver.check, driver.sleep):
        with pytest.raises(errors.PowerFailed, match=r'compute1.*(compute2 has|"\*" is)'):
            call(host)


def test_hosts_in_one_chassis_have_systems_of_their_own(redfish, bmcs):
    systems = ''.join(f'{name}: {{system: /redfish/v1/Systems/{bmc.identity(name)}}}\n'
                      for name in ('compute1', 'compute2'))
    driver = redfish(f'"*": {{address: "{bmcs[0]}", username: admin, password: x}}\n{systems}')
    assert driver.state(HOST) == base.ON


@pytest.mark.parametrize(('text', 'mode', 'why'), [
    ('a: {address: x, passwort: y}', 0o600, 'unknown key "passwort"'),
    ('- a', 0o600, 'it has to be'), ('{', 0o600, 'not YAML'),
    ('a: {address: x}', 0o644, 'others may read'),
])
def test_a_file_of_bmcs_that_is_wrong_is_refused_at_the_start(redfish, text, mode, why):
    with pytest.raises(errors.ConfigurationError, match=why):
        redfish(text, mode)


@pytest.fixture
def command(conf, tmp_path):
    """callable(text of a shell script): the driver command."""
    def make(text):
        path = tmp_path / 'power'
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(0o755)
        conf.set_override('driver', 'command', group='energy')
        conf.set_override('command', str(path), group='energy')
        conf.set_override('timeout_seconds', 2, group='energy')
        return power_drivers.load(conf, None)
    return make


def test_a_program_switches_a_host_off_and_on(command, tmp_path):
    driver = command(f'cd {tmp_path}; case $1 in state) cat $2.is;; *) echo $1 > $2.is;; esac')
    driver.sleep(HOST)
    assert driver.state(HOST) == base.OFF
    driver.wake(HOST)
    assert driver.state(HOST) == base.ON


@pytest.mark.proof
@pytest.mark.parametrize(('text', 'why'), [
    ('echo no such host >&2; exit 3', 'failed with 3: no such host'),
    ('echo maybe', 'answers "maybe"'), ('exec sleep 60', 'did not end within 2 s')])
def test_a_program_that_fails_lies_or_hangs_is_an_error(command, text, why):
    with pytest.raises(errors.PowerFailed, match=why):
        command(text).state(HOST)


@pytest.mark.parametrize(('driver', 'why'), [
    ('redfisch', 'not installed'), ('command', 'command is not set'),
    ('redfish', 'bmc_file is not set'), ('ironic', 'ironic_cloud is not set'),
    ('simulated', 'cloud')])
def test_a_driver_that_cannot_be_used_is_refused_at_the_start(conf, driver, why):
    conf.set_override('driver', driver, group='energy')
    with pytest.raises(errors.ConfigurationError, match=why):
        power_drivers.load(conf, None)


@pytest.mark.proof
def test_a_bmc_that_hangs_is_asked_once_and_is_an_error(redfish, conf):
    conf.set_override('timeout_seconds', 1, group='energy')
    asked = []
    with socket.create_server(('127.0.0.1', 0)) as silent:
        def accept():
            while True:
                try:
                    asked.append(silent.accept()[0])
                except OSError:
                    return
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        driver = redfish(f'compute1: {{address: "http://127.0.0.1:{silent.getsockname()[1]}", '
                         'username: u, password: secret}')
        with pytest.raises(errors.PowerFailed, match=r'compute1.*its BMC'):
            driver.state(HOST)
        silent.shutdown(socket.SHUT_RDWR)
    thread.join()
    assert len(asked) == 1
    for each in asked:
        each.close()


def test_a_bmc_that_refuses_is_an_error_in_its_words(redfish, bmcs):
    driver = redfish(f'compute1: {{address: "{bmcs[0]}", system: /redfish/v1/Systems/other}}')
    with pytest.raises(errors.PowerFailed, match=r'compute1.*not found'):
        driver.wake(HOST)
