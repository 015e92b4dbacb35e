# SPDX-License-Identifier: Apache-2.0
"""Machines of the real cloud that sleep: their emulated BMCs, and the manager that uses these."""
import contextlib
import os
import socket
import subprocess
import sys

import scene as scenes

from tools.cloud import bmc
from tools.cloud import climate_service
from tools.cloud import processes
from tools.cloud import settings

_ENERGY = """
[energy]
driver = redfish
bmc_file = {file}
poll_seconds = 1
lead_minutes = 0
wake_minutes = {wake_minutes}
spare = 0
min_awake_minutes = 0
min_asleep_minutes = 1
cycles_per_day = 100
"""


@contextlib.contextmanager
def bmcs(cloud, folder, names):
    """The path of a file that names the BMCs of machines; they answer inside of the block."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    state = folder / 'emulator'
    state.mkdir()
    with (folder / 'bmc.log').open('wb') as output:
        served = subprocess.Popen(
            [sys.executable, '-m', 'tools.cloud.bmc', str(port), str(state), *names],
            cwd=settings.CHECKOUT, env=os.environ.copy(), stdout=output, stderr=output)
    try:
        scenes.until(lambda: processes.answers(f'http://127.0.0.1:{port}/redfish/v1'), 'the BMCs')
        path = folder / 'bmcs.yaml'
        path.write_text(''.join(
            f'{name}: {{address: "http://127.0.0.1:{port}", username: admin, password: secret, '
            f'system: /redfish/v1/Systems/{bmc.identity(name)}}}\n' for name in names))
        path.chmod(0o600)
        yield path
    finally:
        served.terminate()
        served.wait()


@contextlib.contextmanager
def sleeping(cloud, path, awake, wake_minutes=1):
    """Put unused machines to sleep in the block; at its end all are awake.

    :param path: the file that names the BMCs.
    :param awake: callable that says whether all is awake.
    """
    energy = _ENERGY.format(file=path, wake_minutes=wake_minutes)
    climate_service.restart(cloud, 'climate-manager', energy)
    try:
        yield
    finally:
        climate_service.restart(cloud, 'climate-manager',
                                energy.replace('spare = 0', 'spare_percent = 100'))
        try:
            scenes.until(awake, 'all to be awake', 180)
        finally:
            climate_service.restart(cloud, 'climate-manager')
