# SPDX-License-Identifier: Apache-2.0
"""The canned data of the service in these tests."""

URL = 'http://climate.example:1234/v1'
NOVA = 'http://nova.example/v2.1'
KEYSTONE = 'http://keystone.example/v3'
OTHER_KEYSTONE = 'http://other.example/v3'
LEASE_ID = '11111111-2222-4333-8444-555555555555'
SERVER_ID = '77777777-2222-4333-8444-555555555555'


def last_change(requests_mock):
    """Return the last request that changes something; reads may follow it."""
    return [each for each in requests_mock.request_history if each.method != 'GET'][-1]


def a_lease(**changes):
    return {
        'id': LEASE_ID, 'name': 'demo', 'project_id': 'p1', 'user_id': 'u1',
        'start': '2030-05-01T08:00:00Z', 'end': '2030-05-01T10:00:00Z', 'before_end': None,
        'status': 'inactive', 'status_reason': None, 'degraded': False,
        'created_at': '2030-04-30T07:00:01Z', 'updated_at': None, 'ended_at': None,
        'reservations': [{
            'id': 'r1', 'resource_type': 'physical:host', 'status': 'pending',
            'missing_resources': False, 'resources_changed': False, 'resources': ['3', '4'],
            'min': 1, 'max': 2, 'hypervisor_properties': '',
            'resource_properties': '[">=", "$vcpus", "16"]', 'before_end': 'default'}],
        'events': [
            {'id': 'e2', 'type': 'end_lease', 'time': '2030-05-01T10:00:00Z', 'status': 'undone'},
            {'id': 'e1', 'type': 'start_lease', 'time': '2030-05-01T08:00:00Z',
             'status': 'undone'}],
        **changes}


def a_host(**changes):
    return {'id': '3', 'hypervisor_hostname': 'cmp-3', 'vcpus': 32, 'memory_mb': 65536,
            'local_gb': 500, 'reservable': True, 'gpu': 'True',
            'traits': ['HW_CPU_X86_AVX2', 'HW_CPU_X86_VMX'], 'availability_zone': None,
            'created_at': '2030-04-30T07:00:01Z', 'updated_at': None, **changes}


def a_leased_server(**changes):
    """A reservation that leases a server."""
    return {'id': 'r9', 'resource_type': 'virtual:instance', 'status': 'active',
            'missing_resources': False, 'resources_changed': False, 'resources': [],
            'resource_id': SERVER_ID, 'flavor_id': '2', 'on_end': 'snapshot', 'vcpus': 1,
            'memory_mb': 512, 'disk_gb': 1, **changes}


def a_server(**changes):
    """A server as Nova shows it to an administrator."""
    return {'id': SERVER_ID, 'name': 'web-1', 'status': 'ACTIVE',
            'OS-EXT-SRV-ATTR:host': 'cmp-3', **changes}


def a_token():
    """A token of Keystone; its catalogue has the public endpoint in one region only."""
    return {
        'methods': ['password'], 'expires_at': '2999-01-01T00:00:00.000000Z',
        'issued_at': '2020-01-01T00:00:00.000000Z', 'user': {'id': 'u', 'name': 'u'},
        'catalog': [{'type': 'reservation', 'name': 'climate', 'endpoints': [
            {'interface': 'public', 'region': 'one', 'region_id': 'one', 'url': URL},
            {'interface': 'internal', 'region': 'two', 'region_id': 'two',
             'url': 'http://two/v1'}]}, {'type': 'compute', 'name': 'nova', 'endpoints': [
                 {'interface': 'public', 'region': 'one', 'region_id': 'one',
                  'url': f'{NOVA}/'}]}]}
