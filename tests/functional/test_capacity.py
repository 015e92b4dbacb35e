# SPDX-License-Identifier: Apache-2.0
"""Instance capacity, by sizes or by a flavor, on the simulated cloud."""
import collections
import json

import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

HOUR = builders.hours(1)
sized = builders.instances
NOON = builders.NOON


def flavored(flavor_id='2', amount=1, affinity=None):
    """A ReservationRequest for instances of that flavor."""
    return records.ReservationRequest('flavor:instance', {
        'flavor_id': flavor_id, 'amount': amount, 'affinity': affinity})


def change(manager, lease, place=0, **request):
    """The lease after a change of one of its reservations, as its update is done."""
    made = manager.change_reservation(lease, place, **request)
    manager.run()
    return made


def spread(lease, place=0):
    """Return the numbers of slots on the hosts of the reservation, in descending order."""
    counts = collections.Counter(lease.reservations[place].resource_ids)
    return sorted(counts.values(), reverse=True)


@pytest.mark.parametrize('request_of', [sized, flavored])
@pytest.mark.usefixtures('as_before')
def test_a_project_boots_as_many_instances_as_it_leased_and_loses_them_at_the_end(
        manager, enrol_hosts, request_of):
    enrol_hosts(2)
    lease = manager.active(request_of(amount=2, affinity=False))
    [reservation] = lease.reservations
    booted = [manager.cloud.boot('demo', name, flavor=reservation.id) for name in 'ab']
    assert {server.host for server in booted} == {'small-0', 'small-1'}
    with pytest.raises(errors.Conflict, match='No valid host'):
        manager.cloud.boot('demo', 'third', flavor=reservation.id)
    with pytest.raises(errors.NotFound):
        manager.cloud.boot('other', 'stranger', flavor=reservation.id)
    with pytest.raises(errors.Conflict, match='No valid host'):
        manager.cloud.boot('demo', 'ordinary', host='small-0')
    manager.run_until(NOON + HOUR + builders.minutes(1))
    lease = manager.lease(lease)
    assert (lease.state, lease.reservations[0].state) == (lifecycle.TERMINATED, 'deleted')
    assert manager.cloud.servers() == []


@pytest.mark.usefixtures('as_before')
def test_the_cloud_has_what_existing_clients_look_for(manager, enrol_hosts):
    enrol_hosts(1)
    [reservation] = manager.active(sized(3, vcpus=2, affinity=True)).reservations
    services = manager.cloud.as_service()
    aggregate = services.nova.aggregate(reservation.id)
    assert aggregate.zone is None
    assert aggregate.hosts == ('small-0',)
    assert aggregate.hosts == services.nova.aggregate('freepool').hosts
    assert aggregate.metadata == {
        'reservation': reservation.id, 'filter_tenant_id': 'demo', 'climate:owner': 'demo',
        'affinity_id': reservation.binding['server_group_id']}
    assert reservation.binding['aggregate_id'] == aggregate.id
    flavor = services.flavors.flavor(reservation.id, 'demo')
    own_class = 'CUSTOM_RESERVATION_' + reservation.id.upper().replace('-', '_')
    assert (flavor.name, flavor.vcpus, flavor.ram, flavor.disk) == (
        f'reservation:{reservation.id}', 2, 512, 1)
    assert flavor.extra_specs == {
        'aggregate_instance_extra_specs:reservation': reservation.id,
        f'resources:{own_class}': '1', 'affinity_id': aggregate.metadata['affinity_id']}
    left = manager.cloud.leftovers()
    [group] = left['server_groups']
    assert group[1:] == (f'reservation:{reservation.id}', 'affinity', 'demo')
    [(child, inventory)] = left['inventories']
    assert child == 'climate_small-0'
    assert json.loads(inventory)[own_class]['total'] == 3


@pytest.mark.parametrize(('affinity', 'expected'), [
    (True, [4]), (False, [1, 1, 1, 1]), (None, [4])])
def test_affinity_says_how_instances_lie(manager, enrol_hosts, affinity, expected):
    enrol_hosts(4)
    assert spread(manager.active(sized(4, affinity=affinity))) == expected


def test_affinity_needs_one_host_with_capacity_for_all_instances(manager, enrol_hosts):
    enrol_hosts(3)
    with pytest.raises(errors.NotEnough):
        manager.book(sized(9, affinity=True))
    assert spread(manager.book(sized(9))) == [8, 1]


def test_anti_affinity_needs_one_host_for_each_instance(manager, enrol_hosts):
    enrol_hosts(2)
    with pytest.raises(errors.NotEnough, match=r'3 servers .* only 2 fit'):
        manager.book(sized(3, affinity=False))


