# SPDX-License-Identifier: Apache-2.0
"""A database that a real Blazar wrote, and a Climate that takes its place."""
import datetime

import pytest
from support import blazar_database
from support import builders

from climate.db.blazar import conversion
from climate.db.blazar import importing
from climate.db.blazar import source

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
def imported(blazar, manager):
    """callable(): import the database of Blazar; returns (the Conversion, the Counts)."""
    def run(database=None, at_once=200):
        now = manager.clock()
        converted = conversion.convert(source.read(blazar.url), manager.core.registry.plugins, now)
        return converted, importing.write(database or manager.database, converted, now, at_once)
    return run
