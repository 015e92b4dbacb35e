# SPDX-License-Identifier: Apache-2.0
"""Leases of instance capacity, by sizes and by a flavor, on the real cloud."""
import contextlib
import uuid

import openstack
import pytest
import scene as scenes

from climate.client import errors

SIZES = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1,
         'amount': 2, 'affinity': False}


class Room:
    """A lease of capacity, its servers, and its objects in the cloud.

    :ivar group_id: the server group, as the answer to POST names it; None without one.
    """

    def __init__(self, scene, admin, reservation, start=None):
        self.scene = scene
        self._admin = admin
        self.lease = scene.climate().leases.create(scene.name(), duration='10m', start=start,
                                                   reservations=[reservation])
        scene.remember(self.lease['id'])
        self.group_id = self.lease['reservations'][0]['server_group_id']
        if start is None:
            self.lease = scene.wait(self.lease['id'], 'active')
        [self.reservation] = self.lease['reservations']
        self.id = self.reservation['id']
        self.resource_class = 'CUSTOM_RESERVATION_' + self.id.upper().replace('-', '_')
        self._servers = []
        scene.afterwards(self._clean)

    def boot(self, count=1, person='demo'):
        """New servers, as soon as they are ACTIVE or ERROR."""
        found = self.scene.people[person]
        hints = {}
        if self.group_id is not None and person == 'demo':
            hints = {'scheduler_hints': {'group': self.group_id}}
        made = [found.compute.create_server(
            name=self.scene.name(), image_id=found.image.find_image('tiny').id,
            flavor_id=self.id, networks='none', **hints) for _ in range(count)]
        self._servers += [server.id for server in made]
        return [self.scene.booted(server.id) for server in made]

    def slots(self):
        """{provider: how many servers of this room it may have}, those that have any."""
        found = {}
        for provider in self._admin.placement.resource_providers():
            inventories = self._placement(f'/resource_providers/{provider.id}/inventories')
            if self.resource_class in inventories['inventories']:
                found[provider.name] = inventories['inventories'][self.resource_class]['total']
        return found

    def left(self):
        """Return the objects of the reservation that are still in the cloud, as a list of words."""
        admin = self._admin.compute
        servers = [each.id for each in admin.servers(all_projects=True)]
        checks = {
            'flavor': admin.find_flavor(self.id, ignore_missing=True),
            'group': [each for each in admin.server_groups(all_projects=True)
                      if each.name == f'reservation:{self.id}'],
            'aggregate': self.scene.aggregate(self.id), 'inventory': self.slots(),
            'class': self.resource_class in {each['name'] for each in self._placement(
                '/resource_classes')['resource_classes']},
            'servers': set(self._servers) & set(servers),
        }
        return [name for name, found in checks.items() if found]

    def change(self, **fields):
        self.scene.climate().leases.update(self.lease['id'], reservations=[
            {'id': self.id, **fields}])

    def finish(self):
        """End the lease and wait for that."""
        self.scene.climate().leases.end(self.lease['id'])
        return self.scene.wait(self.lease['id'], 'terminated')

    def _placement(self, path):
        return self._admin.session.get(path, endpoint_filter={
            'service_type': 'placement'}, microversion='1.29').json()

    def _clean(self):
        for server_id in self._servers:
            with contextlib.suppress(AssertionError):
                self.scene.remove(server_id)


@pytest.fixture
def room(scene, admin):
    """callable(**fields): a running lease of capacity for instances."""
    return lambda **fields: Room(scene, admin, {**SIZES, **fields})


@pytest.fixture
def fast_flavor(scene, admin, cloud):
    """The id of a flavor with a trait that only two of the hosts have."""
    trait = f'CUSTOM_FAST_{uuid.uuid4().hex[:8].upper()}'
    session, where = admin.session, {'service_type': 'placement'}
    session.put(f'/traits/{trait}', endpoint_filter=where, microversion='1.29')
    hosts = scene.climate('admin').hosts

    def give(name, add):
        [provider] = admin.placement.resource_providers(name=name)
        found = session.get(f'/resource_providers/{provider.id}/traits', endpoint_filter=where,
                            microversion='1.29').json()
        traits = set(found['traits']) - {trait} | ({trait} if add else set())
        session.put(f'/resource_providers/{provider.id}/traits', endpoint_filter=where,
                    microversion='1.29', json={**found, 'traits': sorted(traits)})
        # Facts of a host are read when it is enrolled.
        rack = hosts.get(hosts.find(name)['id'])['rack']
        hosts.delete(hosts.find(name)['id'])
        hosts.create(name, {'rack': rack})
    for name in cloud.compute_hosts[:2]:
        give(name, True)
    flavor = admin.compute.create_flavor(name=scene.name(), vcpus=1, ram=256, disk=1)
    admin.compute.create_flavor_extra_specs(flavor, {f'trait:{trait}': 'required'})

    def undo():
        admin.compute.delete_flavor(flavor)
        for name in cloud.compute_hosts[:2]:
            give(name, False)
        session.delete(f'/traits/{trait}', endpoint_filter=where, microversion='1.29')
    yield flavor.id
    scene.afterwards(undo)


