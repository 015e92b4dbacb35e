# SPDX-License-Identifier: Apache-2.0
"""Use the raw adapter of openstacksdk for reservations, and print the answers as JSON."""
import json
import sys

import openstack

LEASE = {'start_date': '2031-01-01 10:00', 'end_date': '2031-01-01 12:00', 'events': [],
         'before_end_date': None, 'reservations': [{
             'resource_type': 'physical:host', 'min': 1, 'max': 1,
             'hypervisor_properties': '', 'resource_properties': ''}]}


def main(name):
    """Create, read, rename and delete a lease, at REST 1.0 and at the newest version."""
    adapter = openstack.connect().reservation
    made = adapter.post('/leases', json={**LEASE, 'name': name})
    path = f'/leases/{made.json()["lease"]["id"]}'
    newest = adapter.get(path, microversion='latest')
    return {
        'post': [made.status_code, made.json()],
        'put': adapter.put(path, json={'name': f'{name}-b'}).json(),
        'get': adapter.get(path).json(),
        'newest': [newest.headers['OpenStack-API-Version'], newest.json()],
        'list': [lease['id'] for lease in adapter.get('/leases').json()['leases']],
        'refused': [(answer := adapter.get('/os-hosts')).status_code, answer.json()],
        'delete': adapter.delete(path).status_code,
        'gone': adapter.get(path).status_code}


if __name__ == '__main__':
    print(json.dumps(main(sys.argv[1])))