def test_a1_every_slot_counts(manager, enrol_hosts):
    enrol_hosts(1)
    manager.book(sized(2, vcpus=2))
    manager.book(sized(2, vcpus=2))
    with pytest.raises(errors.NotEnough):
        manager.book(sized(1, vcpus=1))


def test_a8_only_the_slots_on_a_host_count_there(manager, enrol_hosts):
    enrol_hosts(4)
    manager.cloud.add_flavor('two', 'two', vcpus=2)
    manager.book(flavored('two', 4, affinity=False))
    manager.book(flavored('two', 12))
    with pytest.raises(errors.NotEnough):
        manager.book(flavored('two', 1))


@pytest.mark.parametrize('first', [sized(8), builders.hosts(1)], ids=['slots', 'whole'])
@pytest.mark.parametrize('second', [sized(8), builders.hosts(1)], ids=['slots', 'whole'])
@pytest.mark.usefixtures('as_before')
def test_a9_leases_that_touch_follow_one_another_on_the_same_host(
        manager, enrol_hosts, first, second):
    enrol_hosts(1)
    before = manager.book(first)
    after = manager.book(second, start=NOON + HOUR, end=NOON + 2 * HOUR)
    manager.run()
    [reservation] = before.reservations
    if first.resource_type == 'virtual:instance':
        manager.cloud.boot('demo', 'one', flavor=reservation.id)
    else:
        manager.cloud.boot('demo', 'one', {'reservation': reservation.id})
    manager.expect(before, lifecycle.TERMINATED, NOON + HOUR + builders.minutes(1))
    assert manager.lease(after).state == lifecycle.ACTIVE
    assert manager.cloud.servers() == []


@pytest.mark.parametrize('first, second', [
    (sized(1), builders.hosts(1)), (builders.hosts(1), sized(1)),
    (flavored(), builders.hosts(1)), (builders.hosts(1), flavored())])
def test_whole_hosts_and_slots_exclude_each_other(manager, enrol_hosts, first, second):
    enrol_hosts(1)
    manager.book(first, end=NOON + 2 * HOUR)
    with pytest.raises(errors.NotEnough):
        manager.book(second, start=NOON + HOUR, end=NOON + 3 * HOUR)


@pytest.mark.usefixtures('as_before')
def test_sizes_and_flavors_share_a_host(manager, enrol_hosts):
    enrol_hosts(1)
    both = [manager.active(sized(2)), manager.active(flavored(amount=2)),
            manager.active(sized(1), flavored(amount=1))]
    for lease in both:
        for reservation in lease.reservations:
            assert manager.cloud.boot('demo', 'x', flavor=reservation.id).host == 'small-0'


def test_a_start_of_slots_waits_while_another_holds_the_host_whole(manager, enrol_hosts, conf):
    conf.set_override('delete_seconds', 30, group='simulated')
    manager = builders.Manager(conf, manager.database, manager.clock)
    manager.cloud.add_host('only', vcpus=2)
    manager.client.create_resource(builders.an_admin(), 'host', 'only', {})
    whole = manager.active()
    manager.cloud.boot('demo', 'one', {'reservation': whole.reservations[0].id})
    slots = manager.book(sized(1), start=NOON + HOUR, end=NOON + 2 * HOUR)
    manager.expect(slots, lifecycle.PENDING, NOON + HOUR + builders.minutes(0.2))
    manager.expect(slots, lifecycle.ACTIVE, NOON + HOUR + builders.minutes(2))


def test_capacity_is_what_placement_lets_nova_use(manager, enrol_hosts):
    enrol_hosts(1, vcpus=2, memory_mb=4096)
    # (4096 - 512 reserved) MB, and 2 VCPU times 4.
    with pytest.raises(errors.NotEnough):
        manager.book(sized(4, memory_mb=1024))
    manager.book(sized(3, memory_mb=1024))


def test_an_instance_is_no_larger_than_placement_allows(manager, enrol_hosts):
    enrol_hosts(1, vcpus=2)
    with pytest.raises(errors.NotEnough, match='0 with capacity for one when empty'):
        manager.book(sized(1, vcpus=3))


def test_criteria_pick_the_hosts(manager, enrol_hosts):
    enrol_hosts(2)
    lease = manager.book(sized(2, resource_properties='["==", "$hypervisor_hostname", "small-1"]'))
    [host] = set(lease.reservations[0].resource_ids)
    assert manager.client.get_resource(builders.an_admin(), 'host', host).name == 'small-1'


