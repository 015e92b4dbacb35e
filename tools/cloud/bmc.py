# SPDX-License-Identifier: Apache-2.0
"""BMCs of the computes: sushy-tools' Redfish emulator, whose power is the real nova-compute.

``python3 -m tools.cloud.bmc PORT FOLDER`` serves one system for each compute on loopback until it
is ended. FOLDER is empty; it gets the state of the emulator. On starts the nova-compute of the
system, and any kind of off stops it.
"""
import os
import pathlib
import sys
import uuid

from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems import fakedriver

from tools.cloud import processes
from tools.cloud import services
from tools.cloud import settings

_ON, _OFF = 'On', 'Off'


class Systems(fakedriver.FakeDriver):
    """The systems of the emulator; `switch` is called when one is switched."""

    #: callable(name of the system, whether it is to be on, names of those that are off)
    switch = None

    def set_power_state(self, identity, state):
        system = self._get(identity)
        on = _ON in state
        off = {each['name'] for each in map(self._get, self.systems)
               if each['power_state'] == _OFF} - {system['name']}
        type(self).switch(system['name'], on, off)
        self._update(system, power_state=_ON if on else _OFF, pending_power=None)


def identity(name):
    """The UUID of the system of a compute."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def application(names, folder, switch):
    """The WSGI application of BMCs whose systems have these names and are on."""
    Systems.switch = staticmethod(switch)
    fakedriver.FakeDriver = Systems
    emulator.app.configure(extra_config={
        'SUSHY_EMULATOR_FAKE_DRIVER': True, 'SUSHY_EMULATOR_FEATURE_SET': 'minimum',
        'SUSHY_EMULATOR_STATE_DIR': str(folder),
        'SUSHY_EMULATOR_FAKE_SYSTEMS': [
            {'uuid': identity(name), 'name': name, 'power_state': _ON, 'nics': []}
            for name in names]})
    return emulator.app


def _switch(cloud):
    def work(name, on, off):
        process = f'nova-{name}'
        if not on:
            processes.stop(cloud, process)
            return
        services.start(cloud, process)
        services.wait_until_well(cloud, process)
        # Nova's parent has brought back all that had ended.
        for other in off:
            processes.stop(cloud, f'nova-{other}')
    return work


def main():
    """Serve until the process is ended."""
    port, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    cloud = settings.from_environment(os.environ)
    application(cloud.compute_hosts, folder, _switch(cloud)).run(
        host='127.0.0.1', port=port, threaded=False)


if __name__ == '__main__':
    main()
