# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud disables compute services and moves servers, or fails to, as Nova does."""
import pytest

from climate import errors
from climate.cloud import models
from climate.domain import cloud_objects

MINE = 'climate: cleared for lease 1'
TINY = cloud_objects.Shape((('DISK_GB', 1), ('MEMORY_MB', 512), ('VCPU', 1)))


@pytest.fixture
def cloud(simulate, clock):
    return simulate('hosts = 3\nmigrate_seconds = 10', clock=clock)


@pytest.fixture
def services(cloud):
    return cloud.as_service()


@pytest.fixture
def server(cloud):
    """A server on compute-1."""
    return cloud.boot('p', 'vm', host='compute-1', flavor='1')


def test_a_fence_keeps_new_servers_off_until_it_is_taken_down(cloud, services):
    assert services.computes.disable('compute-1', MINE)
    assert services.computes.disable('compute-1', MINE)
    assert services.computes.BARRED in services.placement.traits('compute-1')
    with pytest.raises(errors.Conflict):
        cloud.boot('p', 'vm', host='compute-1')
    assert services.computes.enable('compute-1', MINE)
    assert services.computes.BARRED not in services.placement.traits('compute-1')
    cloud.boot('p', 'vm', host='compute-1')


def test_a_compute_service_that_an_administrator_disabled_is_neither_disabled_nor_enabled(
        cloud, services):
    cloud.mark_host('compute-1', enabled=False, reason='a disk is broken')
    assert not services.computes.disable('compute-1', MINE)
    assert not services.computes.enable('compute-1', MINE)
    [found] = [each for each in services.computes.every() if each.host == 'compute-1']
    assert (found.enabled, found.reason) == (False, 'a disk is broken')


def test_the_services_of_unknown_hosts_are_left_out(services):
    assert [each.host for each in services.computes.of_hosts(['compute-2', 'nowhere'])] == [
        'compute-2']


def test_a_trait_that_was_lost_bars_a_host_until_its_service_is_changed_again(cloud, services):
    services.computes.disable('compute-1', MINE)
    cloud.lose_traits(1)
    assert services.computes.enable('compute-1', MINE)
    assert services.computes.enable('compute-1', MINE)
    assert services.computes.BARRED in services.placement.traits('compute-1')
    with pytest.raises(errors.Conflict):
        cloud.boot('p', 'vm', host='compute-1')
    services.computes.disable('compute-1', MINE)
    services.computes.enable('compute-1', MINE)
    cloud.boot('p', 'vm', host='compute-1')


def test_a_running_server_is_on_its_old_host_until_the_migration_ends(services, server, clock):
    services.servers.migrate(server.id, 'compute-2')
    assert services.servers.server(server.id).host == 'compute-1'
    assert services.servers.last_migration(server.id).status == 'running'
    clock.now += 10
    found = services.servers.server(server.id)
    assert (found.host, found.status, found.task) == ('compute-2', 'ACTIVE', None)
    assert services.servers.last_migration(server.id) == models.ServerMigration(
        1, 'live-migration', 'completed', 'compute-1', 'compute-2')


def test_a_stopped_server_is_migrated_and_confirmed(cloud, services, server, clock):
    cloud.mark_server(server.id, 'SHUTOFF')
    services.servers.migrate(server.id, 'compute-2')
    clock.now += 10
    assert services.servers.server(server.id).status == 'VERIFY_RESIZE'
    services.servers.migrate(server.id)
    found = services.servers.server(server.id)
    assert (found.host, found.status) == ('compute-2', 'SHUTOFF')


def _fence(cloud, services):
    services.computes.disable('compute-2', MINE)


def _spoil(cloud, services):
    cloud.spoil_moves('compute-2')


@pytest.mark.parametrize('spoil', [_fence, _spoil])
def test_a_failed_migration_shows_only_in_the_last_migration(cloud, services, server, clock, spoil):
    spoil(cloud, services)
    services.servers.migrate(server.id, 'compute-2')
    clock.now += 10
    found = services.servers.server(server.id)
    assert (found.host, found.status, found.task) == ('compute-1', 'ACTIVE', None)
    assert services.servers.last_migration(server.id).failed


def test_a_migration_to_an_unknown_host_is_refused_at_once(services, server):
    with pytest.raises(errors.CloudError, match='could not be found'):
        services.servers.migrate(server.id, 'compute-9')


def test_a_migrating_server_uses_capacity_of_both_hosts(services, server, clock):
    def free():
        return {name: units['MEMORY_MB']
                for name, units in services.placement.candidates([TINY])[TINY].items()}
    before = free()
    assert services.placement.held(['compute-1', 'nowhere']) == {
        'compute-1': {server.id: dict(TINY.resources)}}
    services.servers.migrate(server.id, 'compute-2')
    assert services.placement.held(['compute-1']) == {'compute-1': {}}
    assert free() == {**before, 'compute-2': before['compute-2'] - 512}
    clock.now += 10
    assert free() == {**before, 'compute-1': before['compute-1'] + 512,
                      'compute-2': before['compute-2'] - 512}
    assert services.placement.held(['compute-2']) == {
        'compute-2': {server.id: dict(TINY.resources)}}


def test_hosts_that_are_barred_too_small_or_lack_a_trait_are_no_candidates(services):
    services.computes.disable('compute-1', MINE)
    wide = cloud_objects.Shape((('VCPU', 100),))
    fast = cloud_objects.Shape(TINY.resources, frozenset({'HW_CPU_X86_AVX2'}))
    found = services.placement.candidates([TINY, wide, fast])
    assert {shape: sorted(hosts) for shape, hosts in found.items()} == {
        TINY: ['compute-2', 'compute-3'], wide: ['compute-2', 'compute-3'],
        fast: ['compute-2', 'compute-3']}
    services.computes.enable('compute-1', MINE)
    found = services.placement.candidates([TINY, wide, fast])
    assert [len(found[shape]) for shape in (TINY, wide, fast)] == [3, 2, 2]


def test_a_group_names_the_servers_that_were_booted_into_it(cloud, services):
    group = services.flavors.ensure_group('near', 'affinity')
    inside = cloud.boot('p', 'vm', hints={'group': group})
    cloud.boot('p', 'other')
    assert services.flavors.groups() == [
        models.ServerGroup(group, 'near', 'affinity', frozenset({inside.id}))]


@pytest.mark.parametrize('status', ['SUSPENDED', 'SHELVED', 'ERROR'])
def test_a_server_in_another_status_cannot_be_migrated(cloud, services, server, status):
    cloud.mark_server(server.id, status)
    with pytest.raises(errors.StillBusy):
        services.servers.migrate(server.id, 'compute-2')
    assert services.servers.last_migration(server.id) is None
