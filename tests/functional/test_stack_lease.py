# SPDX-License-Identifier: Apache-2.0
"""Leases of stacks that are created at their start, on the simulated cloud."""
import pytest
import stacks
from support import builders

from climate import errors
from climate.domain import lifecycle

pytestmark = pytest.mark.usefixtures('rare_polls')

NOON = builders.NOON
LATER = NOON + builders.hours(2)


def only(lease):
    [reservation] = lease.reservations
    return reservation


def run_for(manager, seconds):
    manager.run_until(manager.clock() + builders.seconds(seconds))


@pytest.fixture
def slow(conf):
    conf.set_override('stack_seconds', 30, group='simulated')


@pytest.mark.usefixtures('slow', 'as_before')
def test_a_stack_is_created_at_the_start_in_its_owners_project_and_deleted_at_the_end(manager):
    manager.enrol(4)
    lease = manager.book(stacks.with_room(2), start=LATER, end=LATER + builders.hours(1))
    assert lease.state == lifecycle.PENDING
    assert len(only(lease).resource_ids) == 2
    manager.run_until(LATER)
    name = f'climate-{only(lease).id}'
    assert stacks.now(manager) == {name: 'CREATE_IN_PROGRESS'}
    assert manager.lease(lease).task == 'start'
    run_for(manager, 60)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert stacks.now(manager) == {name: 'CREATE_COMPLETE'}
    [stack] = manager.cloud.stacks()
    assert (only(lease).binding['stack_id'], only(lease).binding['stack_name']) == (
        stack.id, name)
    aggregate = manager.cloud.as_service().nova.aggregate(only(lease).id)
    servers = manager.cloud.servers()
    assert {each.host for each in servers} <= set(aggregate.hosts)
    assert [each.project_id for each in servers] == ['demo', 'demo']
    manager.run_until(LATER + builders.hours(1))
    assert stacks.now(manager) == {name: 'DELETE_IN_PROGRESS'}
    run_for(manager, 60)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert f'The lease is over: {name} ({stack.id})' in stacks.told(manager, lease)


@pytest.mark.usefixtures('as_before')
def test_a_lease_with_a_stack_has_a_redelegable_trust_and_others_do_not(manager):
    redelegable = []
    create = manager.cloud.as_service().keystone.create_trust

    def noted(*args, **kwargs):
        redelegable.append(kwargs['redelegable'])
        return create(*args, **kwargs)
    manager.cloud.as_service().keystone.create_trust = noted
    manager.enrol(1)
    manager.active(builders.hosts(1, before_end='snapshot'))
    manager.active(stacks.asked())
    assert redelegable == [False, True]


@pytest.mark.usefixtures('slow', 'as_before')
def test_a_lease_has_as_many_stacks_as_it_asks_for(manager):
    lease = manager.book(stacks.asked(), stacks.asked(), stacks.asked())
    run_for(manager, 120)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert stacks.now(manager) == {
        f'climate-{each.id}': 'CREATE_COMPLETE' for each in lease.reservations}
    assert stacks.told(manager, lease).count('failed') == 0


@pytest.mark.usefixtures('as_before')
def test_the_trust_of_an_older_version_creates_the_first_stack(manager):
    lease = manager.book(stacks.asked(), start=LATER)
    with manager.cloud.state() as connection:
        connection.execute('UPDATE trusts SET redelegation_count = 1')
    manager.run_until(LATER)
    run_for(manager, 60)
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_stack_without_enough_room_is_refused(manager):
    manager.enrol(1)
    with pytest.raises(errors.NotEnough, match=r'servers of flavor m1\.small'):
        manager.book(stacks.with_room(200))
    assert manager.cloud.as_service().keystone.trusts() == []


def test_a_template_that_cannot_be_placed_on_reserved_hosts_is_refused(manager):
    bare = stacks.template(vm=stacks.server(flavor='m1.small'))
    with pytest.raises(errors.BadField, match='hold_room=preferred') as refused:
        manager.book(stacks.asked(bare))
    assert refused.value.details['field'] == 'flavor_parameter'


@pytest.mark.usefixtures('as_before')
def test_a_lease_that_holds_its_time_only_says_so(manager):
    bare = stacks.template(vm=stacks.server(flavor='m1.small'))
    lease = manager.active(stacks.asked(bare, hold_room='preferred'))
    assert only(lease).resource_ids == ()
    assert 'holds its time only' in lease.reason_text.owner
    assert 'holds its time only' in only(lease).request['time_only']


