# SPDX-License-Identifier: Apache-2.0
"""Leases of volumes from their creation to their end, on the simulated cloud."""
import pytest
from support import builders
from support import thinning

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.plugins import registry

SSD, HDD = 'storage@ssd#ssd', 'storage@hdd#hdd'
TYPES = ['virtual:volume', 'virtual:instance', 'physical:host']
NOON, HOURS, MINUTES = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def manager(conf, database, clock):
    classes = registry.load(TYPES)
    registry.register_options(conf, classes)
    conf.set_override('plugins', TYPES)
    conf.set_override('volume_seconds', 2, group='simulated')
    found = builders.Manager(conf, database, clock, classes=classes)
    for name in (HDD, SSD):
        found.client.create_resource(builders.an_admin(), 'backend', name, {'media': name[8:11]})
    return found


@pytest.fixture
def volumes(manager):
    return manager.cloud.as_service().volumes


def room(size_gb=50, **more):
    return records.ReservationRequest('virtual:volume', {'size_gb': size_gb, **more})


def leased(manager, *reservations, start=None, end=None, **more):
    return manager.book(*reservations, start=start, end=end or (start or NOON) + HOURS(2), **more)


def run_for(manager, span):
    manager.run_until(manager.clock.now + span)


def own_volume(manager, volumes, size_gb=10):
    """The id of a volume that the owner has anyway."""
    trust = manager.cloud.as_service().keystone.create_trust(builders.a_member())
    made = manager.cloud.as_user(trust.id).volumes.create('data', size_gb, 'ordinary', {})
    manager.cloud.as_service().keystone.delete_trust(trust.id)
    manager.clock.advance(builders.seconds(3))
    assert volumes.volume(made).status == 'available'
    return made


def assert_nothing_is_left(manager, volumes):
    assert [each.name for each in volumes.types()] == ['ordinary']
    assert set(volumes.quotas('demo')) == {'gigabytes', 'volumes', 'snapshots'}
    assert manager.cloud.as_service().keystone.trusts() == []


def test_volumes_are_made_at_the_start_and_become_images_of_the_owner(manager, volumes):
    lease = leased(manager, room(50, amount=2, resource_properties='["==", "$media", "ssd"]'),
                   start=NOON + HOURS(1))
    manager.run()
    assert volumes.every() == []
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(1) + MINUTES(1))
    made = volumes.every()
    assert [(each.size_gb, each.status, each.project_id, each.backend) for each in made] == [
        (50, 'available', 'demo', SSD)] * 2
    assert lease.reservations[0].binding['volume_ids'] == [each.id for each in made]

    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(3) + MINUTES(1))
    assert volumes.every() == []
    assert [(each['project_id'], each['status']) for each in manager.cloud.images()] == [
        ('demo', 'active')] * 2
    assert_nothing_is_left(manager, volumes)


def test_a_volume_is_not_deleted_before_its_image_is_active(manager, volumes):
    lease = leased(manager, room())
    run_for(manager, MINUTES(1))
    deleted = []

    def note(name, when):
        if (name, when) == ('cinder.delete_volume', 'before'):
            deleted.append([each['status'] for each in manager.cloud.images()])
    manager.cloud.faults.on_point = note
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    assert deleted == [['active']]


@pytest.mark.proof
def test_an_image_that_fails_keeps_the_volume_and_the_lease_says_so(manager, volumes):
    lease = leased(manager, room())
    run_for(manager, MINUTES(1))
    manager.cloud.fail('cinder.upload_to_image', 10 ** 6,
                       errors.CloudError(service='Cinder', reason='no space for images'))
    manager.expect(lease, lifecycle.ERROR, NOON + HOURS(12))
    assert 'The volumes are kept.' in manager.lease(lease).reason
    [volume] = volumes.every()
    assert volume.status == 'available'
    # Nobody else can lease its capacity as long as it exists.
    all_of_it = room(200, resource_properties='["==", "$media", "ssd"]')
    with pytest.raises(errors.NotEnough):
        leased(manager, all_of_it, start=manager.clock.now)
    volumes.delete(volume.id)
    manager.delete(lease)
    run_for(manager, MINUTES(1))
    leased(manager, all_of_it, start=manager.clock.now)


