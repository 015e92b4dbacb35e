# SPDX-License-Identifier: Apache-2.0
"""Imported leases, read by python-blazarclient at REST 1.0, and the rows of Blazar.

CLIMATE_BLAZARCLIENT names a Python that can import python-blazarclient. Without it, the test is
skipped.
"""
import json
import os
import subprocess

import pytest
from support import api_server
from support import keystone_standin
from support import loopback

READ_ALL = """
import json
import sys
from blazarclient import client
from keystoneauth1 import identity, session
_, url, project = sys.argv
login = identity.V3Password(url, username='owner', password='secret', user_domain_id='default',
                            project_name=project, project_domain_id='default')
leases = client.Client(service_type='reservation', session=session.Session(login)).lease
print(json.dumps([leases.get(lease['id']) for lease in leases.list()]))
"""
# The columns of a lease that the client reads unchanged.
COLUMNS = ('id', 'name', 'user_id', 'project_id', 'trust_id', 'start_date', 'end_date', 'degraded',
           'created_at', 'updated_at')
RESERVATION = ('id', 'lease_id', 'resource_type', 'status', 'missing_resources',
               'resources_changed')


@pytest.fixture
def rows(blazar):
    """callable(table): the rows of a table of Blazar, as dicts."""
    def read(table):
        names = [row[1] for row in blazar.execute(f'PRAGMA table_info({table})')]
        return [dict(zip(names, row, strict=True))
                for row in blazar.execute(f'SELECT * FROM {table}')]
    return read


@pytest.fixture
def read_by_client(conf, manager):
    """callable(project): its leases, as python-blazarclient reads them."""
    python = os.environ.get('CLIMATE_BLAZARCLIENT')
    if python is None:
        pytest.skip('CLIMATE_BLAZARCLIENT names no Python.')

    def read(project):
        with (api_server.climate_api(conf, manager) as port,
              loopback.serving(keystone_standin.Keystone(f'http://127.0.0.1:{port}/v1')) as login):
            done = subprocess.run(
                [python, '-c', READ_ALL, f'http://127.0.0.1:{login}/v3', project],
                capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)
    return read


def moment(text):
    """Return a date without its form: a space or T, with or without a fraction of a second."""
    return text and text.replace('T', ' ')[:19]


def comparable(row, columns):
    return {name: moment(row[name]) if name.endswith(('_date', '_at')) else
            bool(row[name]) if isinstance(row[name], int) else row[name] for name in columns}


def test_the_client_reads_each_lease_as_its_row(imported, rows, read_by_client):
    converted, _ = imported()
    [project] = {row['project_id'] for row in rows('leases')}
    shown = {lease['id']: lease for lease in read_by_client(project)}
    lost = {overlap.lost[0] for overlap in converted.overlaps}
    reservations, events = rows('reservations'), {row['id']: row for row in rows('events')}
    assert len(shown) == len(rows('leases'))
    for row in rows('leases'):
        lease = shown[row['id']]
        assert comparable(lease, COLUMNS) == comparable(row, COLUMNS)
        own = [reservation for reservation in reservations if reservation['lease_id'] == row['id']]
        assert [comparable(each, RESERVATION) for each in lease['reservations']] == [
            comparable(each, RESERVATION) for each in own]
        assert lease['status'] == ('ERROR' if row['id'] in lost else row['status'])
        for event in lease['events']:
            known = events[event['id']]
            assert (event['event_type'], moment(event['time'])) == (
                known['event_type'], moment(known['time']))
        if row['id'] not in lost:
            assert {event['id'] for event in lease['events']} == {
                key for key, known in events.items() if known['lease_id'] == row['id']}


DETAILS = {
    'physical:host': ('computehost_reservations', ('before_end', 'hypervisor_properties',
                                                   'resource_properties')),
    'virtual:instance': ('instance_reservations', ('vcpus', 'memory_mb', 'disk_gb', 'amount',
                                                   'affinity', 'resource_properties',
                                                   'server_group_id')),
    'flavor:instance': ('instance_reservations', ('amount', 'affinity')),
    'virtual:floatingip': ('floatingip_reservations', ('network_id', 'amount'))}


def test_the_client_reads_the_details_of_each_reservation(imported, rows, read_by_client):
    imported()
    [project] = {row['project_id'] for row in rows('leases')}
    compared = 0
    for lease in read_by_client(project):
        for reservation in lease['reservations']:
            table, columns = DETAILS[reservation['resource_type']]
            [details] = [row for row in rows(table) if row['reservation_id'] == reservation['id']]
            assert {name: reservation[name] for name in columns} == {
                name: details[name] for name in columns}
            if 'count_range' in details:
                assert f'{reservation["min"]}-{reservation["max"]}' == details['count_range']
            compared += 1
    assert compared == len(rows('reservations'))
