# SPDX-License-Identifier: Apache-2.0
"""A database that a real Blazar wrote, and a Climate that takes its place."""
import datetime

import pytest
from support import blazar_database
from support import builders

from climate.db.blazar import conversion
from climate.db.blazar import exporting
from climate.db.blazar import importing
from climate.db.blazar import row_changes
from climate.db.blazar import source
from climate.manager.leases import objects_ahead

#: Shortly after the database was written, while its first leases ran.
SWITCH = datetime.datetime(2026, 11, 26, 14, 40, tzinfo=datetime.UTC)


@pytest.fixture
def blazar(tmp_path):
    """The database of a real Blazar 18, with leases in most states."""
    return blazar_database.BlazarDatabase(tmp_path)


@pytest.fixture
def manager(conf, database):
    """A manager that is configured with the names of Blazar, on a cloud with its hosts."""
    conf.set_override('aggregate_owner_key', 'blazar:owner', group='nova')
    conf.set_override('availability_zone_prefix', 'blazar_', group='nova')
    conf.set_override('provider_prefix', 'blazar_', group='placement')
    manager = builders.Manager(conf, database, builders.Clock(SWITCH))
    for number in range(1, 5):
        manager.cloud.add_host(f'compute{number}', vcpus=16, memory_mb=32768, disk_gb=200)
    return manager


@pytest.fixture
def converted(blazar, manager):
    """callable(): the Conversion of the database of Blazar as it is now."""
    return lambda: conversion.convert(source.read(blazar.url), manager.core.registry,
                                      manager.clock())


@pytest.fixture
def imported(converted, manager):
    """callable(): import the database of Blazar; returns (the Conversion, the Counts)."""
    def run(database=None, at_once=200):
        found = converted()
        return found, importing.write(
            database or manager.database, found, manager.clock(), at_once)
    return run


@pytest.fixture
def export(blazar, manager):
    """callable(): export to the database of Blazar; returns (the Export, the RowChanges).

    `before_commit` is called in the transaction.
    """
    def run(before_commit=lambda: None):
        with source.opened(blazar.url, '--target') as target:
            read, now = target.read(), manager.clock()
            chosen = exporting.choose(
                exporting.read(manager.database, read), read, manager.core.conf)
            bindings, failed = objects_ahead.create(manager.core, chosen.pending)
            assert not failed
            changes = exporting.changes(chosen, read, bindings, now)
            with target.writer() as connection:
                row_changes.write(connection, changes, read.columns)
                before_commit()
        return chosen, changes
    return run


@pytest.fixture
def running_host_lease(manager, blazar):
    """callable(): put into the cloud what Blazar made for its running host lease.

    A server is on the host. Returns the id of the reservation.
    """
    def put():
        [(reservation_id, project_id)] = blazar.execute(
            'SELECT r.id, l.project_id FROM reservations r JOIN leases l ON l.id = r.lease_id '
            "WHERE l.name = 'l-host-active'")
        nova = manager.cloud.as_service().nova
        freepool = nova.ensure_aggregate('freepool')
        nova.add_hosts(freepool, ['compute1', 'compute3', 'compute4'])
        aggregate = nova.ensure_aggregate(reservation_id, zone=f'blazar_{reservation_id}',
                                          metadata={'blazar:owner': project_id})
        nova.add_hosts(aggregate, ['compute2'])
        for name in manager.cloud.host_names():
            manager.cloud.as_service().placement.ensure_child(name, f'blazar_{name}')
        manager.cloud.boot(project_id, 'one', hints={'reservation': reservation_id},
                           host='compute2')
        return reservation_id
    return put


@pytest.fixture
def blazar_gone(conf, manager, imported, running_host_lease):
    """Climate runs with the leases of Blazar, and gives each new lease a trust."""
    conf.set_override('trust_required', True, group='keystone')
    running_host_lease()
    imported()
    manager.run()
