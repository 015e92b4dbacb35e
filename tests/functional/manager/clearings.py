# SPDX-License-Identifier: Apache-2.0
"""Builders for tests of host clearing, and readers of the cloud."""
import datetime

import acts
from support import builders

from climate.domain import lifecycle
from climate.domain import records
from climate.domain.clearing import plans

BEST_EFFORT = records.AcquireRequest('best-effort')
HALF_A_MINUTE = records.AcquireRequest('best-effort', timeout_seconds=30)
HOUR = 3600


def seconds(count):
    return datetime.timedelta(seconds=count)


def lent_cloud(conf, manager):
    """The cloud of a manager, with four alike hosts.

    c1 to c3 are lent and have two servers of others each, c4 is free.
    """
    for name in list(manager.cloud.host_names()):
        manager.cloud.remove_host(name)
    for number in range(1, 5):
        manager.cloud.add_host(f'c{number}')
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    nova = acts.nova(manager)
    nova.add_hosts(nova.ensure_aggregate('lent'), ['c1', 'c2', 'c3'])
    for host in ('c1', 'c2', 'c3'):
        for number in range(2):
            manager.cloud.boot('other', f'{host}-{number}', host=host, flavor='2')
    return manager.cloud


def a_request(least=2, acquire=BEST_EFFORT, **more):
    return builders.a_lease(builders.hosts(least), duration_seconds=HOUR, acquire=acquire, **more)


def servers(cloud):
    """{name: (status, host)} of all servers."""
    return {each.name: (each.status, each.host) for each in cloud.servers()}


def disabled(cloud):
    """{service host: why it is disabled}."""
    return {each.host: each.reason for each in cloud.as_service().computes.every()
            if not each.enabled}


def by_name(cloud, name):
    [found] = [each for each in cloud.servers() if each.name == name]
    return found


def cleared(manager, lease, within=100, step=1):
    """The lease after the clock ran until it was acquired, or given up."""
    until = manager.clock() + seconds(within)
    while manager.clock() < until:
        manager.run()
        found = manager.lease(lease)
        if found.state not in (lifecycle.ACQUIRING, lifecycle.PENDING):
            return found
        manager.clock.advance(seconds(step))
    return manager.lease(lease)


def acquired(manager, lease, **more):
    """The lease after the clock ran until it was acquired."""
    lease = cleared(manager, lease, **more)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    return lease


def states(lease):
    """{host: its state in the plan of the lease}."""
    return {host.name: host.state for host in plans.from_json(lease.acquisition.plan).hosts}