def test_a_volume_gets_an_ordinary_type_and_stays(manager, volumes):
    lease = leased(manager, room(on_end='retype', volume_type='ordinary'))
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    [volume] = volumes.every()
    assert (volume.type_name, volume.backend, volume.project_id) == (
        'ordinary', 'ordinary@plain#plain', 'demo')
    assert_nothing_is_left(manager, volumes)


def test_a_type_is_given_that_the_owner_fills_up_to_its_quota(manager, volumes):
    lease = leased(manager, room(100, give='type', on_end='delete'))
    run_for(manager, MINUTES(1))
    [reservation] = manager.lease(lease).reservations
    [name] = reservation.binding['volume_types']
    owner = manager.cloud.as_user(manager.lease(lease).trust_id).volumes
    owner.create('one', 60, name, {})
    with pytest.raises(errors.CloudError, match=f'gigabytes_{name}'):
        owner.create('two', 60, name, {})
    stranger = manager.cloud.as_service().keystone.create_trust(
        builders.a_member('eve', 'other'))
    with pytest.raises(errors.CloudError, match='could not be found'):
        manager.cloud.as_user(stranger.id).volumes.create('three', 1, name, {})
    manager.cloud.as_service().keystone.delete_trust(stranger.id)

    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    assert volumes.every() == []
    assert_nothing_is_left(manager, volumes)


def test_leases_get_no_more_capacity_than_the_back_ends_have(manager, volumes):
    leased(manager, room(400, on_end='delete'))
    leased(manager, room(200, on_end='delete'))
    with pytest.raises(errors.NotEnough):
        leased(manager, room(150, on_end='delete'))
    leased(manager, room(150, on_end='delete'), start=NOON + HOURS(3))


@pytest.fixture
def change(manager):
    """callable(lease, **fields): the owner changes the reservation of a lease."""
    def by(lease, **fields):
        manager.change_reservation(lease, **fields)
        run_for(manager, MINUTES(1))
        assert manager.lease(lease).state == lifecycle.ACTIVE, manager.lease(lease).reason
    return by


def test_a_running_lease_gets_more_volumes_and_keeps_those_it_has(manager, volumes, change):
    lease = leased(manager, room(20, on_end='delete'))
    run_for(manager, MINUTES(1))
    [first] = volumes.every()
    change(lease, amount=3)
    assert [each.size_gb for each in volumes.every()] == [20] * 3
    assert volumes.volume(first.id) == first
    with pytest.raises(errors.Conflict, match='size_gb'):
        change(lease, size_gb=30)
    manager.run_until(NOON + HOURS(2) + MINUTES(1))
    assert volumes.every() == []
    assert_nothing_is_left(manager, volumes)


def test_a_running_lease_shrinks_to_the_volumes_that_its_owner_has_left(
        manager, volumes, change):
    lease = leased(manager, room(150, amount=3, on_end='delete'))
    run_for(manager, MINUTES(1))
    with pytest.raises(errors.Conflict, match='has 3 volumes, and would have capacity for 2'):
        change(lease, amount=2)
    # The deleted volume need not be on the back end that loses the capacity.
    for victim in volumes.every()[:2]:
        owner = manager.cloud.as_user(manager.lease(lease).trust_id).volumes
        owner.delete(victim.id)
        run_for(manager, MINUTES(1))
        kept = {each.id for each in volumes.every()}
        change(lease, amount=len(kept))
        assert kept <= {each.id for each in volumes.every()}
        [reservation] = manager.lease(lease).reservations
        assert sorted(each.type_name for each in volumes.every()) == sorted(
            f'reservation:{reservation.id}:{key}' for key in reservation.allocated['room'])
    assert len(volumes.every()) == 1
    # What it does not have any more, others get.
    leased(manager, room(300, amount=1, on_end='delete'))
    leased(manager, room(200, amount=1, on_end='delete'))
    manager.run_until(NOON + HOURS(2) + MINUTES(5))
    assert_nothing_is_left(manager, volumes)


