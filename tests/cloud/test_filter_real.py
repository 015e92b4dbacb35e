# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter in a real nova-scheduler, which asks a real Climate."""
import contextlib
import time

import openstack
import pytest
import requests
import scene as scenes

from tools.cloud import settings

LEFT = ['==', '$rack', 'left']


@pytest.fixture
def log(cloud):
    """callable() → the text that nova-scheduler logged since the test began."""
    path = cloud.log / 'nova-scheduler.log'
    begun = path.stat().st_size
    return lambda: path.read_bytes()[begun:].decode()


@pytest.fixture
def climate_down(cloud):
    """A context in which Climate does not run."""
    @contextlib.contextmanager
    def down():
        scenes.tool(cloud, 'climate-down')
        try:
            yield
        finally:
            scenes.tool(cloud, 'climate-up')
            scenes.until(lambda: requests.get(settings.url('climate', '/healthcheck'),
                                              timeout=30).status_code == 200, 'Climate to be well')
            # The filter does not try again before.
            time.sleep(2.5)
    return down


def reservation_of(lease):
    return lease['reservations'][0]['id']


def refused(scene, log, reservation, *words, person='demo'):
    """A boot with the hint is refused, and the scheduler's log says why."""
    server = scene.boot(person, reservation)
    assert server.status == 'ERROR', server.compute_host
    assert 'No valid host' in server.fault['message']
    scene.remove(server.id)
    scenes.until(lambda: any(
        f'hint reservation={reservation} ' in line and all(word in line for word in words)
        for line in log().splitlines()), f'the reason {words} in the log', 5)


def look(scene, server):
    return scene.people['admin'].compute.get_server(server.id)


def settled(scene, server, *statuses):
    """The server, as soon as it has one of those statuses and no task any more."""
    def seen():
        found = look(scene, server)
        return found if found.status in statuses and not found.task_state else None
    return scenes.until(seen, f'server {server.id} to be {" or ".join(statuses)}')


def test_a_lease_that_has_not_started_is_refused_and_one_that_has_just_started_is_not(scene, log):
    lease = scene.lease(start=scenes.in_seconds(8), active=False)
    refused(scene, log, reservation_of(lease), 'has not started')
    while scenes.seconds_since(lease['start']) < 1:
        time.sleep(0.05)
    server = scene.boot('demo', reservation_of(lease))
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in scene.hosts_in(reservation_of(lease))


def test_a_lease_that_has_ended_is_refused(scene, log):
    lease = scene.lease()
    server = scene.boot('demo', reservation_of(lease))
    assert server.status == 'ACTIVE'
    scene.climate().leases.end(lease['id'])
    refused(scene, log, reservation_of(lease), 'end')
    scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)
    refused(scene, log, reservation_of(lease), 'ended at')


def test_a_reservation_that_nobody_knows_is_refused(scene, log):
    refused(scene, log, '00000000-0000-0000-0000-000000000000', 'no reservation has this id')


def test_a_lease_of_another_project_is_refused_until_it_is_shared(scene, log, admin, alt):
    lease = scene.lease()
    reservation = reservation_of(lease)
    refused(scene, log, reservation, 'belongs to another project', person='alt')
    aggregate = scene.aggregate(reservation)
    admin.compute.set_aggregate_metadata(aggregate, {alt.current_project_id: 'shared'})
    server = scene.boot('alt', reservation)
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in scene.hosts_in(reservation)
    admin.compute.set_aggregate_metadata(aggregate, {alt.current_project_id: None})
    refused(scene, log, reservation, 'belongs to another project', person='alt')


def test_while_climate_is_down_ordinary_servers_boot_and_hints_are_refused(
        scene, log, open_host, climate_down):
    lease = scene.lease(where=(LEFT,))
    with climate_down():
        for person in ('demo', 'alt'):
            server = scene.boot(person)
            assert (server.status, server.compute_host) == ('ACTIVE', open_host)
            scene.remove(server.id)
        refused(scene, log, reservation_of(lease), 'Climate cannot be asked')
    server = scene.boot('demo', reservation_of(lease))
    assert server.status == 'ACTIVE', server.fault
    scene.remove(server.id)


def test_a_leased_server_moves_within_its_hosts_only(scene, log, admin, demo, cloud):
    lease = scene.lease(hosts=(3, 3))
    mine = scene.hosts_in(reservation_of(lease))
    [other] = set(cloud.compute_hosts) - mine
    server = scene.boot('demo', reservation_of(lease))
    places = [server.compute_host]
    admin.compute.live_migrate_server(server, host=None, block_migration='auto')
    scenes.until(lambda: look(scene, server).compute_host != places[0], 'the live migration')
    places.append(settled(scene, server, 'ACTIVE').compute_host)
    admin.compute.migrate_server(server)
    settled(scene, server, 'VERIFY_RESIZE')
    admin.compute.confirm_server_resize(server)
    places.append(settled(scene, server, 'ACTIVE').compute_host)
    demo.compute.resize_server(server, demo.compute.find_flavor('m1.micro').id)
    settled(scene, server, 'VERIFY_RESIZE')
    demo.compute.confirm_server_resize(server)
    places.append(settled(scene, server, 'ACTIVE').compute_host)
    demo.compute.shelve_server(server)
    settled(scene, server, 'SHELVED_OFFLOADED')
    demo.compute.unshelve_server(server)
    places.append(settled(scene, server, 'ACTIVE').compute_host)
    assert set(places) <= mine, places
    # To another host it does not go. Before 2.34 Nova says so at once.
    with pytest.raises(openstack.exceptions.BadRequestException, match='No valid host'):
        admin.compute.live_migrate_server(server, host=other, block_migration='auto')
    scenes.until(lambda: 'not in the reservation' in log(), 'the reason in the log', 10)
    assert settled(scene, server, 'ACTIVE').compute_host == places[-1]


def test_without_climate_a_leased_server_is_rebuilt_but_not_unshelved(scene, demo, climate_down):
    lease = scene.lease()
    server = scene.boot('demo', reservation_of(lease))
    image = demo.image.create_image(name=scene.name(), disk_format='raw', container_format='bare',
                                    data=b'another', validate_checksum=False)
    scene.afterwards(lambda: demo.image.delete_image(image))
    with climate_down():
        demo.compute.rebuild_server(server, image=image.id)
        scenes.until(lambda: look(scene, server).image.id == image.id, 'the rebuild')
        assert settled(scene, server, 'ACTIVE', 'ERROR').status == 'ACTIVE'
        demo.compute.shelve_server(server)
        settled(scene, server, 'SHELVED_OFFLOADED')
        demo.compute.unshelve_server(server)
        time.sleep(1)
        assert settled(scene, server, 'SHELVED_OFFLOADED')
    demo.compute.unshelve_server(server)
    assert settled(scene, server, 'ACTIVE').compute_host in scene.hosts_in(reservation_of(lease))