def test_the_traits_and_resources_of_a_flavor_count(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_host('fast', vcpus=2, traits=['HW_CPU_X86_AVX2'])
    fast = manager.client.create_resource(builders.an_admin(), 'host', 'fast', {})
    manager.cloud.add_flavor('fast', 'fast', extra_specs={
        'trait:HW_CPU_X86_AVX2': 'required', 'resources:VCPU': '2', 'hw:mem_page_size': 'any'})
    manager.cloud.add_flavor('slow', 'slow', extra_specs={'trait:HW_CPU_X86_AVX2': 'forbidden'})
    manager.cloud.add_flavor('pinned', 'pinned', extra_specs={'hw:cpu_policy': 'dedicated'})
    manager.cloud.add_flavor('metal', 'metal', extra_specs={
        'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0',
        'resources:CUSTOM_METAL': '1'})
    lease = manager.active(flavored('fast', 4), flavored('slow', 1))
    assert set(lease.reservations[0].resource_ids) == {fast.id}
    assert fast.id not in lease.reservations[1].resource_ids
    copy = manager.cloud.as_service().flavors.flavor(lease.reservations[0].id, 'demo')
    assert copy.extra_specs['hw:mem_page_size'] == 'any'
    for flavor_id in ('fast', 'pinned', 'metal'):
        with pytest.raises(errors.NotEnough):
            manager.book(flavored(flavor_id))


@pytest.mark.parametrize('specs', [
    {'resources1:VCPU': '1'}, {'trait_a:X': 'required'}, {'hw:cpu_policy': 'mixed'},
    {'resources:VCPU': 'many'}, {'trait:X': 'perhaps'},
    {'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0'}], ids=str)
def test_a_flavor_that_the_database_cannot_keep_is_refused(manager, enrol_hosts, specs):
    enrol_hosts(1)
    manager.cloud.add_flavor('odd', 'odd', extra_specs=specs)
    with pytest.raises(errors.BadRequest):
        manager.book(flavored('odd'))


def test_a_flavor_of_others_is_as_unknown_as_none(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_flavor('theirs', 'theirs', public=False)
    for flavor_id in ('theirs', 'none'):
        with pytest.raises(errors.BadField, match=f'flavor_id: there is no flavor "{flavor_id}"'):
            manager.book(flavored(flavor_id))
    manager.cloud.as_service().flavors.allow('theirs', 'demo')
    manager.book(flavored('theirs'))


def test_a_flavor_is_named_by_its_name_too(manager, enrol_hosts):
    enrol_hosts(1)
    lease = manager.book(flavored('m1.small'), start=NOON + HOUR, end=NOON + 2 * HOUR)
    request = manager.lease(lease).reservations[0].request
    assert (request['flavor_id'], json.loads(request['resource_properties'])['id']) == ('2', '2')
    # The name of the leased flavor changes nothing; another name is another flavor.
    change(manager, lease, amount=2, flavor_id='m1.small')
    change(manager, lease, flavor_id='m1.tiny')
    assert manager.lease(lease).reservations[0].request['flavor_id'] == '1'


def test_an_id_comes_before_a_name(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_flavor('9', '2')
    lease = manager.book(flavored('2'))
    assert 'm1.small' in lease.reservations[0].request['resource_properties']


def test_a_name_of_several_flavors_is_refused_with_their_ids(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_flavor('a1', 'große Flavor')
    manager.cloud.add_flavor('a2', 'große Flavor')
    manager.cloud.add_flavor('a3', 'große Flavor', public=False)
    with pytest.raises(errors.BadField, match=r'flavor_id: several.*"große Flavor".*a1 or a2'):
        manager.book(flavored('große Flavor'))


def test_a_name_of_a_flavor_of_others_is_as_unknown_as_none(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_flavor('f1', 'theirs', public=False)
    with pytest.raises(errors.BadField, match='flavor_id: there is no flavor "theirs"'):
        manager.book(flavored('theirs'))
    manager.cloud.as_service().flavors.allow('f1', 'demo')
    manager.book(flavored('theirs'))


@pytest.mark.parametrize('request_of', [sized, flavored])
@pytest.mark.usefixtures('as_before')
def test_a_running_reservation_grows_and_shrinks(manager, enrol_hosts, request_of):
    enrol_hosts(2)
    lease = manager.active(request_of(amount=6))
    [reservation] = lease.reservations
    change(manager, lease, amount=10)
    assert spread(manager.lease(lease)) == [8, 2]
    booted = [manager.cloud.boot('demo', str(place), flavor=reservation.id)
              for place in range(10)]
    with pytest.raises(errors.Conflict, match='No valid host'):
        manager.cloud.boot('demo', 'eleventh', flavor=reservation.id)
    change(manager, lease, amount=5)
    manager.run_until(manager.clock() + builders.minutes(1))
    lease = manager.lease(lease)
    assert (lease.state, spread(lease)) == (lifecycle.ACTIVE, [5])
    left = manager.cloud.servers()
    assert len(left) == 5
    of_host = [server.id for server in booted if server.host == left[0].host]
    assert [server.id for server in left] == of_host[:5]
    assert len(manager.cloud.leftovers()['inventories']) == 1


@pytest.mark.parametrize('request_of', [sized, flavored])
def test_a_change_that_has_no_room_leaves_all_as_it_was(manager, enrol_hosts, request_of):
    enrol_hosts(1)
    lease = manager.active(request_of(amount=2))
    with pytest.raises(errors.NotEnough):
        change(manager, lease, amount=90)
    assert spread(manager.lease(lease)) == [2]
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_sizes_and_affinity_change_before_the_start_and_not_after(manager, enrol_hosts):
    enrol_hosts(2)
    later = {'start': NOON + HOUR, 'end': NOON + 2 * HOUR}
    lease = manager.book(sized(2), **later)
    change(manager, lease, vcpus=2, affinity=False)
    manager.run_until(NOON + HOUR)
    lease = manager.lease(lease)
    [reservation] = lease.reservations
    assert spread(lease) == [1, 1]
    flavor = manager.cloud.as_service().flavors.flavor(reservation.id, 'demo')
    assert flavor.vcpus == 2
    for refused in ({'vcpus': 1}, {'affinity': None}, {'memory_mb': 1, 'amount': 3},
                    {'resource_properties': '[">=", "$vcpus", "1"]'}):
        with pytest.raises(errors.Conflict, match='another lease'):
            change(manager, lease, **refused)
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_lease_is_prolonged_with_its_slots_where_they_are(manager, enrol_hosts):
    enrol_hosts(2)
    lease = manager.active(sized(10))
    had = manager.lease(lease).reservations[0].resource_ids
    manager.change(lease, end=NOON + 3 * HOUR)
    assert manager.lease(lease).reservations[0].resource_ids == had
    with pytest.raises(errors.NotEnough):
        manager.book(sized(7), start=NOON + 2 * HOUR, end=NOON + 3 * HOUR)


def test_a_leased_flavor_keeps_its_sizes_when_the_flavor_changes(manager, enrol_hosts):
    enrol_hosts(1)
    manager.cloud.add_flavor('f', 'f', vcpus=1)
    lease = manager.book(flavored('f', 2), start=NOON + HOUR, end=NOON + 2 * HOUR)
    manager.cloud.as_service().flavors.delete('f')
    change(manager, lease, amount=3)
    # A client may send back the id that it was shown.
    change(manager, lease, amount=4, flavor_id=lease.reservations[0].id)
    change(manager, lease, flavor_id='2')
    assert json.loads(manager.lease(lease).reservations[0].request['resource_properties'])[
        'name'] == 'm1.small'
    with pytest.raises(errors.BadField, match='flavor_id'):
        change(manager, lease, flavor_id='f')


def test_an_extra_spec_in_a_request_is_never_given(manager, enrol_hosts):
    enrol_hosts(1)
    forged = json.dumps({'id': '2', 'vcpus': 0, 'extra_specs': {'hw:cpu_policy': 'dedicated'}})
    lease = manager.book(records.ReservationRequest('flavor:instance', {
        'flavor_id': '2', 'amount': 1, 'resource_properties': forged}))
    assert 'm1.small' in lease.reservations[0].request['resource_properties']


def test_a_start_that_fails_half_way_still_ends_cleanly(manager, enrol_hosts, as_before):
    enrol_hosts(1)
    manager.cloud.fail('nova.allow_flavor', 99, errors.CloudError(service='Nova', reason='no'))
    lease = manager.book(sized(1, affinity=True))
    manager.expect(lease, lifecycle.ERROR, NOON + builders.minutes(10))
    manager.cloud.fail('nova.allow_flavor', 0, None)


def test_b_reservations_of_one_lease_share_out_hosts_so_that_all_are_served(manager):
    gpu, _ = manager.enrol(2)
    manager.client.update_resource(builders.an_admin(), 'host', gpu.id, {'gpu': 'A100'})
    lease = manager.book(
        builders.hosts(1, 2), sized(4, resource_properties='["==", "$gpu", "A100"]'))
    assert set(lease.reservations[1].resource_ids) == {gpu.id}
    assert gpu.id not in lease.reservations[0].resource_ids


def test_b_large_instances_find_room_beside_small_ones_of_the_same_lease(manager, enrol_hosts):
    enrol_hosts(2)
    lease = manager.book(sized(4, vcpus=1, affinity=None), sized(1, vcpus=1),
                         sized(8, vcpus=1, affinity=True))
    assert [spread(lease, place) for place in range(3)] == [[4], [1], [8]]
