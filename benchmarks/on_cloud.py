# SPDX-License-Identifier: Apache-2.0
"""The lateness of starts on the cloud of ``make cloud``, and which part is the cloud's own time.

``python -m benchmarks.on_cloud``: leases of instances that are all due in the same second, then
leases of hosts, each of which starts when another ends on the same host. All hosts of the cloud
are enrolled, and nobody else may use it meanwhile.
"""
import argparse
import collections
import contextlib
import datetime
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

import openstack

from climate import client
from climate.client import errors
from tools.cloud import settings
from tools.cloud import stand_in

_PROGRAM = """
import os, sys
sys.path.insert(0, {checkout!r})
os.environ['CLIMATE_CALLS'] = {calls!r}
from benchmarks import watched_manager
sys.exit(watched_manager.main())
"""
_ID = re.compile(r'/(?=[^/]*\d)[^/?]+')
_SIZES = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 64, 'disk_gb': 1,
          'amount': 1, 'affinity': None, 'resource_properties': ''}
_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'resource_properties': '',
         'hypervisor_properties': ''}
_LIMIT_SECONDS = 900
_STARTED, _ENDED = 'start_lease', 'end_lease'


class Scene:
    """The leases that were made, and the calls to the cloud since then.

    :param path: the file into which the manager writes its calls.
    """

    def __init__(self, connection, endpoint, path):
        self.leases = client.Client(connection.session, endpoint_override=endpoint).leases
        self._path = path
        self._made = []

    def make(self, name, start, end, *reservations):
        """Make a lease; return its id."""
        made = self.leases.create(name, start=start.isoformat(), end=end.isoformat(),
                                  reservations=list(reservations))
        self._made.append(made['id'])
        return made['id']

    def wait(self, ids, status):
        """Wait until all these leases have that status."""
        give_up, left = time.monotonic() + _LIMIT_SECONDS, list(ids)
        while left:
            left = [each for each in left if self.leases.get(each)['status'] != status]
            assert time.monotonic() < give_up, f'{len(left)} of {len(ids)} are not {status}.'
            # Rarely, because the answers take time from the cloud.
            time.sleep(5)

    def told(self, lease_id, what):
        """Return when `what` is in the history of a lease."""
        [at] = [each['at'] for each in self.leases.history(lease_id) if each['what'] == what]
        return datetime.datetime.fromisoformat(at)

    def calls(self):
        """The calls of events, as ``watched_manager`` writes them."""
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def clean(self):
        """Delete all leases, and wait for that."""
        for each in self._made:
            with contextlib.suppress(errors.NotFound):
                self.leases.delete(each)
        give_up = time.monotonic() + _LIMIT_SECONDS
        for each in self._made:
            # A lease that is deleted is not there any more.
            with contextlib.suppress(errors.NotFound):
                while self.leases.get(each):
                    assert time.monotonic() < give_up, each
                    time.sleep(1)
        self._made.clear()
        self._path.write_text('')


def crowd(scene, count, ahead_seconds):
    """Leases of one instance each that start, and later end, in the same second."""
    start = _soon(ahead_seconds)
    end = start + datetime.timedelta(seconds=ahead_seconds)
    ids = [scene.make(f'crowd-{number}', start, end, _SIZES) for number in range(count)]
    assert _now() < start, 'They were not made in time: set --ahead.'
    scene.wait(ids, 'active')
    _show(scene, f'{count} leases of an instance that start in the same second', ids, _STARTED,
          dict.fromkeys(ids, start))
    scene.wait(ids, 'terminated')
    _show(scene, f'{count} leases of an instance that end in the same second', ids, _ENDED,
          dict.fromkeys(ids, end))


def row(scene, count, hosts, ahead_seconds, length_seconds):
    """Leases of a host each, on all hosts: each one but the first starts when another ends."""
    length = datetime.timedelta(seconds=length_seconds)
    begin, ids, due = _soon(ahead_seconds), [], {}
    for number in range(count):
        start = begin + length * (number // hosts)
        made = scene.make(f'row-{number}', start, start + length, _HOST)
        if number >= hosts:
            due[made] = start
        ids.append(made)
    assert _now() < begin, 'They were not made in time: set --ahead.'
    scene.wait(ids, 'terminated')
    _show(scene, f'{count} leases of a host in a row on {hosts} hosts: the starts', list(due),
          _STARTED, due)


def _show(scene, title, ids, event, due):
    """Print how late the event was for each lease, and the calls that it made.

    :param due: {lease id: the moment}.
    """
    late = sorted((scene.told(each, event) - due[each]).total_seconds() for each in ids)
    calls = [each for each in scene.calls() if each['lease'] in due and each['event'] == event]
    own = sum(each['seconds'] for each in calls)
    print(f'\n{title}')
    print(f'  late: first {late[0]:.1f} s, median {statistics.median(late):.1f} s, '
          f'last {late[-1]:.1f} s')
    print(f'  answers of the cloud: {len(calls)}, {len(calls) / len(ids):.1f} for each; they took '
          f'{own:.1f} s, {own / len(ids):.2f} s for each, {own / sum(late):.0%} of all lateness')
    for (method, path), seconds in sorted(_by_kind(calls).items()):
        print(f'    {len(seconds) / len(ids):5.2f} × {statistics.median(seconds):.3f} s  '
              f'{method} {path}')
    sys.stdout.flush()


def _by_kind(calls):
    found = collections.defaultdict(list)
    for each in calls:
        path = _ID.sub('/*', each['url'].partition('?')[0])
        found[each['method'], path].append(each['seconds'])
    return found


def _now():
    return datetime.datetime.now(datetime.UTC)


def _soon(seconds):
    return _now().replace(microsecond=0) + datetime.timedelta(seconds=seconds)


def _connect(cloud, name):
    config = openstack.config.OpenStackConfig(
        config_files=[str(cloud.home / 'clouds.yaml')], load_envvars=False)
    return openstack.connection.Connection(config=config.get_one(name))


def _enrol(cloud):
    hosts = client.Client(_connect(cloud, 'admin').session,
                          endpoint_override=cloud.climate_endpoint).hosts
    known = {each['hypervisor_hostname'] for each in hosts.list()}
    for name in sorted(set(cloud.climate_hosts) - known):
        hosts.create(name)


def main(arguments=None):
    """Run both; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--leases', type=int, default=60, help='that start at once; 0: none')
    parser.add_argument('--ahead', type=int, default=180,
                        help='seconds for which they are known before')
    parser.add_argument('--row', type=int, default=20, help='leases of hosts in a row; 0: none')
    parser.add_argument('--length', type=int, default=45, help='seconds of each of these')
    asked = parser.parse_args(arguments)
    cloud = settings.from_environment(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        calls = pathlib.Path(folder, 'calls')
        calls.write_text('')
        _enrol(cloud)
        stand_in.stop(cloud)
        stand_in.start(cloud, pathlib.Path(folder, 'climate-manager'), _PROGRAM.format(
            checkout=str(settings.CHECKOUT), calls=str(calls)))
        scene = Scene(_connect(cloud, 'demo'), cloud.climate_endpoint, calls)
        try:
            if asked.leases:
                crowd(scene, asked.leases, asked.ahead)
                scene.clean()
            if asked.row:
                row(scene, asked.row, len(cloud.climate_hosts), asked.ahead, asked.length)
        finally:
            scene.clean()
            stand_in.end(cloud)
    return 0


if __name__ == '__main__':
    sys.exit(main())
