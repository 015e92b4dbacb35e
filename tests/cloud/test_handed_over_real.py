# SPDX-License-Identifier: Apache-2.0
"""Sub-leases for another project, and transfers of leases to it, on the real cloud."""
import pytest
import scene as scenes


def _reservation(lease):
    """Return the id of the only reservation of a lease, which is the name of its aggregate."""
    return lease['reservations'][0]['id']


def _active_server(scene, person, lease):
    """Boot a server of a person on the hosts of a lease; return it."""
    server = scene.boot(person, reservation=_reservation(lease))
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in scene.hosts_in(_reservation(lease))
    return server


def _refuse_boot(scene, person, reservation):
    server = scene.boot(person, reservation=reservation)
    assert server.status == 'ERROR'
    assert 'No valid host' in server.fault['message']


def _accepted(scene, alt, lease, person='demo', **more):
    """Transfer a lease to project alt; return the new lease."""
    offer = scene.climate(person).transfers.offer(
        lease['id'], project=alt.current_project_id, **more)
    made = scene.climate('alt').transfers.accept(offer['id'])
    scene.remember(made['id'])
    return made


def test_a_sub_lease_opens_hosts_to_another_project_and_gives_them_back(scene, alt):
    parent = scene.lease(hosts=(2, 2))
    hosts = scene.hosts_in(_reservation(parent))
    own = _active_server(scene, 'demo', parent)

    made = scene.climate().sub_leases.create(
        parent['id'], scene.name(), alt.current_project_id, hosts=1)
    scene.remember(made['id'])
    part = scene.wait(made['id'], 'active')
    # The host without a server of the owner was chosen. It stays in the aggregate of the parent.
    assert scene.hosts_in(_reservation(part)) == hosts - {own.compute_host}
    guest = _active_server(scene, 'alt', part)
    _refuse_boot(scene, 'alt', _reservation(parent))
    _refuse_boot(scene, 'demo', _reservation(part))
    assert _active_server(scene, 'demo', parent).compute_host == own.compute_host

    scene.climate('alt').leases.end(part['id'])
    scene.wait(part['id'], 'terminated')
    assert not scene.exists(guest.id)
    assert not scene.aggregate(_reservation(part))
    assert scene.hosts_in(_reservation(parent)) == hosts
    assert scene.booted(own.id).status == 'ACTIVE'
    # The scheduler prefers the host with less on it.
    assert _active_server(scene, 'demo', parent).compute_host != own.compute_host


def test_the_end_of_a_lease_ends_its_sub_lease_first(scene, alt):
    parent = scene.lease(hosts=(2, 2))
    made = scene.climate().sub_leases.create(
        parent['id'], scene.name(), alt.current_project_id, hosts=1)
    scene.remember(made['id'])
    guest = _active_server(scene, 'alt', scene.wait(made['id'], 'active'))

    scene.climate().leases.end(parent['id'])
    scene.wait(parent['id'], 'terminated')
    assert scene.wait(made['id'], 'terminated')
    assert not scene.exists(guest.id)


@pytest.mark.parametrize('hosts', [None, 1])
def test_a_future_lease_is_transferred(scene, alt, hosts):
    lease = scene.lease(hosts=(2, 2), active=False, start=scenes.in_seconds(3600))
    made = _accepted(scene, alt, lease, hosts=hosts)

    assert made['project_id'] == alt.current_project_id
    assert (made['start'], made['end']) == (lease['start'], lease['end'])
    visible = {each['id'] for each in scene.climate().leases.list()}
    assert (lease['id'] in visible, made['id'] in visible) == (hosts is not None, False)
    scene.climate('alt').leases.delete(made['id'])


def test_a_running_lease_is_transferred_and_goes_on_without_its_former_owner(scene, alt, guest):
    lease = scene.lease('guest')
    [host] = scene.hosts_in(_reservation(lease))
    before = _active_server(scene, 'demo', lease)

    made = scene.wait(_accepted(scene, alt, lease, 'guest')['id'], 'active')
    scene.people['admin'].identity.delete_user(guest)
    assert scene.hosts_in(_reservation(made)) == {host}
    scenes.until(lambda: alt.current_project_id in scene.aggregate(
        _reservation(made)).metadata.values(), 'the host to be open to project alt')
    after = _active_server(scene, 'alt', made)
    _refuse_boot(scene, 'demo', _reservation(made))
    assert scene.booted(before.id).status == 'ACTIVE'

    scene.climate('alt').leases.end(made['id'])
    scene.wait(made['id'], 'terminated')
    assert not scene.exists(before.id)
    assert not scene.exists(after.id)
    assert not scene.aggregate(_reservation(made))
