# SPDX-License-Identifier: Apache-2.0
"""One lease with hosts, addresses, a volume and a stack that uses all of them."""
import dataclasses
import re

import pytest
import stacks
from support import builders

from climate import errors
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records
from climate.plugins import registry

NOON = builders.NOON
LATER = NOON + builders.hours(2)
END = LATER + builders.hours(2)
TYPES = ['physical:host', 'virtual:floatingip', 'virtual:volume', 'virtual:stack']


@pytest.fixture
def manager(conf, database, clock):
    """A manager with two hosts, three addresses and a back end."""
    classes = registry.load(TYPES)
    registry.register_options(conf, classes)
    conf.set_override('plugins', TYPES)
    conf.set_override('stack_seconds', 20, group='simulated')
    found = builders.Manager(conf, database, clock, classes=classes)
    found.enrol(2)
    found.client.create_resources(builders.an_admin(), 'address', '172.24.4.210-172.24.4.212', {},
                                  {'network_id': neutron.PUBLIC})
    found.client.create_resource(builders.an_admin(), 'backend', 'storage@ssd#ssd', {})
    return found


@pytest.fixture
def as_before(manager):
    """Afterwards the cloud has nothing that it did not have before, but an image of the owner."""
    before = manager.cloud.leftovers()
    yield
    manager.run_until(manager.clock() + builders.hours(24))
    after = manager.cloud.leftovers()
    assert {key: rows for key, rows in after.items() if key != 'images'} == {
        key: rows for key, rows in before.items() if key != 'images'}
    assert manager.cloud.stacks() == []
    assert manager.cloud.as_service().keystone.trusts() == []


def course(count=2, **changed):
    """The reservations of a course: its stack stands first, and starts last."""
    string = {'type': 'string', 'default': 'known at the start'}
    template = stacks.template(
        {'hints': {'type': 'json', 'default': {}}, 'address': string, 'data': string},
        vm=stacks.server(flavor='2', scheduler_hints={'get_param': 'hints'}),
        ip={'type': 'OS::Neutron::FloatingIPAssociation', 'properties': {
            'floatingip_id': {'get_param': 'address'}, 'port_id': 'that of the server'}},
        disk={'type': 'OS::Cinder::VolumeAttachment', 'properties': {
            'volume_id': {'get_param': 'data'}, 'instance_uuid': {'get_resource': 'vm'}}})
    return (
        records.ReservationRequest('virtual:stack', {
            'template': template, 'hint_parameter': 'hints', 'lease_parameters': {
                'address': 'addresses.floating_ips.0.id', 'data': 'data.volume_ids.0'}, **changed},
            depends_on=('metal', 'addresses', 'data')),
        records.ReservationRequest('virtual:floatingip', {
            'network_id': neutron.PUBLIC, 'amount': count}, label='addresses'),
        records.ReservationRequest('virtual:volume', {
            'size_gb': 10, 'on_end': 'image'}, label='data'),
        records.ReservationRequest('physical:host', builders.hosts(1).request, label='metal'))


def leased(manager, *reservations):
    return manager.book(*(reservations or course()), start=LATER, end=END)


def of(manager, lease, label):
    [found] = [each for each in manager.lease(lease).reservations if each.label == label]
    return found


@pytest.mark.usefixtures('as_before')
@pytest.mark.parametrize(('made', 'words'), [
    ({'type': 'OS::Blazar::Lease'}, 'makes a lease itself'),
    (stacks.server(flavor='1'), 'no capacity is reserved for them')])
def test_a_stack_that_is_another_one_with_what_its_lease_has_is_not_created(manager, made, words):
    template = stacks.template(
        {'many': {'type': 'number', 'default': 0}},
        group={'type': 'OS::Heat::ResourceGroup', 'properties': {
            'count': {'get_param': 'many'}, 'resource_def': made}})
    asked = dataclasses.replace(
        stacks.asked(template, lease_parameters={'many': 'ips.amount'}), depends_on=('ips',))
    lease = leased(manager, asked,
                   records.ReservationRequest('virtual:floatingip', {
                       'network_id': neutron.PUBLIC, 'amount': 1}, label='ips'))
    manager.run_until(LATER + builders.hours(1))
    assert manager.cloud.stacks() == []
    assert words in stacks.told(manager, lease)


