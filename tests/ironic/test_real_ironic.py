# SPDX-License-Identifier: Apache-2.0
"""The power driver "ironic" on a real Ironic, whose nodes have BMCs of sushy-tools."""
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

import openstack
from oslo_config import cfg
import pytest
import requests
from support import builders
from werkzeug import serving
import yaml

from climate import errors
from climate import power as power_drivers
from climate.conf import cloud
from climate.conf import energy
from climate.domain import records
from climate.power import base
from tools.cloud import bmc

# How long Ironic may take, on a busy machine.
_STARTS, _SWITCHES = 120, 60
# [energy] timeout_seconds, and what a call may take beyond it.
_LIMIT, _MORE = 5, 5

_CONF = """[DEFAULT]
auth_strategy = noauth
state_path = {folder}
enabled_hardware_types = redfish
enabled_power_interfaces = redfish
enabled_management_interfaces = redfish
enabled_boot_interfaces = redfish-virtual-media
enabled_deploy_interfaces = direct
enabled_bios_interfaces = no-bios
enabled_console_interfaces = no-console
enabled_firmware_interfaces = no-firmware
enabled_inspect_interfaces = no-inspect
enabled_network_interfaces = noop
enabled_raid_interfaces = no-raid
enabled_rescue_interfaces = no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = no-vendor
rpc_transport = none
my_ip = 127.0.0.1
host = localhost
[database]
connection = sqlite:///{folder}/ironic.sqlite
[api]
host_ip = 127.0.0.1
port = {port}
api_workers = 1
[conductor]
sync_power_state_interval = 2
power_state_sync_max_retries = 1
[redfish]
connection_attempts = 1
[oslo_concurrency]
lock_path = {folder}
"""


@pytest.fixture(scope='module')
def ironic(tmp_path_factory):
    """The URL of an Ironic of its own."""
    try:
        programs = pathlib.Path(os.environ['IRONIC_BIN'])
    except KeyError as error:
        pytest.skip(f'{error} is not set; "make ironic-test" sets it.')
    folder, port = tmp_path_factory.mktemp('ironic'), builders.a_free_port()
    path = folder / 'ironic.conf'
    path.write_text(_CONF.format(folder=folder, port=port))
    # Ironic checks at its start that it finds programs such as qemu-img beside it.
    there = {**os.environ, 'PATH': f'{programs}:{os.environ["PATH"]}'}
    subprocess.run([programs / 'ironic-dbsync', '--config-file', path, 'create_schema'],
                   check=True, capture_output=True, env=there)
    url = f'http://127.0.0.1:{port}'
    with open(folder / 'ironic.log', 'wb') as log, subprocess.Popen(
            [programs / 'ironic', '--config-file', path], stdout=log, stderr=log,
            env=there, start_new_session=True) as process:
        try:
            _until(lambda: _has_a_conductor(url), _STARTS)
            yield url
        finally:
            # Its state is thrown away, so that it need not end what it does.
            os.killpg(process.pid, signal.SIGKILL)


def _has_a_conductor(url):
    with contextlib.suppress(requests.RequestException):
        return bool(requests.get(f'{url}/v1/drivers', timeout=5).json().get('drivers'))


def _until(true, seconds):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f'Not in {seconds} s.'
        time.sleep(0.3)


class Bmcs:
    """BMCs of sushy-tools that may refuse, or not answer.

    :ivar trouble: what happens when something is switched; None: nothing.
    :ivar hangs: while it is cleared, no request is answered.
    """

    def __init__(self, folder):
        self.trouble = None
        self.answers = threading.Event()
        self.answers.set()
        self._app = bmc.application(['compute1'], folder, self._switch)
        self._server = serving.make_server('127.0.0.1', 0, self, threaded=True)
        self.url = f'http://127.0.0.1:{self._server.server_port}'
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __call__(self, environ, start_response):
        self.answers.wait(60)
        return self._app(environ, start_response)

    def _switch(self, name, on, off):
        if self.trouble is not None:
            raise self.trouble

    def close(self):
        self.answers.set()
        self._server.shutdown()


