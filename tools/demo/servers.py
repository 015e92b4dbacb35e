# SPDX-License-Identifier: Apache-2.0
"""The story of leased servers: booted with a lease, asleep until it starts, imaged at its end."""
import datetime
import json

import requests

from tools.demo import stage as stages

# What must be seen before the second lease starts is seen in less than half of that.
_AHEAD_SECONDS = 8


def play(stage, nova_url):
    """Every step prints what it does and proves what it says."""
    nova = _Nova(nova_url)
    vm1 = _starts_now(stage, nova)
    vm2 = _starts_later(stage, nova)
    _both_are_listed(stage)
    host = _room_is_held(stage)
    _is_imaged(stage, nova, vm1)
    _wakes(stage, nova, vm2, host)
    _exists_already(stage, nova)
    _nothing_is_left(stage)


class _Nova:
    """nova-api, as a user of the project "demo"."""

    def __init__(self, url):
        self._url = url
        self._headers = {'X-Auth-Token': 'demo:demo:member'}

    def boot(self, name, params=None):
        """Boot a server, with a lease of these parameters; returns its id.

        :raises Failed: Nova refuses.
        """
        hints = {}
        if params is not None:
            hints = {'reserved': 'True', 'lease_params': json.dumps(params)}
        print(f'   $ POST /v2.1/servers: {name}' + ''.join(
            f'\n       --hint {key}={text}' for key, text in hints.items()))
        answer = requests.post(f'{self._url}/servers', headers=self._headers, json={
            'server': {'name': name, 'flavorRef': '2'}, 'os:scheduler_hints': hints},
            timeout=stages.SECONDS)
        if answer.status_code != 202:
            raise stages.Failed(f'{answer.status_code}: {answer.text}')
        lease_id = answer.headers.get('X-Climate-Lease-Id')
        stages.check((lease_id is None) == (params is None),
                     f'202, with lease {lease_id}' if lease_id else '202, without a lease')
        return answer.json()['server']['id']

    def server(self, server_id):
        """The server as Nova shows it; None if there is none."""
        answer = requests.get(f'{self._url}/servers/{server_id}', headers=self._headers,
                              timeout=stages.SECONDS)
        return answer.json()['server'] if answer.status_code == 200 else None

    def becomes(self, server_id, status):
        """Return whether the server soon has that status, or, for None, soon is gone."""
        return stages.soon(lambda: _status(self.server(server_id)) == status)


def _starts_now(stage, nova):
    stages.step('One host is kept for ordinary servers. A user boots a server with a lease that '
                'starts now.')
    stage.climate('host', 'delete', 'compute-8')
    server_id = nova.boot('vm1', {'name': 'lease1', 'start': 'now', 'duration': '1h'})
    stages.check(nova.becomes(server_id, 'ACTIVE'), 'the server is ACTIVE')
    stage.climate('lease', 'wait', 'lease1')
    stages.check(True, 'the lease is active')
    return server_id


def _starts_later(stage, nova):
    stages.step(f'Another server is booted, with a lease that starts in {_AHEAD_SECONDS} seconds.')
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=_AHEAD_SECONDS)
    server_id = nova.boot('vm2', {'name': 'lease2', 'start': start.isoformat(timespec='seconds'),
                                  'duration': '1h'})
    stages.check(nova.becomes(server_id, 'SHELVED_OFFLOADED'), 'it is SHELVED_OFFLOADED')
    found = nova.server(server_id)
    stages.check(found['metadata'].get('climate:status') == 'RESERVED',
                 'its metadata say RESERVED')
    return server_id


def _both_are_listed(stage):
    stages.step('Who has what?')
    print(stage.climate('server', 'list'), end='')
    rows = {row['name']: row.values()
            for row in stage.climate('server', 'list', '-f', 'json')}
    stages.check('active' in rows['vm1'] and 'reserved' in rows['vm2'],
                 'one server is active, the other reserved')


def _room_is_held(stage):
    """Return the name of the host on which capacity is held for vm2."""
    stages.step('Someone else wants all the hosts at the time of the second lease.')
    lease = stage.climate('lease', 'show', 'lease2', '-f', 'json')
    [number] = lease['reservations'][0]['resources']
    host = stage.climate('host', 'show', number, '-f', 'json')['hypervisor_hostname']
    stages.check(True, f'capacity for its server is held on {host}')
    told = stage.refused('lease', 'create', 'greedy', '--hosts', '7', '--start', lease['start'],
                         '--duration', '10m')
    stages.check('Only 6 of 7 hosts are free' in told, told)
    return host


def _is_imaged(stage, nova, server_id):
    stages.step('The user of the first server needs it no more, and lets its lease end soon.')
    stage.climate('lease', 'set', 'lease1', '--end', '+1s', '--yes')
    seen = _seen_until_gone(stage.cloud, server_id)
    for image, lives in seen:
        print(f'     the image: {image or "none yet"}; the server: {"there" if lives else "gone"}')
    stages.check((('active', False) in seen) and all(
        lives or image == 'active' for image, lives in seen),
        'the server was there until its image was active, and is gone')
    [owner] = {each['project_id'] for each in stage.cloud.images()
               if each['server_id'] == server_id}
    stages.check(owner == 'demo', 'the image is the user\'s own')


def _seen_until_gone(cloud, server_id):
    """Return the observations in order, each once: (status of the image or None, server exists)."""
    seen = []

    def gone():
        lives = any(each.id == server_id for each in cloud.servers())
        images = [each['status'] for each in cloud.images() if each['server_id'] == server_id]
        now = (images[0] if images else None, lives)
        if now not in seen:
            seen.append(now)
        return not lives

    stages.soon(gone)
    return seen


def _wakes(stage, nova, server_id, host):
    stages.step('The second lease starts.')
    stages.check(nova.becomes(server_id, 'ACTIVE'), 'its server is ACTIVE')
    place = nova.server(server_id)['OS-EXT-SRV-ATTR:host']
    stages.check(place == host, f'it runs on {place}')
    stage.climate('lease', 'wait', 'lease2')
    stages.check(True, 'the lease is active')


def _exists_already(stage, nova):
    stages.step('A server that exists gets a lease, too; at the end it is to be suspended.')
    server_id = nova.boot('vm3')
    stage.climate('server', 'lease', 'vm3', '--duration', '1h', '--on-end', 'suspend', '--wait')
    stage.climate('lease', 'end', 'lease-vm3', '--yes')
    stages.check(nova.becomes(server_id, 'SUSPENDED'), 'the server is SUSPENDED')
    stages.check(stages.soon(lambda: not nova.server(server_id)['metadata']),
                 'nothing of the lease is left on it')


def _nothing_is_left(stage):
    stages.step('The user deletes the second lease.')
    stage.climate('lease', 'delete', 'lease2', '--yes')
    cloud = stage.cloud
    stages.check(stages.soon(lambda: [each.name for each in cloud.servers()] == ['vm3']),
                 'its server is gone')
    stages.check({each['kind'] for each in cloud.images()} == {'snapshot'},
                 'what it slept in is gone; the images that were made at the ends are there')
    stages.check(stages.soon(lambda: not cloud.as_service().keystone.trusts()),
                 'no trust is left')


def _status(server):
    return server and server['status']