def test_room_that_the_owner_fills_grows_and_shrinks_on_its_back_end(manager, volumes, change):
    lease = leased(manager, room(50, amount=2, give='type', on_end='delete',
                                 resource_properties='["==", "$media", "hdd"]'))
    run_for(manager, MINUTES(1))
    [name] = manager.lease(lease).reservations[0].binding['volume_types']

    def make(size_gb):
        owner = manager.cloud.as_user(manager.lease(lease).trust_id).volumes
        made = owner.create('one', size_gb, name, {})
        run_for(manager, MINUTES(1))
        return made
    make(100)
    with pytest.raises(errors.CloudError, match=f'gigabytes_{name}'):
        make(1)
    change(lease, amount=5)
    more = make(150)
    with pytest.raises(errors.Conflict, match='has 250 GB of volumes'):
        change(lease, amount=2)
    volumes.delete(more)
    run_for(manager, MINUTES(1))
    change(lease, amount=2)
    assert manager.lease(lease).reservations[0].binding['volume_types'] == [name]
    with pytest.raises(errors.CloudError, match=f'gigabytes_{name}'):
        make(1)
    with pytest.raises(errors.NotEnough):
        change(lease, amount=11)
    manager.run_until(NOON + HOURS(2) + MINUTES(1))
    assert_nothing_is_left(manager, volumes)


def test_a_quota_that_is_too_small_is_said_when_the_lease_is_made(manager, volumes):
    with pytest.raises(errors.LimitReached, match='11 of the quota "volumes" in Cinder'):
        leased(manager, room(1, amount=11))
    own_volume(manager, volumes, 900)
    with pytest.raises(errors.Conflict, match=r'"gigabytes" .* 1000, of which 900'):
        leased(manager, room(150))


def test_the_quotas_of_what_is_left_at_the_end_are_said_as_early(manager, volumes):
    volumes.limit('demo', 'ordinary', 40, 5)
    with pytest.raises(errors.Conflict, match=r'50 of .*"gigabytes_ordinary" .* has 40,'):
        leased(manager, room(50, on_end='retype', volume_type='ordinary'))
    volume_id = own_volume(manager, volumes)
    trust = manager.cloud.as_service().keystone.create_trust(builders.a_member())
    for number in range(10):
        manager.cloud.as_user(trust.id).volumes.create_snapshot(volume_id, f'{number}')
    manager.cloud.as_service().keystone.delete_trust(trust.id)
    with pytest.raises(errors.LimitReached, match=r'on_end: The lease needs 1 .*"snapshots"'):
        leased(manager, records.ReservationRequest(
            'virtual:volume', {'resource_id': volume_id, 'on_end': 'snapshot'}))


@pytest.mark.proof
def test_a_quota_that_is_used_up_before_the_start_is_said_by_its_name(manager, volumes):
    lease = leased(manager, room(150), start=NOON + HOURS(1))
    own_volume(manager, volumes, 900)
    lease = manager.expect(lease, lifecycle.ERROR, NOON + HOURS(1) + MINUTES(30))
    assert '150 of the quota "gigabytes" in Cinder, and the project has 1000' in lease.reason
    manager.run_until(NOON + HOURS(3) + MINUTES(5))
    assert_nothing_is_left(manager, volumes)


def with_server(manager, *reservations, **more):
    """(A lease of a server that runs, and of what depends on it; the server)."""
    server = manager.cloud.boot('demo', 'vm', flavor='2')
    lease = leased(manager, records.ReservationRequest(
        'virtual:instance', {'resource_id': server.id, 'on_end': 'suspend'}, label='vm'),
        *reservations, **more)
    run_for(manager, MINUTES(1))
    assert manager.lease(lease).state == lifecycle.ACTIVE, manager.lease(lease).reason
    return lease, server


def test_volumes_are_attached_to_the_server_of_the_lease_and_detached_at_its_end(
        manager, volumes):
    lease, server = with_server(manager, records.ReservationRequest(
        'virtual:volume', {'size_gb': 5, 'amount': 2, 'attach': True}, depends_on=('vm',)))
    assert [(each.status, each.server_ids) for each in volumes.every()] == [
        ('in-use', (server.id,))] * 2
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    assert volumes.every() == []
    assert len([each for each in manager.cloud.images() if each['key']]) == 2
    assert_nothing_is_left(manager, volumes)


