# SPDX-License-Identifier: Apache-2.0
"""The story of whole hosts: leased, used, extended and released."""
from climate import errors
from tools.demo import stage as stages


def play(stage):
    """Every step prints what it does and proves what it says."""
    cloud = stage.cloud
    stages.step('An administrator lists the hosts that can be leased.')
    hosts = stage.climate('host', 'list', '-f', 'json')
    stages.check(len(hosts) == 8, f'{len(hosts)} hosts are enrolled')

    stages.step('One is taken out, and enrolled again with a property that users can ask for.')
    stage.climate('host', 'delete', 'compute-8')
    host = stage.climate('host', 'create', 'compute-8', '--property', 'gpu=yes', '-f', 'json')
    stages.check(host['gpu'] == 'yes', f'{host["hypervisor_hostname"]} is host {host["id"]} now')

    stages.step('A user leases two hosts with at least 16 VCPUs, from now on, for an hour.')
    lease = stage.climate('lease', 'create', 'story', '--hosts', '2', '--require',
                          'vcpus>=16', '--duration', '1h', '--wait', '-f', 'json')
    stages.check(lease['status'] == 'active', f'the lease is {lease["status"]}')
    reservation = lease['reservations'][0]
    stages.check(len(reservation['resources']) == 2, f'it has hosts {reservation["resources"]}')

    stages.step('Someone else wants eight hosts at the same time.')
    told = stage.refused('lease', 'create', 'greedy', '--hosts', '8', '--duration', '10m')
    stages.check('Only 6 of 8 hosts are free' in told, told)

    stages.step('The user boots a server with the hint.')
    hint = {'reservation': reservation['id']}
    server = cloud.boot('demo', 'mine', hint)
    leased = cloud.as_service().nova.aggregate(reservation['id']).hosts
    stages.check(server.host in leased, f'it runs on {server.host}, a leased host')

    stages.step('A stranger tries the same hint; another user boots without any.')
    stages.check(_no_host(cloud, 'stranger', hint), 'the stranger is refused')
    stages.check(_no_host(cloud, 'demo', None), 'without the hint nobody gets onto enrolled hosts')

    stages.step('The user needs longer.')
    longer = stage.climate('lease', 'extend', 'story', '--by', '30m', '-f', 'json')
    stages.check(longer['end'] > lease['end'],
                 f'the end moved from {lease["end"]} to {longer["end"]}')

    stages.step('The user is done early and ends the lease.')
    ended = stage.climate('lease', 'end', 'story', '--wait', '--yes', '-f', 'json')
    stages.check(ended['status'] == 'terminated', f'the lease is {ended["status"]}')
    stages.check(not cloud.servers(), 'its servers are gone')
    nova = cloud.as_service().nova
    stages.check(nova.aggregate(reservation['id']) is None, 'its aggregate is gone')
    stages.check(len(nova.aggregate('freepool').hosts) == 8, 'all hosts are back in the freepool')
    stages.check(stages.soon(lambda: not cloud.as_service().keystone.trusts()), 'its trust is gone')


def _no_host(cloud, project, hints):
    """True where the scheduler finds no host for a server of `project`."""
    try:
        cloud.boot(project, 'unwanted', hints)
    except errors.Conflict:
        return True
    return False