@pytest.mark.usefixtures('as_before')
def test_the_stack_uses_what_its_lease_has_and_ends_before_it(manager):
    lease = leased(manager)
    lease = manager.expect(lease, lifecycle.ACTIVE, LATER + builders.minutes(2))
    [server] = manager.cloud.servers()
    metal = of(manager, lease, 'metal')
    assert server.host in manager.cloud.as_service().nova.aggregate(metal.id).hosts
    addresses = manager.cloud.network.floating_ips()
    assert [bool(each.port_id) for each in addresses] == [True, False]
    [volume] = manager.cloud.as_service().volumes.every()
    assert (volume.status, volume.server_ids) == ('in-use', (server.id,))

    manager.run_until(END)
    [stack] = manager.cloud.stacks()
    assert stack.status == 'DELETE_IN_PROGRESS'
    # What it depends on is there until it is gone.
    assert len(manager.cloud.network.floating_ips()) == 2
    assert len(manager.cloud.as_service().volumes.every()) == 1
    manager.expect(lease, lifecycle.TERMINATED, END + builders.minutes(10))
    assert [(each['project_id'], each['status']) for each in manager.cloud.images()] == [
        ('demo', 'active')]


@pytest.mark.usefixtures('as_before')
@pytest.mark.parametrize('refused', ['heat.create', 'neutron.create_floating_ip',
                                     'cinder.create_type'])
def test_if_one_cannot_start_the_others_are_taken_back(manager, refused):
    lease = leased(manager)
    manager.cloud.fail(refused, 1000, errors.CloudError(service='The service', reason='no.'))
    manager.expect(lease, lifecycle.TERMINATED, END - builders.minutes(30))
    assert 'So the reservations that had started were ended' in stacks.told(manager, lease)
    again = manager.book(builders.hosts(2), end=END)
    assert len(again.reservations[0].resource_ids) == 2
    manager.delete(again)
    manager.run()
    assert manager.cloud.network.floating_ips() == []
    assert manager.cloud.as_service().volumes.every() == []
    assert manager.cloud.stacks() == []


@pytest.mark.usefixtures('as_before')
def test_a_prolongation_covers_all_reservations_or_none(manager):
    lease = leased(manager)
    manager.run_until(LATER + builders.minutes(2))
    late = manager.book(records.ReservationRequest('virtual:floatingip', {
        'network_id': neutron.PUBLIC, 'amount': 3}), start=END, end=END + builders.hours(1))
    with pytest.raises(errors.ClimateError):
        manager.change(lease, end=END + builders.hours(1))
    assert manager.lease(lease).end == END
    manager.delete(late)
    manager.change(lease, end=END + builders.hours(1))
    manager.run_until(END + builders.minutes(1))
    assert [each.status for each in manager.cloud.stacks()] == ['CREATE_COMPLETE']
    assert len(manager.cloud.network.floating_ips()) == 2


@pytest.mark.parametrize(('said', 'words'), [
    ('addresses.ids', 'names "ids", which does not exist; there are: .*floating_ips'),
    ('addresses.floating_ips.7.id', 'names "7", which does not exist; there are: 0, 1'),
    ('data.volume_ids.0.name', 'names "name", which does not exist; there are: none')])
def test_a_field_that_no_reservation_has_is_explained(manager, said, words):
    lease = leased(manager, *course(lease_parameters={'address': said, 'data': 'data.id'}))
    manager.run_until(LATER + builders.minutes(1))
    told = stacks.told(manager, lease)
    assert 'lease_parameters' in told
    assert re.search(words, told)


@pytest.mark.parametrize('said', ['metal', 'metal.', 'nobody.id', '.id'])
def test_a_label_that_the_stack_does_not_depend_on_is_refused(manager, said):
    with pytest.raises(errors.BadField) as refused:
        leased(manager, *course(lease_parameters={'data': said}))
    assert 'lease_parameters' in refused.value.details['field']


def test_the_lease_says_that_objects_of_the_template_are_not_held(manager):
    template = stacks.template(
        ip={'type': 'OS::Neutron::FloatingIP', 'properties': {'floating_network': 'public'}},
        disk={'type': 'OS::Cinder::Volume', 'properties': {'size': 10}})
    lease = manager.book(stacks.asked(template))
    [reservation] = lease.reservations
    assert 'floating IP "ip", volume "disk"' in reservation.request['not_held']
    assert reservation.request['uses'] == {
        'Neutron': {'floatingip': 1}, 'Cinder': {'volumes': 1, 'gigabytes': 10}}
    manager.run_until(NOON + builders.minutes(1))
    assert [each.address for each in manager.cloud.network.floating_ips()] == ['172.24.4.10']
    manager.run_until(NOON + builders.hours(2))
    assert manager.cloud.network.floating_ips() == []


@pytest.mark.parametrize(('resource', 'quota'), [
    ({'type': 'OS::Cinder::Volume', 'properties': {'size': 2000}}, 'gigabytes'),
    ({'type': 'OS::Heat::ResourceGroup', 'properties': {'count': 11, 'resource_def': {
        'type': 'OS::Cinder::Volume', 'properties': {'size': 1}}}}, 'volumes')])
def test_the_quotas_of_volumes_are_checked_early(manager, resource, quota):
    with pytest.raises(errors.LimitReached, match=f'quota "{quota}" in Cinder'):
        manager.book(stacks.asked(stacks.template(some=resource)))