def test_two_instances_apart_on_two_hosts_and_no_third(room, scene, cloud):
    made = room()
    assert sorted(made.slots().values()) == [1, 1]
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts)
    booted = made.boot(2)
    assert {server.status for server in booted} == {'ACTIVE'}, booted[0].fault
    assert {server.compute_host for server in booted} == scene.hosts_in(made.id)
    assert len(scene.hosts_in(made.id)) == 2
    [third] = made.boot()
    assert third.status == 'ERROR'
    assert 'No valid host' in third.fault['message']
    made.finish()
    assert made.left() == []


def test_instances_together_lie_on_one_host(room, scene):
    made = room(affinity=True)
    assert list(made.slots().values()) == [2]
    booted = made.boot(2)
    assert {server.status for server in booted} == {'ACTIVE'}
    assert {server.compute_host for server in booted} == scene.hosts_in(made.id)
    made.finish()
    assert made.left() == []


@pytest.mark.parametrize(('affinity', 'policy', 'hosts'), [
    (True, 'affinity', 1), (False, 'anti-affinity', 2)])
def test_the_server_group_that_post_answers_is_the_owners_and_takes_the_servers(
        scene, room, affinity, policy, hosts):
    made = room(affinity=affinity)
    demo = scene.people['demo'].compute
    group = demo.get_server_group(made.group_id)
    assert group.name == f'reservation:{made.id}'
    assert policy in (group.policy, *(group.policies or ()))
    booted = made.boot(2)
    assert {server.status for server in booted} == {'ACTIVE'}, booted[0].fault
    assert len({server.compute_host for server in booted}) == hosts
    members = demo.get_server_group(made.group_id).member_ids
    assert set(members) == {server.id for server in booted}
    assert made.reservation['server_group_id'] == made.group_id
    made.finish()
    assert made.left() == []


def test_a_lease_that_starts_later_has_its_server_group_from_its_request_on(scene):
    demo = scene.people['demo'].compute
    before = {each.id for each in demo.server_groups()}
    leases = scene.climate().leases
    made = leases.create(scene.name(), start=scenes.in_seconds(7200), duration='10m',
                         reservations=[{**SIZES, 'affinity': True}])
    scene.remember(made['id'])
    [reservation] = made['reservations']
    first = reservation['server_group_id']
    assert {each.id for each in demo.server_groups()} - before == {first}
    changed = leases.update(made['id'], reservations=[
        {'id': reservation['id'], 'affinity': False}])
    second = changed['reservations'][0]['server_group_id']
    assert {each.id for each in demo.server_groups()} - before == {second} != {first}
    leases.delete(made['id'])
    scenes.until(lambda: {each.id for each in demo.server_groups()} <= before,
                 'the server group to be gone')


def test_a_lease_that_is_refused_leaves_no_server_group(scene):
    demo = scene.people['demo'].compute
    before = {each.id for each in demo.server_groups()}
    with pytest.raises(errors.Conflict):
        scene.climate().leases.create(scene.name(), duration='10m', reservations=[
            {**SIZES, 'amount': 1000, 'affinity': True}])
    assert {each.id for each in demo.server_groups()} == before


def test_a_running_lease_of_a_flavor_with_a_trait_grows_and_shrinks(
        scene, admin, cloud, fast_flavor):
    made = Room(scene, admin, {'resource_type': 'flavor:instance', 'flavor_id': fast_flavor,
                               'amount': 1, 'affinity': False})
    assert [server.status for server in made.boot()] == ['ACTIVE']
    assert [server.status for server in made.boot()] == ['ERROR']
    made.change(amount=2)
    scenes.until(lambda: len(made.slots()) == 2, 'a second slot')
    scene.wait(made.lease['id'], 'active')
    assert scene.hosts_in(made.id) == set(cloud.compute_hosts[:2])
    assert [server.status for server in made.boot()] == ['ACTIVE']
    made.change(amount=1)
    scenes.until(lambda: len(made.slots()) == 1, 'one slot to be left')
    scene.wait(made.lease['id'], 'active')
    made.finish()
    assert made.left() == []


def test_another_project_cannot_use_the_room(room, alt):
    made = room(amount=1, affinity=None)
    assert alt.compute.find_flavor(made.id, ignore_missing=True) is None
    made.finish()
    assert made.left() == []


def test_staged_objects_exist_before_the_start_and_cannot_be_used(scene, admin, cloud):
    room = Room(scene, admin, SIZES, start=scenes.in_seconds(40))
    scenes.until(lambda: {'flavor', 'aggregate', 'class'} <= set(room.left()), 'it to be staged',
                 38)
    assert scene.climate().leases.get(room.lease['id'])['status'] == 'inactive'
    assert (scene.hosts_in(room.id), room.slots()) == (set(), {})
    assert admin.compute.get_flavor_access(room.id) == []
    with pytest.raises(openstack.exceptions.HttpException):
        room.boot()
    scene.wait(room.lease['id'], 'active', 60)
    servers = room.boot(2)
    assert {each.status for each in servers} == {'ACTIVE'}
    assert {each.compute_host for each in servers} == scene.hosts_in(room.id)
    room.finish()
    assert room.left() == []


def test_a_staged_lease_that_is_deleted_leaves_nothing(scene, admin):
    room = Room(scene, admin, {**SIZES, 'affinity': None}, start=scenes.in_seconds(60))
    scenes.until(lambda: 'class' in room.left(), 'it to be staged', 58)
    scene.climate().leases.delete(room.lease['id'])
    scenes.until(lambda: room.left() == [], 'all of it to go', 30)
