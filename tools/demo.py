#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays one whole lease in front of the reader, on a standalone Climate of its own.

Exits 0 only if every step held.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Chosen before anything else is imported.
from climate import backend

backend.prefer_threads()

from climate import conf as configuration  # noqa: E402
from climate import errors  # noqa: E402
from climate.cloud import simulated  # noqa: E402

BIN = pathlib.Path(sys.executable).parent
SECONDS = 30


class Failed(Exception):
    """A step did not show what it should."""


def main():
    """Start a standalone, play, stop it."""
    with tempfile.TemporaryDirectory(prefix='climate-demo-') as folder, standalone(folder) as env:
        conf = configuration.load([], 'climate-demo', files=[], defaults=[
            ('simulated', 'state', f'{folder}/cloud.sqlite')])
        try:
            play(env, simulated.SimulatedCloud(conf))
        except Failed as error:
            print(f'\n   ✗ {error}')
            return 1
    print('\nEvery step held.')
    return 0


@contextlib.contextmanager
def standalone(folder):
    """A Climate of its own in `folder`; gives the environment in which `climate` finds it."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    env = {**os.environ, 'CLIMATE_STATE': folder,
           'CLIMATE_STANDALONE_FILE': f'{folder}/standalone.json'}
    config = pathlib.Path(folder, 'demo.conf')
    config.write_text(f'[api]\nport = {port}\n')
    print('Climate starts, with a simulated cloud of 8 hosts …')
    process = subprocess.Popen(
        [BIN / 'climate-standalone', '--config-file', config], env=env, cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        for line in process.stdout:
            if line.startswith('Ctrl-C'):
                break
        else:
            raise SystemExit(f'It did not start: see {folder}/climate.log')
        yield env
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)


def play(env, cloud):
    """The story: every step prints what it does and proves what it says."""
    step('An administrator looks at the hosts that can be leased.')
    hosts = climate(env, 'host', 'list', '-f', 'json')
    check(len(hosts) == 8, f'{len(hosts)} hosts are enrolled')

    step('One is taken out, and enrolled again with a property that users can ask for.')
    climate(env, 'host', 'delete', 'compute-8')
    host = climate(env, 'host', 'create', 'compute-8', '--property', 'gpu=yes', '-f', 'json')
    check(host['gpu'] == 'yes', f'{host["hypervisor_hostname"]} is host {host["id"]} now')

    step('A user leases two hosts with at least 16 VCPUs, from now on, for an hour.')
    lease = climate(env, 'lease', 'create', 'story', '--hosts', '2', '--require', 'vcpus>=16',
                    '--duration', '1h', '--wait', '-f', 'json')
    check(lease['status'] == 'active', f'the lease is {lease["status"]}')
    reservation = lease['reservations'][0]
    check(len(reservation['resources']) == 2, f'it has hosts {reservation["resources"]}')

    step('Someone else wants eight hosts at the same time.')
    told = refused(env, 'lease', 'create', 'greedy', '--hosts', '8', '--duration', '10m')
    check('Only 6 of 8 hosts are free' in told, told.strip())

    step('The user boots a server with the hint.')
    hint = {'reservation': reservation['id']}
    server = cloud.boot('demo', 'mine', hint)
    check(True, f'it runs on {server.host}, a leased host')

    step('A stranger tries the same hint; another user boots without any.')
    check(no_host(cloud, 'stranger', hint), 'the stranger is refused')
    check(no_host(cloud, 'demo', None), 'without the hint nobody gets onto enrolled hosts')

    step('The user needs longer.')
    longer = climate(env, 'lease', 'extend', 'story', '--by', '30m', '-f', 'json')
    check(longer['end'] > lease['end'], f'the end moved from {lease["end"]} to {longer["end"]}')

    step('The user is done early and ends the lease.')
    ended = climate(env, 'lease', 'end', 'story', '--wait', '-f', 'json')
    check(ended['status'] == 'terminated', f'the lease is {ended["status"]}')
    check(not cloud.servers(), 'its servers are gone')
    nova = cloud.as_service().nova
    check(nova.aggregate(reservation['id']) is None, 'its aggregate is gone')
    check(len(nova.aggregate('freepool').hosts) == 8, 'all hosts are back in the freepool')
    check(soon(lambda: not cloud.as_service().keystone.trusts()), 'its trust is gone')


def step(text):
    print(f'\n{text}')


def check(held, text):
    """Print what was seen.

    :raises Failed: it is not what should be.
    """
    if not held:
        raise Failed(text)
    print(f'   ✓ {text}')


def climate(env, *words):
    """Run a `climate` command; its JSON answer where that was asked for.

    :raises Failed: it exits with an error.
    """
    print(f'   $ climate {" ".join(words)}')
    done = run(env, words)
    if done.returncode:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout) if 'json' in words else None


def refused(env, *words):
    """Run a `climate` command that must fail; what it says.

    :raises Failed: it succeeds.
    """
    print(f'   $ climate {" ".join(words)}')
    done = run(env, words)
    if not done.returncode:
        raise Failed('it was not refused')
    return done.stderr


def run(env, words):
    return subprocess.run([BIN / 'climate', *words], env=env, capture_output=True, text=True,
                          timeout=SECONDS, check=False)


def no_host(cloud, project, hints):
    """True where the scheduler finds no host for a server of `project`."""
    try:
        cloud.boot(project, 'unwanted', hints)
    except errors.Conflict:
        return True
    return False


def soon(question):
    """True as soon as `question()` is, within a while."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        if question():
            return True
        time.sleep(0.1)
    return False


if __name__ == '__main__':
    sys.exit(main())
