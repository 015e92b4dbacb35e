# SPDX-License-Identifier: Apache-2.0
"""Leases of hosts when something goes wrong at the wrong moment, on the real cloud."""
import os
import signal
import time

from keystoneauth1 import session
from keystoneauth1.identity import v3
import pytest
import scene as scenes

from climate import client
from climate.client import errors
from tools.cloud import processes
from tools.cloud import settings


def test_a_lease_whose_user_was_deleted_still_ends_cleanly(scene, guest, admin, cloud, image_of):
    lease = scene.lease('guest', reservation={'before_end': 'snapshot'})
    reservation = lease['reservations'][0]['id']
    server = scene.boot('guest', reservation)
    assert server.status == 'ACTIVE'
    admin.identity.delete_user(guest)
    scene.climate('admin').leases.end(lease['id'])
    lease = scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)
    assert image_of(server)
    assert scene.aggregate(reservation) is None
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts)


def test_a_lease_waits_for_its_host_while_a_server_of_the_one_before_is_being_deleted(scene, cloud):
    name, rack = cloud.compute_hosts[-1], ['==', '$rack', 'right']
    start, end = scenes.in_seconds(3), scenes.in_seconds(15)
    # Both before the first one starts: a host in use now is not allocated for the next minute.
    first = scene.lease(where=(rack,), duration=None, start=start, end=end, active=False)
    second = scene.lease('alt', where=(rack,), start=end, active=False)
    scene.wait(first['id'], 'active')
    server = scene.boot('demo', first['reservations'][0]['id'])
    assert server.compute_host == name
    with scenes.frozen(cloud, f'nova-{name}'):
        scene.wait(first['id'], 'terminating')
        time.sleep(3)
        assert scene.climate().leases.get(first['id'])['status'] == 'terminating'
        assert scene.climate('alt').leases.get(second['id'])['status'] in (
            'to_be_started', 'starting')
        assert scene.exists(server.id)
        assert scene.hosts_in(second['reservations'][0]['id']) == set()
    began = time.monotonic()
    scene.wait(first['id'], 'terminated')
    scene.wait(second['id'], 'active')
    print(f'host handed on {time.monotonic() - began:.1f} s after its nova-compute woke up')
    assert scene.hosts_in(second['reservations'][0]['id']) == {name}
    assert scene.boot('alt', second['reservations'][0]['id']).compute_host == name


def test_an_application_credential_is_refused_in_words(scene, demo):
    owner = demo.current_user_id
    made = demo.identity.create_application_credential(owner, scene.name())
    scene.afterwards(lambda: demo.identity.delete_application_credential(owner, made))
    login = v3.ApplicationCredential(
        settings.url('keystone', '/v3'), application_credential_id=made.id,
        application_credential_secret=made.secret)
    climate = client.Client(session.Session(auth=login))
    with pytest.raises(errors.Forbidden) as refused:
        climate.leases.create(scene.name(), duration='10m', reservations=[
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}])
    assert refused.value.status == 403
    assert refused.value.name == 'trust_refused'
    assert 'not an application credential' in refused.value.message


def test_a_lease_whose_manager_is_killed_while_it_starts_becomes_active_all_the_same(scene, cloud):
    with scenes.frozen(cloud, 'nova-api'):
        lease = scene.lease(hosts=(2, 2), active=False)
        scene.wait(lease['id'], 'starting')
        pid = processes.pid_of(cloud, 'climate-manager')
        for member in [pid, *processes.members(pid)]:
            os.kill(member, signal.SIGKILL)
    began = time.monotonic()
    scenes.tool(cloud, 'climate-up')
    scene.wait(lease['id'], 'active')
    print(f'active {time.monotonic() - began:.1f} s after the manager was killed')
    reservation = lease['reservations'][0]['id']
    assert len(scene.hosts_in(reservation)) == 2
    assert scene.boot('demo', reservation).compute_host in scene.hosts_in(reservation)
