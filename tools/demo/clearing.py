# SPDX-License-Identifier: Apache-2.0
"""The story of best effort: hosts are cleared of other projects' servers, and lent back."""
from climate.cloud import models
from tools.demo import stage as stages

LENT = 'lent'
_FLAVOR = models.Flavor(id='demo-small', name='demo-small', vcpus=4, ram=8192, disk=40)
# What lives where before anybody needs hosts: {host: {server: its metadata}}.
_BEFORE = {
    'rack-1': {'shop': {}, 'mail': {}},
    'rack-2': {'wiki': {}},
    'rack-3': {'ledger': {'climate:pinned': 'true'}},
    'rack-4': {},
}
_LENT = ('rack-1', 'rack-2', 'rack-3')


def play(stage):
    """Every step prints what it does and proves what it says."""
    _lend(stage)
    count = len(stage.climate('host', 'list', '-f', 'json'))
    everything = stage.climate('lease', 'create', 'everything', '--hosts', str(count),
                               '--duration', '1h', '--wait', '-f', 'json')
    stages.check(everything['status'] == 'active', 'all enrolled hosts are leased')
    _plan(stage)
    lease = _hunt(stage)
    _use(stage, lease)
    _return_hosts(stage, lease)


def _lend(stage):
    stages.step('Four more hosts serve ordinary servers of other projects; three are lent.')
    cloud = stage.cloud
    cloud.add_flavor(_FLAVOR.id, _FLAVOR.name, _FLAVOR.vcpus, _FLAVOR.ram, _FLAVOR.disk)
    for host, servers in _BEFORE.items():
        cloud.add_host(host)
        for name, metadata in servers.items():
            cloud.boot('others', name, host=host, flavor=_FLAVOR.id, metadata=metadata)
    nova = cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate(LENT), list(_LENT))
    stages.check(stages.soon(lambda: _running(cloud) == 4), 'their servers run')
    _picture(cloud)


def _plan(stage):
    stages.step('A user needs two hosts more: now no host is free, but there is a plan.')
    told = stage.refused('lease', 'create', 'urgent', '--hosts', '2', '--duration', '1h')
    stages.check('free' in told, told)
    planned = stage.climate('lease', 'create', 'urgent', '--hosts', '2', '--duration', '1h',
                            '--acquire', 'best-effort', '--dry-run', '-f', 'json')
    for host in planned['acquire']['plan']['hosts']:
        for move in host['moves']:
            print(f'     {move["server_id"]}  {host["host"]} → {move["to"]}')
    cleared = {host['host'] for host in planned['acquire']['plan']['hosts']}
    stages.check(cleared == {'rack-1', 'rack-2'}, 'rack-3 has a pinned server and is left alone')


def _hunt(stage):
    stages.step('The user asks for it.')
    cloud = stage.cloud
    before = {server.id for server in cloud.servers()}
    lease = stage.climate('lease', 'create', 'urgent', '--hosts', '2', '--duration', '1h',
                          '--acquire', 'best-effort', '-f', 'json')
    stages.check(lease['status'] == 'in_progress', f'the lease is {lease["status"]}')
    _picture(cloud)
    stage.climate('lease', 'wait', 'urgent')
    _picture(cloud)
    print(stage.climate('lease', 'explain', 'urgent'))
    stages.check({server.id for server in cloud.servers()} == before, 'no server was lost')
    stages.check(_running(cloud) == 4, 'all of them run')
    return stage.climate('lease', 'show', 'urgent', '-f', 'json')


def _use(stage, lease):
    stages.step('The user boots a server on a host that was cleared.')
    server = stage.cloud.boot('demo', 'urgent', {'reservation': lease['reservations'][0]['id']})
    stages.check(server.host in ('rack-1', 'rack-2'), f'it runs on {server.host}')


def _return_hosts(stage, lease):
    stages.step('The leases end, and the hosts go back to lending.')
    stage.climate('lease', 'end', 'urgent', '--wait', '--yes')
    stage.climate('lease', 'end', 'everything', '--wait', '--yes')
    nova = stage.cloud.as_service().nova
    stages.check(stages.soon(lambda: not {'rack-1', 'rack-2'} & set(
        nova.aggregate('freepool').hosts)), 'they are in the freepool no more')
    stages.check(set(nova.aggregate(LENT).hosts) == set(_LENT), 'they are lent as before')
    stages.check(not any(each.name == lease['reservations'][0]['id']
                         for each in nova.aggregates()), 'nothing of the lease is left')
    _picture(stage.cloud)


def _running(cloud):
    return sum(server.status == 'ACTIVE' and server.project_id == 'others'
               for server in cloud.servers())


def _picture(cloud):
    """Print all hosts that are not Climate's for good: what is on them, and who may use them."""
    nova = cloud.as_service().nova
    aggregates = nova.aggregates()
    print()
    for host in sorted(nova.hypervisors(), key=lambda each: each.name):
        inside = {each.name for each in aggregates if host.service_host in each.hosts}
        if host.name not in _BEFORE and inside:
            continue
        state = ('leased' if inside - {LENT, 'freepool'} else 'being cleared' if not host.enabled
                 else 'in the pool' if 'freepool' in inside
                 else 'lent' if LENT in inside else 'ordinary')
        servers = ' '.join(f'[{server.name}]' for server in cloud.servers()
                           if server.host == host.service_host)
        print(f'     {host.name:<11} {servers:<30} {state}')
    print()
