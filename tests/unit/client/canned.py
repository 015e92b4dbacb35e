# SPDX-License-Identifier: Apache-2.0
"""What the service of these tests has."""

URL = 'http://climate.example:1234/v1'
LEASE_ID = '11111111-2222-4333-8444-555555555555'


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
            {'id': 'e2', 'type': 'end_lease', 'time': '2030-05-01T10:00:00Z', 'status': 'UNDONE'},
            {'id': 'e1', 'type': 'start_lease', 'time': '2030-05-01T08:00:00Z',
             'status': 'UNDONE'}],
        **changes}


def a_host(**changes):
    return {'id': '3', 'hypervisor_hostname': 'cmp-3', 'vcpus': 32, 'memory_mb': 65536,
            'local_gb': 500, 'reservable': True, 'status': None, 'gpu': 'True',
            'created_at': '2030-04-30T07:00:01Z', 'updated_at': None, **changes}
