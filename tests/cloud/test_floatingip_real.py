# SPDX-License-Identifier: Apache-2.0
"""Leases of floating IPs on the real Neutron, from their enrolment to their end."""
import collections
import time

import addressed
import leaks
import openstack
import pytest
import requests
import scene as scenes
from support import simultaneous

from climate.client import errors
from tools.cloud import processes
from tools.cloud import services
from tools.cloud import settings

pytestmark = pytest.mark.services

AT_ONCE = 16


@pytest.fixture
def kinds():
    return ('trusts', *leaks.NETWORK)


@pytest.fixture
def addresses(scene):
    """The Addresses; six of them are enrolled during the test."""
    found = addressed.Addresses(scene)
    scene.afterwards(found.withdraw)
    assert len(found.enrol()) == addressed.COUNT
    return found


def test_a_member_leases_addresses_uses_one_and_gives_them_back(scene, addresses, demo):
    name = scene.name()
    lease = scene.command(
        'demo', 'lease', 'create', name, '--duration', '10m', '--reservation',
        f'type=virtual:floatingip,network_id={addresses.network_id},amount=2,'
        f'required_floatingips=["{addressed.address(204)}"]')
    scene.remember(lease['id'])
    lease = scene.wait(lease['id'], 'active')
    [reservation] = lease['reservations']
    found = addresses.there()
    assert (len(found), 204 in found) == (2, True)
    for each in found.values():
        assert each.project_id == demo.current_project_id
        assert set(each.tags) == {'climate', f'reservation:{reservation["id"]}'}
    assert addresses.shown(lease) == {number: each.id for number, each in found.items()}

    port_id = addresses.inside().port_id
    demo.network.update_ip(found[204].id, port_id=port_id)
    scene.command('demo', 'lease', 'end', name, '--wait', '--yes')
    assert addresses.there() == {}
    assert scene.climate().leases.get(lease['id'])['status'] == 'terminated'
    # The next one gets the address, and nothing points to it.
    following = addresses.lease(1, [204], person='alt')
    [again] = addresses.there().values()
    assert again.project_id == scene.people['alt'].current_project_id
    assert (again.port_id, again.id != found[204].id) == (None, True)
    addresses.end(following)


def test_a_lease_for_later_starts_and_ends_by_itself_and_is_prolonged(scene, addresses):
    lease = addresses.lease(2, active=False, start=scenes.in_seconds(8), duration='1m')
    assert addresses.there() == {}
    scene.wait(lease['id'], 'active', 60)
    before = addresses.shown(lease)
    assert len(before) == 2
    end = scene.climate().leases.get(lease['id'])['end']
    assert scene.climate().leases.extend(lease['id'], by='10s')['end'] > end
    assert {number: each.id for number, each in addresses.there().items()} == before
    scene.wait(lease['id'], 'terminated', 120)
    assert addresses.there() == {}


def test_a_running_lease_grows_and_shrinks_and_keeps_what_it_names(addresses):
    lease = addresses.lease(2, [206])
    before = addresses.shown(lease)
    addresses.resize(lease, 5)
    after = {number: each.id for number, each in addresses.there().items()}
    assert (len(after), before.items() <= after.items()) == (5, True)
    addresses.resize(lease, 1)
    assert set(addresses.there()) == {206}
    assert addresses.shown(lease) == {206: before[206]}
    with pytest.raises(errors.Conflict) as refused:
        addresses.lease(6)
    assert 'Only 5 of 6 addresses are free' in refused.value.message
    assert len(addresses.lease(5)['reservations'][0]['floating_ips']) == 5


def test_a_lease_that_is_deleted_while_it_starts_leaves_nothing(scene, addresses):
    lease = addresses.lease(6, active=False, start=scenes.in_seconds(3))
    scenes.until(addresses.there, 'the first address', 60, 0.02)
    scene.climate().leases.delete(lease['id'])
    scenes.until(lambda: scene.climate('admin').leases.get(lease['id'])['deleted_at'],
                 'the lease to be deleted', 60)
    assert addresses.there() == {}


def test_the_addresses_of_an_owner_who_was_deleted_are_taken_back(
        scene, addresses, guest, admin, demo):
    lease = addresses.lease(2, person='guest')
    port_id = addresses.inside().port_id
    one = min(addresses.there())
    demo.network.update_ip(addresses.there()[one].id, port_id=port_id)
    admin.identity.delete_user(guest)
    addresses.end(lease)
    assert addresses.there() == {}


def test_a_lease_whose_owner_was_deleted_starts_in_the_project_and_ends(
        scene, addresses, guest, admin, demo):
    lease = addresses.lease(1, person='guest', active=False, start=scenes.in_seconds(8))
    admin.identity.delete_user(guest)
    scene.wait(lease['id'], 'active', 60)
    assert [each.project_id for each in addresses.there().values()] == [demo.current_project_id]
    addresses.end(lease)
    assert addresses.there() == {}


