# SPDX-License-Identifier: Apache-2.0
"""A manager that dies at any call of the cloud is followed by one that completes the work.

A withdrawn share never opens hosts again, and exactly the servers of the former guest are deleted.
"""
import itertools

import acts
import pytest
from support import builders
from support import crashing

from climate import errors
from climate.db import leases
from climate.domain import lifecycle
from climate.domain import shares

pytestmark = pytest.mark.proof

hours, minutes = builders.hours, builders.minutes
GUEST = 'guests'
REQUEST = shares.ShareRequest('project_id', GUEST, 'user', on_withdrawal='delete')


def successor(manager):
    """A manager that takes over after the claims of its predecessor have expired."""
    manager.clock.advance(minutes(10))
    return builders.Manager(manager.core.conf, manager.database, manager.clock, manager.cloud)


def boot(manager, lease, project, name):
    return manager.cloud.boot(project, name, {'reservation': lease.reservations[0].id})


def stored(manager, lease):
    with manager.database.reader() as connection:
        return leases.get(connection, lease.id)


def names(manager):
    return sorted(server.name for server in manager.cloud.servers())


def test_a_share_that_is_interrupted_is_made_once(manager):
    manager.enrol(1)
    for number in itertools.count(1):
        lease = manager.active(end=manager.clock() + hours(9))

        def share(manager=manager, lease=lease):
            manager.client.share_lease(builders.a_member(), lease.id, REQUEST)
            manager.run()
        died = crashing.dies_at(manager.cloud, number, share)
        later = successor(manager)
        if not stored(later, lease).shares:
            later.client.share_lease(builders.a_member(), lease.id, REQUEST)
        with pytest.raises(errors.AlreadyShared):
            later.client.share_lease(builders.a_member(), lease.id, REQUEST)
        later.run()
        assert len(stored(later, lease).shares) == 1
        boot(later, lease, GUEST, 'theirs')
        manager = later
        assert not manager.delete(lease)
        manager.run_until(manager.clock() + minutes(10))
        assert acts.is_clean(manager, 1)
        if not died:
            break
    assert number > 4


def test_a_withdrawal_that_is_interrupted_is_completed(manager):
    manager.enrol(1)
    for number in itertools.count(1):
        lease = manager.active(end=manager.clock() + hours(9))
        made = manager.client.share_lease(builders.a_member(), lease.id, REQUEST)
        manager.run()
        boot(manager, lease, 'demo', 'own')
        boot(manager, lease, GUEST, 'theirs')

        def withdraw(manager=manager, lease=lease, made=made):
            manager.client.withdraw_share(builders.a_member(), lease.id, made.id)
            manager.run_until(manager.clock() + hours(2))
        died = crashing.dies_at(manager.cloud, number, withdraw)
        manager = successor(manager)
        manager.run()
        with pytest.raises(errors.ClimateError):
            boot(manager, lease, GUEST, 'late')
        manager.run_until(manager.clock() + hours(3))
        assert names(manager) == ['own']
        [share] = stored(manager, lease).shares
        assert share.cleared_at >= share.clears_at
        assert stored(manager, lease).state == lifecycle.ACTIVE
        assert acts.history(manager, lease).count('share_withdrawn') == 1
        assert not manager.delete(lease)
        manager.run_until(manager.clock() + minutes(10))
        assert acts.is_clean(manager, 1)
        if not died:
            break
    assert number > 8
