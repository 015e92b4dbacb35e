# SPDX-License-Identifier: Apache-2.0
"""Plays whole leases in front of the reader, on a standalone Climate of its own.

Exits 0 only if every step held.
"""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

# Chosen before anything else is imported.
from climate import backend

backend.prefer_threads()

from climate import conf as configuration  # noqa: E402
from climate.cloud import simulated  # noqa: E402
from tools.demo import clearing  # noqa: E402
from tools.demo import course  # noqa: E402
from tools.demo import hosts  # noqa: E402
from tools.demo import living  # noqa: E402
from tools.demo import month  # noqa: E402
from tools.demo import nova_api  # noqa: E402
from tools.demo import servers  # noqa: E402
from tools.demo import stage as stages  # noqa: E402

# So that the reader sees the image being made, and the server living until it is there.
_CLOUD = {'server_seconds': 0.2, 'image_seconds': 1}


def main():
    """Start a standalone and a nova-api, play, stop them; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix='climate-demo-') as folder, \
            _climate(folder) as (environ, url):
        cloud = simulated.SimulatedCloud(configuration.load([], 'climate-demo', files=[], defaults=[
            ('simulated', 'state', f'{folder}/cloud.sqlite'),
            *(('simulated', name, value) for name, value in _CLOUD.items())]))
        with nova_api.served(cloud, url, folder) as nova_url:
            stage = stages.Stage({**environ, 'OS_COMPUTE_ENDPOINT_OVERRIDE': nova_url}, cloud)
            try:
                hosts.play(stage)
                servers.play(stage, nova_url)
                clearing.play(stage)
                course.play(stage)
            except stages.Failed as error:
                print(f'\n   ✗ {error}', *_warnings(folder), sep='\n')
                return 1
    try:
        living.play(_climate)
        month.play(_climate)
    except stages.Failed as error:
        print(f'\n   ✗ {error}')
        return 1
    print('\nEvery step held.')
    return 0


@contextlib.contextmanager
def _climate(folder, options=''):
    """A Climate of its own in `folder`; gives an environment that finds it, and its address.

    :param options: the last lines of its configuration file.
    """
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    environ = {name: value for name, value in os.environ.items() if not name.startswith('OS_')}
    environ |= {'CLIMATE_STATE': folder, 'CLIMATE_STANDALONE_FILE': f'{folder}/standalone.json'}
    config = pathlib.Path(folder, 'demo.conf')
    config.write_text(f'[api]\nport = {port}\n[simulated]\n' + ''.join(
        f'{name} = {value}\n' for name, value in _CLOUD.items())
        + f'[acquire]\nlent_aggregate = {clearing.LENT}\n{options}')
    print('Climate starts, with a simulated cloud of 8 hosts …')
    process = subprocess.Popen(
        [stages.BIN / 'climate-standalone', '--config-file', config], env=environ, cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        for line in process.stdout:
            if line.startswith('Ctrl-C'):
                break
        else:
            raise SystemExit(f'It did not start: see {folder}/climate.log')
        yield environ, f'http://127.0.0.1:{port}/v1'
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(stages.SECONDS)


def _warnings(folder):
    """The last of what Climate has warned of; its log goes away with the folder."""
    lines = pathlib.Path(folder, 'climate.log').read_text().splitlines()
    return [line for line in lines if ' WARNING ' in line or ' ERROR ' in line][-10:]


if __name__ == '__main__':
    sys.exit(main())
