# SPDX-License-Identifier: Apache-2.0
"""An export to Blazar of leases and resources that Climate created."""
import json

import floating_scene
import pytest
from support import blazar_leases
from support import builders
from support import crashing

from climate.db.blazar import conversion
from climate.db.blazar import source

#: The statuses of reservations, of the start and of the end that Blazar accepts for a lease.
ACCEPTED = {'PENDING': ({'pending'}, 'UNDONE', 'UNDONE'), 'ACTIVE': ({'active'}, 'DONE', 'UNDONE'),
            'TERMINATED': ({'deleted'}, 'DONE', 'DONE')}


@pytest.fixture(autouse=True)
def moved(blazar_gone):
    """Climate has taken the place of Blazar."""


def in_cloud(manager, key):
    """The aggregate of a reservation in the cloud."""
    return manager.cloud.as_service().nova.aggregate(key)


def flavor_in_cloud(manager, key):
    """The private flavor of a reservation, which its project cannot use before the start."""
    flavors = manager.cloud.as_service().flavors
    assert flavors.flavor(key, 'demo') is None
    return next(flavor for flavor in flavors.every() if flavor.id == key)


def check_statuses(blazar):
    """Check that Blazar accepts the statuses of all leases."""
    for row in blazar.rows('leases'):
        rows = blazar.of_lease(row['id'])
        events = {event['event_type']: event['status'] for event in rows['events']}
        assert ({each['status'] for each in rows['reservations']}, events['start_lease'],
                events['end_lease']) == ACCEPTED[row['status']]


def test_a_future_lease_of_hosts_has_its_aggregate_when_blazar_starts_it(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(1, 2, '[">=", "$vcpus", 4]')))
    export()
    rows = blazar.of_lease(booked.id)
    [reservation], [details] = rows['reservations'], rows['computehost_reservations']
    assert (details['count_range'], details['resource_properties'], details['before_end']) == (
        '1-2', '[">=", "$vcpus", "4"]', 'default')
    aggregate = in_cloud(manager, reservation['id'])
    assert (aggregate.id, aggregate.hosts) == (details['aggregate_id'], ())
    assert aggregate.metadata['blazar:owner'] == 'demo'
    assert aggregate.zone == f'blazar_{reservation["id"]}'
    assert reservation['resource_id'] == details['id']
    assert len(rows['computehost_allocations']) == 2
    assert rows['leases'][0]['trust_id'] == booked.trust_id
    check_statuses(blazar)


@pytest.mark.parametrize('affinity', [None, False])
def test_a_future_lease_of_instances_has_its_flavor_when_blazar_starts_it(
        blazar, manager, export, affinity):
    booked = manager.create(blazar_leases.later(builders.instances(2, affinity)))
    export()
    [details] = blazar.of_lease(booked.id)['instance_reservations']
    key = details['reservation_id']
    flavor = flavor_in_cloud(manager, key)
    assert (details['flavor_id'], flavor.name, flavor.vcpus) == (key, f'reservation:{key}', 1)
    aggregate = in_cloud(manager, key)
    assert (details['aggregate_id'], aggregate.metadata['filter_tenant_id']) == (
        aggregate.id, 'demo')
    assert aggregate.metadata.get('affinity_id') == details['server_group_id']
    assert (details['server_group_id'] is None) == (affinity is None)
    assert len(blazar.of_lease(booked.id)['computehost_allocations']) == 2


def test_a_lease_of_a_flavor_keeps_the_whole_flavor(blazar, manager, export):
    manager.cloud.add_flavor('f1', 'small', vcpus=1, ram=512, disk=2, ephemeral=3)
    booked = manager.create(blazar_leases.later(builders.flavor_instances(2, flavor_id='f1')))
    export()
    [details] = blazar.of_lease(booked.id)['instance_reservations']
    flavor = json.loads(details['resource_properties'])
    assert (flavor['id'], flavor['name'], flavor['vcpus'], flavor['ram'], flavor['disk'],
            flavor['OS-FLV-EXT-DATA:ephemeral'], flavor['extra_specs']) == (
                'f1', 'small', 1, 512, 2, 3, {})