@pytest.mark.parametrize('on_end', ['keep', 'snapshot', 'image'])
def test_an_existing_volume_is_attached_and_stays_with_the_copy_of_it(manager, volumes, on_end):
    volume_id = own_volume(manager, volumes)
    lease, server = with_server(manager, records.ReservationRequest(
        'virtual:volume', {'resource_id': volume_id, 'attach': True, 'on_end': on_end},
        depends_on=('vm',)))
    assert volumes.volume(volume_id).server_ids == (server.id,)
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    found = volumes.volume(volume_id)
    assert (found.status, found.server_ids) == ('available', ())
    assert len(volumes.snapshots(volume_id)) == (on_end == 'snapshot')
    images = [each for each in manager.cloud.images() if each['key']]
    assert [each['project_id'] for each in images] == ['demo'] * (on_end == 'image')
    with manager.cloud.state() as connection:
        assert [row['image_key'] for row in connection.execute('SELECT * FROM volumes')] == [None]
    assert_nothing_is_left(manager, volumes)


def test_an_image_of_an_existing_volume_in_use_is_given_up_in_the_end_and_the_volume_stays(
        manager, volumes):
    volume_id = own_volume(manager, volumes)
    server = manager.cloud.boot('demo', 'mine', flavor='2')
    lease = leased(manager, records.ReservationRequest(
        'virtual:volume', {'resource_id': volume_id, 'on_end': 'image'}))
    run_for(manager, MINUTES(1))
    trust = manager.lease(lease).trust_id
    manager.cloud.as_user(trust).attachments.attach_volume(server.id, volume_id)
    manager.run_until(NOON + HOURS(2) + MINUTES(50))
    assert manager.lease(lease).state != lifecycle.TERMINATED
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(3) + MINUTES(10))
    assert 'The volume itself stays.' in manager.lease(lease).reason
    assert volumes.volume(volume_id).server_ids == (server.id,)


@pytest.mark.parametrize(('status', 'most'), [('error', 3), ('creating', 1)])
def test_a_snapshot_that_fails_is_given_up_and_does_not_fill_the_quota_of_the_owner(
        manager, volumes, status, most):
    volume_id = own_volume(manager, volumes)
    lease = leased(manager, records.ReservationRequest(
        'virtual:volume', {'resource_id': volume_id, 'on_end': 'snapshot'}))
    with manager.cloud.state() as connection:
        connection.execute('CREATE TRIGGER none AFTER INSERT ON volume_snapshots BEGIN '
                           f"UPDATE volume_snapshots SET status = '{status}'; END")
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(3) + MINUTES(10))
    assert 'There is no snapshot of volume' in manager.lease(lease).reason
    assert [each.status for each in volumes.snapshots(volume_id)] == [status] * most
    assert volumes.volume(volume_id).status == 'available'


def test_a_lease_of_a_volume_that_its_owner_deletes_is_over(manager, volumes):
    volume_id = own_volume(manager, volumes)
    lease = leased(manager, records.ReservationRequest(
        'virtual:volume', {'resource_id': volume_id}), start=NOON + HOURS(1))
    volumes.delete(volume_id)
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(1) + MINUTES(5))
    assert_nothing_is_left(manager, volumes)


def test_a_dead_trust_leaves_no_volume_and_nothing_in_the_project_of_the_service(
        manager, volumes):
    lease = leased(manager, room())
    run_for(manager, MINUTES(1))
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + HOURS(2) + MINUTES(1))
    assert volumes.every() == []
    assert [each['project_id'] for each in manager.cloud.images()] == ['demo']
    assert_nothing_is_left(manager, volumes)


def test_a_lease_that_is_deleted_while_it_starts_leaves_nothing(manager, volumes):
    lease = leased(manager, room(on_end='delete'))
    manager.run()
    assert [each.status for each in volumes.every()] == ['creating']
    manager.delete(lease)
    run_for(manager, MINUTES(1))
    assert volumes.every() == []
    assert_nothing_is_left(manager, volumes)