@pytest.fixture
def bmcs(tmp_path):
    """The BMCs of the nodes."""
    found = Bmcs(tmp_path)
    # The emulator is one in each process, and remembers.
    requests.post(f'{found.url}/redfish/v1/Systems/{bmc.identity("compute1")}/Actions/'
                  'ComputerSystem.Reset', json={'ResetType': 'On'}, timeout=10).raise_for_status()
    yield found
    found.close()


@pytest.fixture
def baremetal(ironic, bmcs, tmp_path, monkeypatch):
    """Ironic's own client."""
    path = tmp_path / 'clouds.yaml'
    path.write_text(yaml.safe_dump({'clouds': {'metal': {
        'auth_type': 'none', 'auth': {'endpoint': ironic},
        'baremetal_endpoint_override': ironic}}}))
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(path))
    return openstack.connect(cloud='metal').baremetal


@pytest.fixture
def host(baremetal, bmcs):
    """A host whose node Ironic has, and which is on."""
    node = baremetal.create_node(driver='redfish', driver_info={
        'redfish_address': bmcs.url, 'redfish_username': 'admin',
        'redfish_password': 'very-secret',
        'redfish_system_id': f'/redfish/v1/Systems/{bmc.identity("compute1")}'})
    baremetal.set_node_provision_state(node, 'manage', wait=True, timeout=_SWITCHES)
    _until(lambda: baremetal.get_node(node).power_state == 'power on', _SWITCHES)
    return records.Resource(1, 'host', 'compute1', {}, properties={'node': node.id})


@pytest.fixture
def driver(baremetal):
    """The power driver, as a manager has it."""
    conf = cfg.ConfigOpts()
    for module in (energy, cloud):
        module.GROUP.register(conf)
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    conf.set_override('driver', 'ironic', group='energy')
    conf.set_override('ironic_cloud', 'metal', group='energy')
    conf.set_override('node_property', 'node', group='energy')
    conf.set_override('timeout_seconds', _LIMIT, group='energy')
    return power_drivers.load(conf, None)


def test_ironic_switches_a_node_off_and_on(driver, host):
    assert driver.state(host) == base.ON
    driver.sleep(host)
    _until(lambda: driver.state(host) == base.OFF, _SWITCHES)
    driver.wake(host)
    _until(lambda: driver.state(host) == base.ON, _SWITCHES)


def test_a_node_that_is_told_twice_is_switched_or_says_that_it_is_busy(driver, host):
    for _ in range(3):
        with contextlib.suppress(errors.PowerFailed):
            driver.sleep(host)
    _until(lambda: driver.state(host) == base.OFF, _SWITCHES)


def test_a_node_that_ironic_does_not_know_is_named(driver):
    with pytest.raises(errors.PowerFailed, match='compute9'):
        driver.state(records.Resource(9, 'host', 'compute9', {}))


def test_a_bmc_that_refuses_leaves_the_node_on(driver, host, bmcs, baremetal):
    bmcs.trouble = RuntimeError('no power for you')
    with contextlib.suppress(errors.PowerFailed):
        driver.sleep(host)
    _until(lambda: baremetal.get_node(host.properties['node']).last_error, _SWITCHES)
    assert driver.state(host) == base.ON


def test_a_bmc_that_hangs_is_never_taken_for_off(driver, host, bmcs, baremetal):
    bmcs.answers.clear()
    began = time.monotonic()
    for call in (driver.sleep, driver.wake, driver.state):
        with contextlib.suppress(errors.PowerFailed):
            assert call(host) in (None, base.ON)
    assert time.monotonic() - began < 3 * (_LIMIT + _MORE)
    bmcs.close()
    # Ironic asks without success, and then says that it does not know.
    _until(lambda: baremetal.get_node(host.properties['node']).power_state is None, 2 * _SWITCHES)
    with pytest.raises(errors.PowerFailed, match='does not know'):
        driver.state(host)


def test_an_ironic_that_is_not_there_is_an_error(driver, host, ironic, tmp_path):
    path = tmp_path / 'clouds.yaml'
    path.write_text(path.read_text().replace(ironic, 'http://127.0.0.1:9'))
    with pytest.raises(errors.PowerFailed, match='compute1'):
        driver.state(host)
