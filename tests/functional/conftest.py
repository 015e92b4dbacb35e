# SPDX-License-Identifier: Apache-2.0
"""Fixtures for functional tests: enrolled hosts, a check that nothing is left, programs."""

import pytest
from support import builders
from support import programs


@pytest.fixture
def each_lease_has_a_trust(conf):
    """Each lease gets a trust, also one for which Climate never acts as its owner."""
    conf.set_override('trust_required', True, group='keystone')


@pytest.fixture
def enrol_hosts(manager):
    """callable(count, vcpus=…): enrol the number of equal hosts; their VCPUs count four times."""
    def enrol(count, vcpus=2, traits=(), memory_mb=65536):
        for number in range(count):
            manager.cloud.add_host(f'small-{number}', vcpus=vcpus, traits=traits,
                                   memory_mb=memory_mb)
            manager.client.create_resource(builders.an_admin(), 'host', f'small-{number}', {})
    return enrol


@pytest.fixture
def as_before(manager):
    """A day after the test, the cloud has nothing that it did not have before it."""
    before = manager.cloud.leftovers()
    yield
    manager.run_until(manager.clock() + builders.hours(24))
    services = manager.cloud.as_service()
    assert manager.cloud.leftovers() == before
    assert manager.cloud.stacks() == manager.cloud.servers() == services.keystone.trusts() == []
    hosts = manager.client.list_resources(builders.an_admin(), 'host')
    assert [each.name for each in services.nova.aggregates()] == ['freepool'] * bool(hosts)


@pytest.fixture
def run_program(database, tmp_path):
    """callable(program, *words, options, seconds): (exit status, output).

    `options` end its configuration. A module or a distribution in `tmp_path` can be imported there.
    """
    if database.dialect != 'sqlite':
        pytest.skip('The programs read a configuration with a file of SQLite.')

    def run(program, *words, options, seconds=120):
        path = builders.on_files(tmp_path, options)
        status, *written = programs.run(program, '--config-file', path, *words, seconds=seconds,
                                        PYTHONPATH=str(tmp_path), CLIMATE_STATE=str(tmp_path))
        return status, ''.join(written)
    return run