def test_servers_with_a_flavor_of_their_own_are_outside_of_the_room(manager):
    manager.enrol(2)
    mixed = stacks.placed(1, big=stacks.server(flavor='m1.large'))
    with pytest.raises(errors.BadField, match='servers big have another flavor'):
        manager.book(stacks.asked(mixed, flavor_parameter='size'))
    # The same flavor, but not from the parameter: only the start shows it.
    hidden = stacks.placed(1, sly=stacks.server(flavor='m1.small'))
    lease = manager.book(stacks.asked(hidden, flavor_parameter='size'))
    manager.run()
    assert 'servers sly of the template do not take their flavor' in stacks.told(manager, lease)
    assert manager.cloud.stacks() == []


@pytest.mark.usefixtures('as_before')
def test_servers_of_several_flavors_have_room_for_each(manager):
    manager.enrol(2)
    small, large = {'type': 'string', 'default': 'm1.small'}, {'type': 'string'}
    template = stacks.template(
        {'small': small, 'large': large}, a=stacks.server(flavor={'get_param': 'small'}),
        b=stacks.server(flavor={'get_param': 'small'}),
        c=stacks.server(flavor={'get_param': 'large'}))
    lease = manager.active(stacks.asked(template, parameters={'large': 'm1.large'},
                                        flavor_parameter=['small', 'large']))
    reservation = only(lease)
    assert {key: len(ids) for key, ids in reservation.allocated.items()} == {
        'hosts': 2, 'flavor2': 1}
    assert reservation.binding['flavor_ids'] == {
        'small': reservation.id, 'large': f'{reservation.id}-flavor2'}
    there = manager.cloud.as_service().flavors.servers
    assert [len(there(each)) for each in reservation.binding['flavor_ids'].values()] == [2, 1]


@pytest.mark.usefixtures('as_before')
def test_parameters_with_the_same_flavor_share_its_room(manager):
    manager.enrol(2)
    small = {'type': 'string', 'default': 'm1.small'}
    template = stacks.template({'one': small, 'two': small},
                               a=stacks.server(flavor={'get_param': 'one'}),
                               b=stacks.server(flavor={'get_param': 'two'}))
    lease = manager.active(stacks.asked(template, flavor_parameter=['one', 'two']))
    assert {key: len(ids) for key, ids in only(lease).allocated.items()} == {'hosts': 2}


@pytest.mark.usefixtures('as_before')
def test_a_stack_goes_onto_the_hosts_of_the_reservation_that_it_depends_on(manager):
    manager.enrol(2)
    template = stacks.template(
        {'hints': {'type': 'json'}, 'zone': {'type': 'string', 'default': ''}},
        vm=stacks.server(flavor='2', scheduler_hints={'get_param': 'hints'}))
    hosts = builders.hosts(1)
    hosts = type(hosts)(hosts.resource_type, hosts.request, label='metal')
    asked = stacks.asked(template, parameters={'hints': {}}, hint_parameter='hints',
                         zone_parameter='zone')
    asked = type(asked)(asked.resource_type, asked.request, depends_on=('metal',))
    lease = manager.active(hosts, asked)
    [metal] = [each for each in lease.reservations if each.label == 'metal']
    [server] = manager.cloud.servers()
    assert server.host in manager.cloud.as_service().nova.aggregate(metal.id).hosts
    assert server.hints == {'reservation': (metal.id,)}


def test_a_hint_without_hosts_to_depend_on_is_refused(manager):
    template = stacks.template({'hints': {'type': 'json', 'default': {}}}, vm=stacks.server(
        flavor='2', scheduler_hints={'get_param': 'hints'}))
    with pytest.raises(errors.BadField, match='depends on 0') as refused:
        manager.book(stacks.asked(template, hint_parameter='hints'))
    assert refused.value.details['field'] == 'hint_parameter'


@pytest.mark.parametrize('kind', ['OS::Blazar::Lease', 'OS::Blazar::Host'])
def test_a_template_that_makes_leases_itself_is_refused(manager, kind):
    nested = {'type': 'OS::Heat::ResourceGroup', 'properties': {'resource_def': {'type': kind}}}
    with pytest.raises(errors.BadField, match='makes a lease itself') as refused:
        manager.book(stacks.asked(stacks.template(inner=nested)))
    assert refused.value.details['field'] == 'template'