def test_a_back_end_without_room_is_said_and_tried_again(manager, volumes):
    # Another cloud user has filled the back end, past Climate.
    volumes.ensure_type('past-climate', {'volume_backend_name': 'ssd'})
    filling = volumes.create('filling', 180, 'past-climate', {})
    manager.clock.advance(builders.seconds(3))
    lease = leased(manager, room(on_end='delete',
                                 resource_properties='["==", "$media", "ssd"]'))
    manager.run()
    manager.clock.advance(builders.seconds(5))
    manager.run()
    assert manager.lease(lease).state != lifecycle.ACTIVE
    volumes.delete(filling)
    run_for(manager, MINUTES(10))
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert [each.backend for each in volumes.every()] == [SSD]


def test_a_lease_whose_back_end_is_down_at_the_start_gets_room_on_another(manager, volumes):
    lease = leased(manager, room(20, on_end='delete'), start=NOON + HOURS(1))
    manager.run()
    first, = manager.lease(lease).reservations[0].allocated['room']
    [down] = [each.name for each in manager.client.list_resources(builders.an_admin(), 'backend')
              if each.id == first]
    with manager.cloud.state() as connection:
        connection.execute('DELETE FROM backends WHERE name = ?', (down,))
    manager.expect(lease, lifecycle.ACTIVE, NOON + HOURS(1) + MINUTES(10))
    assert [{each.backend, down} for each in volumes.every()] == [{SSD, HDD}]
    manager.run_until(NOON + HOURS(3) + MINUTES(5))
    assert_nothing_is_left(manager, volumes)


@pytest.mark.parametrize(('fields', 'named'), thinning.few([
    ({}, 'size_gb'), ({'size_gb': 1, 'on_end': 'snapshot'}, 'on_end'),
    ({'size_gb': 1, 'on_end': 'retype'}, 'volume_type'),
    ({'size_gb': 1, 'on_end': 'retype', 'volume_type': 'nope'}, 'volume_type'),
    ({'size_gb': 1, 'volume_type': 'ordinary'}, 'volume_type'),
    ({'size_gb': 1, 'give': 'type', 'attach': True}, 'attach'),
    ({'size_gb': 0}, 'size_gb'), ({'size_gb': -1}, 'size_gb'), ({'size_gb': 10 ** 9}, 'size_gb'),
    ({'size_gb': 1, 'amount': 0}, 'amount'), ({'size_gb': 1, 'amount': 10 ** 9}, 'amount'),
    ({'resource_id': 'nope'}, 'resource_id'), ({'resource_id': '../types'}, 'resource_id'),
    ({'resource_id': '00000000-0000-4000-8000-000000000009'}, 'resource_id'),
], 6))
def test_a_wrong_field_is_named(manager, fields, named):
    with pytest.raises(errors.BadField) as refused:
        leased(manager, records.ReservationRequest('virtual:volume', fields))
    assert named in refused.value.details['field']


def test_somebody_elses_volume_and_one_that_is_leased_are_refused(manager, volumes):
    volume_id = own_volume(manager, volumes)
    with pytest.raises(errors.BadField, match='no volume'):
        manager.create(builders.a_lease(records.ReservationRequest(
            'virtual:volume', {'resource_id': volume_id})), builders.a_member('eve', 'other'))
    leased(manager, records.ReservationRequest('virtual:volume', {'resource_id': volume_id}))
    with pytest.raises(errors.TargetLeased):
        leased(manager, records.ReservationRequest('virtual:volume', {'resource_id': volume_id}))


@pytest.mark.parametrize(('name', 'kind', 'said'), [
    ('storage@nope#nope', errors.ResourceNotFound, 'nope'),
    ('ordinary@plain#plain', errors.ResourceInUse, 'ordinary'),
])
def test_a_back_end_that_cannot_be_leased_is_not_enrolled(manager, name, kind, said):
    with pytest.raises(kind, match=said):
        manager.client.create_resource(builders.an_admin(), 'backend', name, {})