def test_running_leases_are_exported_with_their_objects(blazar, manager, export):
    now = manager.clock()
    started = [manager.create(builders.a_lease(each, end=now + builders.hours(2)))
               for each in (builders.hosts(1), builders.instances(2))]
    manager.run()
    export()
    for booked, table in zip(started, ('computehost_reservations', 'instance_reservations'),
                             strict=True):
        rows = blazar.of_lease(booked.id)
        [details] = rows[table]
        assert rows['leases'][0]['status'] == 'ACTIVE'
        assert in_cloud(manager, details['reservation_id']).id == details['aggregate_id']
    check_statuses(blazar)


def test_addresses_that_are_new_are_enrolled_in_blazar(blazar, manager, export):
    floating_scene.enrol_one(manager, '172.24.4.230')
    booked = manager.create(blazar_leases.later(floating_scene.addresses(1, ['172.24.4.230'])))
    export()
    rows = blazar.of_lease(booked.id)
    [details], [allocation] = rows['floatingip_reservations'], rows['floatingip_allocations']
    [address] = [row for row in blazar.rows('floatingips')
                 if row['id'] == allocation['floatingip_id']]
    assert (address['floating_ip_address'], address['reservable']) == ('172.24.4.230', 1)
    assert details['amount'] == 1
    assert [(row['address'], row['floatingip_reservation_id'])
            for row in blazar.rows('required_floatingips')] == [('172.24.4.230', details['id'])]


def test_a_new_host_is_enrolled_in_blazar_with_its_properties(blazar, manager, export):
    manager.cloud.add_host('compute9', vcpus=8, memory_mb=1024, disk_gb=50, traits=['HW_GPU'])
    resource = manager.client.create_resource(
        builders.an_admin(), 'host', 'compute9', {'rack': 'r09', 'colour': 'red'})
    export()
    [host] = [row for row in blazar.rows('computehosts')
              if row['hypervisor_hostname'] == 'compute9']
    assert (host['id'], host['vcpus'], host['memory_mb'], host['local_gb']) == (
        str(resource.id), 8, 1024, 50)
    assert host['trust_id'] in {row['trust_id'] for row in blazar.rows('computehosts')
                                if row['id'] != host['id']}
    names = {row['id']: row['property_name'] for row in blazar.rows('resource_properties')}
    assert {names[row['property_id']]: row['capability_value']
            for row in blazar.rows('computehost_extra_capabilities')
            if row['computehost_id'] == host['id']} == {'rack': 'r09', 'colour': 'red'}
    assert 'HW_GPU' in [row['trait'] for row in blazar.rows('computehost_trait')
                        if row['computehost_id'] == host['id']]


def test_a_start_with_seconds_gets_whole_minutes(blazar, manager, export):
    start = blazar_leases.LATER + builders.seconds(42)
    booked = manager.create(blazar_leases.later(builders.hosts(1), start=start))
    export()
    rows = blazar.of_lease(booked.id)
    assert rows['leases'][0]['start_date'][:19] == '2026-12-10 12:00:00'
    assert {row['time'][:19] for row in rows['events']} == {
        '2026-12-10 12:00:00', '2026-12-10 13:00:00', '2026-12-10 14:00:00'}


def test_a_second_export_changes_nothing_and_a_third_follows_a_change(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(1), builders.instances(1)))
    export()
    before = blazar.of_lease(booked.id)
    assert export()[1] == []
    manager.change(booked, name='renamed')
    _, changes = export()
    assert [(change.table, change.id, change.values['name']) for change in changes] == [
        ('leases', booked.id, 'renamed')]
    assert {**blazar.of_lease(booked.id), 'leases': []} == {**before, 'leases': []}


