# SPDX-License-Identifier: Apache-2.0
"""BMCs of machines: sushy-tools' Redfish emulator, whose power is the real process of a service.

``python3 -m tools.cloud.bmc PORT FOLDER [NAME …]`` serves one system for each name on loopback
until it is ended: those of the computes unless names are given. FOLDER is empty; it gets the state
of the emulator. On starts the nova-compute of that name, or the cinder-volume of that storage host,
and any kind of off stops it.
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
    """The UUID of the system of a machine."""
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


def process_of(cloud, name):
    """The process that runs on a machine: of a compute, or of a further host of Cinder."""
    return f'nova-{name}' if name in cloud.compute_hosts else f'{services.STORAGE_HOST}{name}'


def _switch(cloud):
    def work(name, on, off):
        process = process_of(cloud, name)
        if not on:
            processes.stop(cloud, process)
            return
        services.start(cloud, process)
        services.wait_until_well(cloud, process)
        # Nova's parent has brought back all that had ended.
        for other in off & set(cloud.compute_hosts):
            processes.stop(cloud, process_of(cloud, other))
    return work


def main():
    """Serve until the process is ended."""
    port, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    cloud = settings.from_environment(os.environ)
    names = sys.argv[3:] or cloud.compute_hosts
    application(names, folder, _switch(cloud)).run(host='127.0.0.1', port=port, threaded=False)


if __name__ == '__main__':
    main()