@pytest.mark.parametrize('environment', [
    {'resource_registry': {'OS::My::Thing': 'OS::Blazar::Lease'}},
    {'resource_registry': {'OS::My::*': 'OS::Blazar::*'}},
    {'resource_registry': {'resources': {'thing': {'OS::My::Thing': 'OS::Climate::Lease'}}}},
    'resource_registry: {"OS::My::Thing": "OS::Bl\\x61zar::Lease"}',
])
def test_an_environment_does_not_hide_that_a_template_makes_leases(manager, environment):
    template = stacks.template(thing={'type': 'OS::My::Thing'})
    with pytest.raises(errors.BadField, match=r'OS::(Blazar|Climate)::.* makes a lease') as refused:
        manager.book(stacks.asked(template, environment=environment))
    assert refused.value.details['field'] == 'environment'


def test_servers_by_another_name_need_room_too(manager):
    template = stacks.template({'size': {'type': 'string', 'default': 'm1.small'}},
                               vm={**stacks.server(), 'type': 'OS::My::Server'})
    environment = {'resource_registry': {'OS::My::Server': 'OS::My::Vm',
                                         'OS::My::Vm': 'OS::Nova::Server', 'OS::X::Y': 'x.yaml'}}
    with pytest.raises(errors.BadField, match='hold_room=preferred'):
        manager.book(stacks.asked(template, environment=environment))


def test_a_malformed_environment_is_refused(manager):
    with pytest.raises(errors.BadField, match='YAML') as refused:
        manager.book(stacks.asked(environment='a: ['))
    assert refused.value.details['field'] == 'environment'


@pytest.mark.parametrize(('request_of', 'field', 'words'), [
    ({'template': 'no template'}, 'template', 'Template format version not found'),
    ({'template': stacks.template(x={'type': 'Nonsense'})}, 'template', 'Resource Type'),
    ({'template': stacks.placed(), 'parameters': {'colour': 'red'}}, 'template', 'colour'),
    ({'template': stacks.placed(), 'parameters': {'size': 'm9.huge'}}, 'template', 'm9.huge'),
    ({'template': stacks.placed(), 'flavor_parameter': 'taste'}, 'flavor_parameter',
     'declares no parameter "taste"; it declares: size'),
    ({}, 'template', 'send resource_id'),
    ({'template': stacks.placed(), 'resource_id': 'x'}, 'template', 'one or the other'),
    ({'resource_id': '../detail'}, 'virtual:stack.resource_id', 'does not match'),
    ({'resource_id': 'detail'}, 'resource_id', 'no stack "detail"'),
    ({'template': stacks.placed(), 'flavor_parameter': 'size', 'on_end': 'leave'}, 'on_end',
     'can only be deleted'),
    ({'template': stacks.placed(), 'flavor_parameter': 'size', 'zone_parameter': 'size'},
     'lease_parameters', '"size" would be set twice'),
    ({'template': stacks.placed(), 'flavor_parameter': []}, 'virtual:stack.flavor_parameter',
     'non-empty|too short'),
    ({'template': stacks.placed(), 'zone_parameter': 'size'}, 'zone_parameter', 'depends on 0'),
    ({'template': stacks.placed(), 'lease_parameters': {'size': 'lab.network_id'}},
     'lease_parameters', 'depends on: none'),
])
def test_bad_input_names_the_field_and_the_way_out(manager, request_of, field, words):
    asked = type(stacks.asked())(stacks.TYPE, request_of)
    with pytest.raises(errors.BadField, match=words) as refused:
        manager.book(asked)
    assert refused.value.details['field'] == field


def test_a_full_quota_is_said_early_with_its_name(manager):
    manager.enrol(2)
    manager.cloud.set_quota('demo', 'cores', 1)
    for start in (None, LATER):
        with pytest.raises(errors.LimitReached, match='quota "cores"'):
            manager.book(stacks.with_room(2), start=start)