def test_a_full_quota_is_said_by_its_name_early_and_again_at_the_start(scene, addresses):
    later = addresses.lease(3, active=False, start=scenes.in_seconds(10))
    addresses.limit(2)
    with pytest.raises(errors.Conflict) as refused:
        addresses.lease(3)
    assert 'quota "floatingip" in Neutron, and the project has 2' in refused.value.message
    found = scene.wait(later['id'], 'error', 120)
    assert 'quota "floatingip"' in found['status_reason']
    assert addresses.there() == {}
    # A larger quota lets the start be tried again.
    addresses.limit(3)
    scene.wait(later['id'], 'active', 180)
    assert len(addresses.there()) == 3


def test_changes_of_an_address_by_neutron_and_others_are_corrected(scene, addresses, admin, demo):
    taken = admin.network.create_ip(floating_network_id=addresses.network_id,
                                    floating_ip_address=addressed.address(201))
    scene.afterwards(lambda: admin.network.delete_ip(taken.id, ignore_missing=True))
    lease = addresses.lease(2)
    found = addresses.there()
    assert {each.project_id for number, each in found.items() if number != 201} == {
        demo.current_project_id}
    assert len(found) == 3
    mine = sorted(addresses.shown(lease))
    # The owner makes it unrecognisable, deletes the other, and marks one of its own.
    demo.network.set_tags(demo.network.get_ip(found[mine[0]].id), [])
    demo.network.update_ip(found[mine[0]].id, description='')
    demo.network.delete_ip(found[mine[1]].id)
    own = demo.network.create_ip(
        floating_network_id=addresses.network_id,
        description=f'Climate reservation {lease["reservations"][0]["id"]}')
    scene.afterwards(lambda: demo.network.delete_ip(own.id))
    addresses.end(lease)
    assert set(addresses.there()) == {201}
    assert admin.network.get_ip(own.id).floating_ip_address == own.floating_ip_address


def test_a_named_address_that_is_taken_is_told_and_the_lease_heals(scene, addresses, admin):
    taken = admin.network.create_ip(floating_network_id=addresses.network_id,
                                    floating_ip_address=addressed.address(203))
    scene.afterwards(lambda: admin.network.delete_ip(taken.id, ignore_missing=True))
    lease = addresses.lease(1, [203], active=False)
    found = scene.wait(lease['id'], 'error', 120)
    assert addressed.address(203) in scene.climate('admin').leases.get(
        lease['id'])['status_reason'], found
    assert set(addresses.there()) == {203}
    admin.network.delete_ip(taken.id)
    scene.wait(lease['id'], 'active', 180)
    assert addresses.there()[203].project_id == addresses.project_id


def test_an_address_that_cannot_be_leased_is_not_enrolled(addresses):
    for name, words in (
            (addressed.address(1), 'gateway'), (addressed.address(0), 'network'),
            (addressed.address(255), 'broadcast'), (addressed.address(150), 'allocation pool'),
            ('10.1.2.3', 'no subnet'), (addressed.address(203), 'enrolled already'),
            (f'{addressed.address(205)}-{addressed.address(210)}', 'enrolled already'),
            ('nonsense', 'not an IP'), ('2001:db8::1', 'no subnet')):
        with pytest.raises(errors.ClientError) as refused:
            addresses.enrol(name)
        assert words in str(refused.value), name
    assert len(list(addresses.pool.list())) == 6


def test_neutron_never_gives_an_enrolled_address_to_users_and_they_cannot_name_it(
        scene, addresses, demo):
    with pytest.raises(openstack.exceptions.ForbiddenException):
        demo.network.create_ip(floating_network_id=addresses.network_id,
                               floating_ip_address=addressed.address(202))
    made = demo.network.create_ip(floating_network_id=addresses.network_id)
    scene.afterwards(lambda: demo.network.delete_ip(made.id))
    assert addresses.there() == {}


def test_one_of_many_requests_for_the_last_addresses_gets_them(scene, addresses, demo):
    token = demo.session.get_token()
    body = {'name': scene.name(), 'start': 'now', 'duration': 3600,
            'reservations': [addresses.request(4)]}

    def ask():
        return requests.post(settings.url('climate', '/v1/leases'), json=body, timeout=60, headers={
            'X-Auth-Token': token, 'OpenStack-API-Version': 'reservation 1.1'})
    answers = simultaneous.at_once(*[ask] * AT_ONCE)
    for answer in answers:
        if answer.status_code == 201:
            scene.remember(answer.json()['lease']['id'])
            scene.wait(answer.json()['lease']['id'], 'active')
    assert collections.Counter(each.status_code for each in answers) == {
        201: 1, 409: AT_ONCE - 1}, [answer.text for answer in answers]
    assert len(addresses.there()) == 4


def test_while_neutron_is_down_for_a_minute_nothing_is_lost(scene, addresses, cloud):
    lease = addresses.lease(2, active=False, start=scenes.in_seconds(4))
    ending = addresses.lease(2)
    processes.stop(cloud, 'neutron')
    try:
        scene.climate('admin').leases.end(ending['id'])
        time.sleep(60)
        assert scene.climate('admin').leases.get(lease['id'])['status'] in ('starting', 'error')
        assert scene.climate('admin').leases.get(ending['id'])['status'] == 'terminating'
    finally:
        services.start(cloud, 'neutron')
        services.wait_until_well(cloud, 'neutron')
    scene.wait(ending['id'], 'terminated', 180)
    scene.wait(lease['id'], 'active', 180)
    assert {number: each.id for number, each in addresses.there().items()} == addresses.shown(lease)