@pytest.mark.proof
def test_an_export_that_was_killed_is_completed_by_the_next(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(1), builders.instances(2, False)))
    before = {name: blazar.rows(name) for name in blazar.tables}
    points = 0
    while crashing.dies_at(manager.cloud, points + 1, export):
        assert {name: blazar.rows(name) for name in blazar.tables} == before
        points += 1
        if points == 5:
            with pytest.raises(crashing.Crash):
                export(before_commit=crashing.Points(1).reach)
    assert points > 10
    after = blazar.of_lease(booked.id)
    assert len(after['computehost_allocations']) == 3
    assert export()[1] == [] and blazar.of_lease(booked.id) == after
    names = [aggregate.name for aggregate in manager.cloud.as_service().nova.aggregates()]
    assert len(names) == len(set(names))


def test_a_changed_reservation_is_written_with_its_new_resources(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.instances(1)))
    export()
    manager.change_reservation(manager.lease(booked), amount=3, vcpus=2)
    export()
    rows = blazar.of_lease(booked.id)
    [details] = rows['instance_reservations']
    assert (details['amount'], details['vcpus']) == (3, 2)
    assert len(rows['computehost_allocations']) == 3
    assert flavor_in_cloud(manager, details['reservation_id']).vcpus == 2


def test_a_lease_that_began_and_ended_in_climate_is_exported_as_terminated(
        blazar, manager, export):
    now = manager.clock()
    booked = manager.create(builders.a_lease(builders.hosts(1), end=now + builders.hours(1)))
    manager.run_until(now + builders.hours(1.1))
    export()
    rows = blazar.of_lease(booked.id)
    assert rows['leases'][0]['status'] == 'TERMINATED'
    assert 'computehost_allocations' not in rows
    check_statuses(blazar)


def test_another_import_reads_the_leases_that_climate_had(blazar, manager, export):
    manager.cloud.add_flavor('f1', 'small', vcpus=1, ram=512, disk=2)
    now = manager.clock()
    booked = [manager.create(request) for request in (
        blazar_leases.later(builders.hosts(1, 2, '["==", "$rack", "r01"]', before_end='snapshot')),
        blazar_leases.later(builders.instances(2, False), builders.flavor_instances(
            1, flavor_id='f1')),
        builders.a_lease(builders.instances(3, vcpus=2), end=now + builders.hours(2)))]
    manager.run()
    export()
    converted = conversion.convert(
        source.read(blazar.url), manager.core.registry, manager.clock())
    found = {each.lease.id: each for each in converted.leases}
    for lease in map(manager.lease, booked):
        read = found[lease.id]
        assert facts(read.lease) == facts(lease)
        assert sum(each.copies for each in read.allocations) == sum(
            len(each.resource_ids) for each in lease.reservations)


def facts(lease):
    """The facts of a lease that an export and an import keep."""
    return (lease.name, lease.project_id, lease.user_id, lease.start, lease.end, lease.before_end,
            lease.trust_id, lease.state, sorted(
                (each.id, each.resource_type, each.state, sorted(
                    (name, str(value)) for name, value in each.request.items()
                    if value not in (None, '')))
                for each in lease.reservations))


def test_changes_of_hosts_are_written(blazar, manager, export):
    admin = builders.an_admin()
    [host] = [each for each in manager.client.list_resources(admin, 'host')
              if each.name == 'compute1']
    manager.client.update_resource(admin, 'host', host.id, {'rack': 'r77', 'gpu': None}, False)
    export()
    names = {row['id']: row['property_name'] for row in blazar.rows('resource_properties')}
    [row] = [row for row in blazar.rows('computehosts') if row['id'] == str(host.id)]
    assert row['reservable'] == 0
    assert {names[value['property_id']]: value['capability_value']
            for value in blazar.rows('computehost_extra_capabilities')
            if value['computehost_id'] == row['id']} == {'rack': 'r77'}


def test_a_lease_with_reservations_of_two_types_is_exported_whole(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(1), builders.instances(1)))
    export()
    assert {row['resource_type'] for row in blazar.of_lease(booked.id)['reservations']} == {
        'physical:host', 'virtual:instance'}