@pytest.mark.usefixtures('as_before')
def test_a_quota_that_is_full_at_the_start_is_explained(manager):
    manager.enrol(2)
    manager.cloud.set_quota('demo', 'instances', 2)
    lease = manager.book(stacks.with_room(2), start=LATER, end=LATER + builders.hours(1))
    other = manager.cloud.boot('demo', 'other', flavor='1')
    manager.run_until(LATER + builders.seconds(1))
    assert 'quota "instances"' in stacks.told(manager, lease)
    manager.cloud.delete_server(other.id)
    run_for(manager, 1800)
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.proof
@pytest.mark.usefixtures('slow', 'as_before')
def test_a_stack_that_could_not_be_created_is_deleted_and_created_again(manager):
    template = stacks.template(vm=stacks.server(flavor='2'))
    for name in manager.cloud.host_names():
        manager.cloud.mark_host(name, up=False)
    lease = manager.book(stacks.asked(template, hold_room='preferred'),
                         end=NOON + builders.hours(3))
    run_for(manager, 45)
    assert 'No valid host' in stacks.told(manager, lease)
    for name in manager.cloud.host_names():
        manager.cloud.mark_host(name, up=True)
    run_for(manager, 1800)
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert stacks.now(manager) == {f'climate-{only(lease).id}': 'CREATE_COMPLETE'}


@pytest.mark.proof
@pytest.mark.usefixtures('slow', 'as_before')
def test_a_failed_delete_is_tried_again_and_explained(manager):
    manager.enrol(2)
    lease = manager.book(stacks.with_room(1))
    run_for(manager, 60)
    [server] = manager.cloud.servers()
    manager.cloud.lock_server(server.id)
    manager.run_until(NOON + builders.hours(1) + builders.minutes(2))
    told = stacks.told(manager, lease)
    assert 'could not be deleted, and Climate tries again' in told
    assert f'servers.0 (OS::Nova::Server): Instance {server.id} is locked' in told
    manager.cloud.delete_server(server.id)
    run_for(manager, 7200)
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert manager.cloud.stacks() == []


@pytest.mark.usefixtures('as_before')
def test_a_dead_trust_leaves_nothing_behind(manager):
    manager.enrol(2)
    lease = manager.active(stacks.with_room(1))
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + builders.hours(1) + builders.minutes(1))


@pytest.mark.proof
@pytest.mark.usefixtures('as_before')
def test_a_dead_trust_at_the_start_creates_nothing_in_the_service_project(manager):
    manager.enrol(2)
    lease = manager.book(stacks.with_room(1), start=LATER, end=LATER + builders.hours(1))
    manager.cloud.delete_trustor('demo')
    manager.run_until(LATER + builders.minutes(30))
    assert manager.cloud.stacks() == []
    assert manager.lease(lease).state == lifecycle.ERROR


@pytest.mark.usefixtures('slow', 'as_before')
def test_a_lease_that_is_deleted_while_its_stack_is_created_leaves_nothing(manager):
    manager.enrol(2)
    lease = manager.book(stacks.with_room(1))
    run_for(manager, 5)
    assert list(stacks.now(manager).values()) == ['CREATE_IN_PROGRESS']
    manager.delete(lease)
    run_for(manager, 600)
    assert manager.cloud.stacks() == []


@pytest.mark.parametrize(('on_end', 'left'), [
    ('leave', 'CREATE_COMPLETE'), ('suspend', 'SUSPEND_COMPLETE')])
def test_a_stack_without_room_may_stay_at_the_end(manager, on_end, left):
    lease = manager.active(stacks.asked(on_end=on_end))
    manager.expect(lease, lifecycle.TERMINATED, NOON + builders.hours(1) + builders.minutes(1))
    assert list(stacks.now(manager).values()) == [left]


@pytest.mark.usefixtures('as_before')
def test_a_stack_may_change_its_dates_and_on_end_only(manager):
    manager.enrol(2)
    lease = manager.active(stacks.asked())
    update = manager.client.update_lease

    def changes(**request):
        return stacks.records.LeaseChanges(reservations=(
            stacks.records.ReservationRequest(None, request, id=only(lease).id),))
    with pytest.raises(errors.Conflict, match='template: cannot change'):
        update(builders.a_member(), lease.id, changes(template=stacks.placed()))
    update(builders.a_member(), lease.id, stacks.records.LeaseChanges(
        end=NOON + builders.hours(2)))
    manager.expect(lease, lifecycle.ACTIVE)
    assert only(update(builders.a_member(), lease.id, changes(on_end='leave'))).request[
        'on_end'] == 'leave'
    manager.run()
    update(builders.a_member(), lease.id, changes(on_end='delete'))
    manager.run()
    assert len(manager.cloud.stacks()) == 1
