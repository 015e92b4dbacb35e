# SPDX-License-Identifier: Apache-2.0
"""Calls to the real Nova and Placement that clear a host, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models
from climate.domain import cloud_objects

MINE = 'climate: cleared for lease 1'


def _service(status='enabled', reason=None, state='up'):
    return {'id': 'u1', 'host': 'c1', 'binary': 'nova-compute', 'status': status, 'state': state,
            'disabled_reason': reason, 'zone': 'nova'}


@pytest.fixture
def known(canned):
    """callable(*services): what Nova knows; returns a callable: what was written of u1."""
    def answer(*found):
        canned.http.get(f'{canned.NOVA}/os-services', json={'services': list(found)})
        canned.http.put(f'{canned.NOVA}/os-services/u1', json={'service': _service()})
        return lambda: [each.json() for each in canned.asked('PUT', '/os-services/u1')]
    return answer


def test_an_enabled_service_is_disabled_with_the_reason(services, known, canned):
    written = known(_service())
    assert services.computes.disable('c1', MINE) is True
    assert written() == [{'status': 'disabled', 'disabled_reason': MINE}]
    assert canned.asked('GET', '/os-services')[0].qs == {
        'host': ['c1'], 'binary': ['nova-compute']}


@pytest.mark.parametrize('reason, fenced', [(MINE, True), ('a disk is broken', False),
                                            (None, False), (f'{MINE}!', False)])
def test_a_disabled_service_stays_as_it_is(services, known, reason, fenced):
    written = known(_service('disabled', reason))
    assert services.computes.disable('c1', MINE) is fenced
    assert written() == []


def test_an_unknown_service_is_not_found_by_disable_and_ignored_by_enable(services, known):
    known()
    with pytest.raises(errors.ResourceNotFound):
        services.computes.disable('c1', MINE)
    assert services.computes.enable('c1', MINE) is False


@pytest.mark.parametrize('service, writes, enabled', [
    (_service('disabled', MINE), [{'status': 'enabled'}], True), (_service(), [], True),
    (_service('disabled', 'a disk is broken'), [], False), (_service('disabled'), [], False)])
def test_a_service_is_enabled_only_if_it_was_disabled_for_that_reason(
        services, known, service, writes, enabled):
    written = known(service)
    assert services.computes.enable('c1', MINE) is enabled
    assert written() == writes


def test_services_are_listed_with_the_reason_for_which_they_are_disabled(services, known):
    known(_service(), {**_service('disabled', 'x', 'down'), 'host': 'c2'})
    assert services.computes.every() == [
        models.ComputeService('c1', True, True), models.ComputeService('c2', False, False, 'x')]


@pytest.mark.parametrize('hosts, asked', [
    (['c1', 'c2'], [{'host': ['c1']}, {'host': ['c2']}]), (['c1', 'c2', 'c3', 'c4'], [{}])])
def test_services_of_a_few_hosts_are_read_one_by_one(services, known, canned, hosts, asked):
    known(*({**_service(), 'host': host} for host in ('c1', 'c2', 'c9')))
    canned.http.get(f'{canned.NOVA}/os-services?host=c1', json={'services': [_service()]})
    canned.http.get(f'{canned.NOVA}/os-services?host=c2', json={'services': []})
    found = {each.host for each in services.computes.of_hosts(hosts)}
    assert found == ({'c1'} if len(hosts) == 2 else {'c1', 'c2'})
    assert [each.qs for each in canned.asked('GET', '/os-services')] == [
        {**each, 'binary': ['nova-compute']} for each in asked]


@pytest.mark.parametrize('status, host, action', [
    ('ACTIVE', 'c2', {'os-migrateLive': {'host': 'c2', 'block_migration': 'auto'}}),
    ('PAUSED', 'c2', {'os-migrateLive': {'host': 'c2', 'block_migration': 'auto'}}),
    ('ACTIVE', None, {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}),
    ('SHUTOFF', 'c2', {'migrate': {'host': 'c2'}}), ('SHUTOFF', None, {'migrate': {}}),
    ('VERIFY_RESIZE', 'c2', {'confirmResize': None})])
def test_the_status_of_a_server_decides_how_it_is_migrated(services, canned, status, host, action):
    canned.http.get(f'{canned.NOVA}/servers/s1', json={'server': {
        'id': 's1', 'tenant_id': 'p', 'status': status}})
    canned.http.post(f'{canned.NOVA}/servers/s1/action', status_code=202)
    services.servers.migrate('s1', host)
    [asked] = canned.asked('POST', '/servers/s1/action')
    assert asked.json() == action
    if status != 'VERIFY_RESIZE':
        # Below 2.30 Nova would not ask the scheduler about a host that is named.
        assert asked.headers['OpenStack-API-Version'] == 'compute 2.90'


def _migration(number, **more):
    return {'id': number, 'migration_type': 'live-migration', 'status': 'error',
            'source_compute': 'c1', 'dest_compute': 'c2', **more}


@pytest.mark.parametrize('status, failed', [
    ('error', True), ('failed', True), ('cancelled', True), ('running', False),
    ('completed', False), ('confirmed', False)])
def test_the_last_migration_is_the_one_with_the_highest_id(services, canned, status, failed):
    canned.http.get(f'{canned.NOVA}/os-migrations', json={'migrations': [
        _migration(3), _migration(7, status=status, dest_compute=None), _migration(5)]})
    found = services.servers.last_migration('s1')
    assert found == models.ServerMigration(7, 'live-migration', status, 'c1', None)
    assert found.failed is failed


def test_a_server_without_migrations_has_no_last_one(services, canned):
    canned.http.get(f'{canned.NOVA}/os-migrations', json={'migrations': []})
    assert services.servers.last_migration('s1') is None


def test_the_allocations_of_a_host_are_read_by_server(services, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers', json={
        'resource_providers': [{'uuid': 'r1', 'name': 'node-1'}]})
    canned.http.get(f'{canned.PLACEMENT}/resource_providers/r1/allocations', json={
        'allocations': {'s1': {'resources': {'VCPU': 1}, 'consumer_generation': 1}},
        'resource_provider_generation': 4})
    assert services.placement.held(['node-1', 'node-9']) == {'node-1': {'s1': {'VCPU': 1}}}


def _provider(root, **free):
    return {'root_provider_uuid': root, 'parent_provider_uuid': None, 'traits': [],
            'resources': {name: {'capacity': count + 3, 'used': 3}
                          for name, count in free.items()}}


def test_the_candidates_of_a_shape_have_their_free_resources(services, canned):
    canned.http.get(f'{canned.PLACEMENT}/resource_providers', json={'resource_providers': [
        {'uuid': 'r1', 'name': 'node-1', 'root_provider_uuid': 'r1'},
        {'uuid': 'k1', 'name': 'climate_node-1', 'root_provider_uuid': 'r1'},
        {'uuid': 'r2', 'name': 'node-2', 'root_provider_uuid': 'r2'}]})
    canned.http.get(f'{canned.PLACEMENT}/allocation_candidates', json={
        'allocation_requests': [{'allocations': {'r1': {'resources': {'VCPU': 1}}}}],
        'provider_summaries': {'r1': _provider('r1', VCPU=5, MEMORY_MB=100),
                               'k1': _provider('r1', CUSTOM_X=1),
                               'r2': _provider('r2', VCPU=9)}})
    shape = cloud_objects.Shape((('MEMORY_MB', 10), ('VCPU', 1)), frozenset({'HW_B', 'HW_A'}))
    assert services.placement.candidates([shape]) == {
        shape: {'node-1': {'VCPU': 5, 'MEMORY_MB': 100, 'CUSTOM_X': 1}}}
    [asked] = canned.asked('GET', '/allocation_candidates')
    assert asked.qs == {'resources': ['memory_mb:10,vcpu:1'],
                        'required': ['!compute_status_disabled,hw_a,hw_b']}


def test_no_shapes_have_no_candidates(services):
    assert services.placement.candidates([]) == {}
