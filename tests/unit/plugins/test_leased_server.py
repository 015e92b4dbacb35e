# SPDX-License-Identifier: Apache-2.0
"""The request for a leased server, and the answers of its form about a reservation."""
import dataclasses

import leased_scene
import pytest
from support import builders

from climate import errors
from climate.api import error_names
from climate.api import rest_1_0
from climate.domain import lifecycle
from climate.domain import records

SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 1}
UNBOUND = {'resource_id': None, 'flavor_id': '2'}


@pytest.fixture
def scene(conf):
    return leased_scene.Scene(conf)


@pytest.fixture
def checked(scene):
    """callable(request, lenient) → the request as the schema wants it."""
    def check(request, lenient=False):
        if lenient:
            request = rest_1_0.request(type(scene.plugin), request)
        return scene.registry.checked(leased_scene.TYPE, request)
    return check


def _reservation(request, **more):
    return records.Reservation('r', 'l', leased_scene.TYPE, request, **more)


def test_a_server_is_leased_with_its_own_flavor(scene):
    server = scene.boot()
    resolved = scene.resolve({'resource_id': server.id})
    assert (resolved['resource_id'], resolved['flavor_id'], resolved['on_end']) == (
        server.id, None, 'snapshot')
    assert (resolved['vcpus'], resolved['memory_mb'], resolved['disk_gb']) == (1, 2048, 20)
    assert scene.plugin.needs(resolved) == []
    assert not scene.plugin.prepares(resolved)


def test_an_option_sets_the_default_of_on_end(scene):
    scene.conf.set_override('on_end', 'shelve', group='virtual:instance')
    assert scene.resolve({**UNBOUND, 'on_end': None})['on_end'] == 'shelve'
    assert scene.resolve({**UNBOUND, 'on_end': 'delete'})['on_end'] == 'delete'


@pytest.mark.parametrize('hold_room', ['required', 'preferred'])
def test_a_sleeping_server_needs_the_capacity_of_its_flavor(scene, hold_room):
    scene.conf.set_override('hold_room', hold_room, group='virtual:instance')
    scene.cloud.add_flavor('big', 'big', vcpus=2, ram=1024, disk=3, ephemeral=1, swap=1024,
                           extra_specs={'trait:HW_CPU_X86_AVX2': 'required',
                                        'resources:CUSTOM_GPU': '1'})
    resolved = scene.resolve({'resource_id': None, 'flavor_id': 'big'}, later=True)
    [need] = scene.plugin.needs(resolved)
    assert need.demand.amount == {'VCPU': 2, 'MEMORY_MB': 1024, 'DISK_GB': 5, 'CUSTOM_GPU': 1}
    assert (need.demand.at_least, need.demand.at_most) == (1, 1)
    assert 'HW_CPU_X86_AVX2' in str(need.requirement)
    assert need.optional is (hold_room == 'preferred')
    assert scene.plugin.prepares(resolved)


def test_a_flavor_that_the_database_cannot_keep_is_refused_only_if_capacity_is_held(scene):
    scene.cloud.add_flavor('mixed', 'mixed', vcpus=2, extra_specs={'hw:cpu_policy': 'mixed'})
    server = scene.cloud.boot('p', 'vm', host='compute-3', flavor='mixed')
    for request, field in (({'resource_id': None, 'flavor_id': 'mixed'}, 'flavor_id'),
                           ({'resource_id': server.id}, 'resource_id')):
        scene.resolve(request)
        with pytest.raises(errors.BadField, match=f'^{field}: .*mixed'):
            scene.resolve(request, later=True)


@pytest.mark.parametrize('request_of, field', [
    (lambda scene: {'resource_id': 'unknown'}, 'resource_id'),
    (lambda scene: {'resource_id': scene.boot(project_id='other').id}, 'resource_id'),
    (lambda scene: {'resource_id': scene.boot('ERROR').id}, 'resource_id'),
    (lambda scene: {'resource_id': scene.boot('SOFT_DELETED').id}, 'resource_id'),
    (lambda scene: {'resource_id': scene.boot().id, 'flavor_id': '2'}, 'flavor_id'),
    (lambda scene: {'resource_id': None}, 'flavor_id'),
    (lambda scene: {'resource_id': None, 'flavor_id': 'unknown'}, 'flavor_id'),
    (lambda scene: {**UNBOUND, 'vcpus': 1}, 'vcpus'),
    (lambda scene: {**SIZED, 'on_end': 'delete'}, 'vcpus, memory_mb, disk_gb, amount')])
def test_a_contradictory_request_is_refused_with_the_name_of_the_field(
        scene, checked, request_of, field):
    with pytest.raises(errors.BadField) as caught:
        scene.resolve(checked(request_of(scene)))
    assert caught.value.message.startswith(f'{field}: ')


def test_a_server_that_is_being_deleted_cannot_be_leased(scene):
    scene.conf.set_override('delete_seconds', 9, group='simulated')
    server = scene.boot()
    scene.user.nova.delete_server(server.id)
    with pytest.raises(errors.BadField, match='no server'):
        scene.resolve({'resource_id': server.id})


@pytest.mark.parametrize('request_, text', [
    ({'on_end': 'delete'}, "'resource_id' is a required property"),
    ({'flavor_id': '2'}, "'resource_id' is a required property"),
    ({'resource_id': '../x'}, 'resource_id'), ({'resource_id': 7}, 'resource_id'),
    ({**UNBOUND, 'on_end': 'explode'}, 'on_end'), ({**UNBOUND, 'sleeps': True}, 'Known are'),
    ({'vcpus': 1}, 'is a required property'), ({}, 'is a required property')])
def test_the_schema_refuses_other_fields_and_values(checked, request_, text):
    with pytest.raises(errors.BadField, match=text):
        checked(request_)


@pytest.mark.parametrize('request_, missing', [
    ({'vcpus': '1'}, 'memory_mb, disk_gb, amount'), ({}, 'vcpus, memory_mb, disk_gb, amount'),
    ({'flavor_id': '2'}, 'vcpus, memory_mb, disk_gb, amount')])
def test_an_error_at_rest_1_0_names_the_missing_fields(checked, request_, missing):
    with pytest.raises(errors.BadField) as caught:
        checked(request_, lenient=True)
    shown = error_names.at_1_0(caught.value)
    assert isinstance(shown, errors.MissingFields)
    assert shown.message == f'Missing parameter {missing}'


@pytest.mark.parametrize('sent, kept', [
    ({**SIZED, 'resource_id': 'r', 'flavor_id': 'r', 'aggregate_id': 1}, SIZED),
    ({'resource_id': 's', 'flavor_id': '2', 'on_end': 'delete', 'vcpus': 1, 'memory_mb': 2,
      'disk_gb': 3, 'status': 'active'}, {'resource_id': 's', 'on_end': 'delete'}),
    ({**UNBOUND, 'vcpus': 1, 'amount': None}, UNBOUND),
    ({'resource_id': None, 'flavor_id': 2}, {'resource_id': None, 'flavor_id': '2'})])
def test_a_client_of_rest_1_0_may_send_back_all_fields_of_an_answer(checked, sent, kept):
    assert checked(sent, lenient=True) == kept


@pytest.mark.parametrize('known', [True, False])
def test_a_change_may_set_on_end_only(scene, checked, known):
    server = scene.boot()
    before = _reservation(scene.resolve({'resource_id': server.id} if known else UNBOUND, True),
                          binding={'resource_id': server.id})
    asked = scene.plugin.asked(before.request)
    changed = scene.resolve(checked({**asked, 'on_end': 'delete'}), before=before)
    assert changed == {**before.request, 'on_end': 'delete'}
    again = checked({**asked, 'resource_id': server.id})
    assert scene.resolve(again, before=before) == before.request
    for other in ({'resource_id': 'another'}, {'flavor_id': '3'}):
        with pytest.raises(errors.BadField, match='make another lease'):
            scene.resolve(checked({**asked, **other}), before=before)
    for foreign in ({'vcpus': 2}, {'amount': 1}):
        with pytest.raises(errors.BadField, match='a leased server'):
            scene.resolve(checked({**asked, **foreign}), before=before)


def test_the_flavor_of_a_future_server_may_be_given_by_name(scene, checked):
    resolved = scene.resolve({'resource_id': None, 'flavor_id': 'm1.small'})
    assert resolved['flavor_id'] == '2'
    before = _reservation(resolved)
    again = checked({**scene.plugin.asked(before.request), 'flavor_id': 'm1.small'})
    assert scene.resolve(again, before=before) == before.request
    with pytest.raises(errors.BadField, match='make another lease'):
        scene.resolve(checked({**again, 'flavor_id': 'm1.tiny'}), before=before)


def test_the_leased_id_comes_from_the_request_or_the_binding(scene):
    known = _reservation(scene.resolve({'resource_id': scene.boot().id}))
    unbound = _reservation(scene.resolve(UNBOUND))
    bound = dataclasses.replace(unbound, binding={'resource_id': 's'})
    sized = _reservation(scene.resolve(SIZED))
    leased = scene.plugin.leased_id
    assert (leased(known), leased(unbound), leased(bound), leased(sized)) == (
        known.request['resource_id'], None, 's', None)
    assert [scene.plugin.awaits_target(each) for each in (known, unbound, bound, sized)] == [
        False, True, False, False]


def test_servers_that_name_the_lease_arrive_oldest_first_and_of_its_project_only(scene):
    marks = {'climate:lease_id': 'l'}
    own = [scene.boot(metadata=marks).id for _ in range(2)]
    scene.boot(project_id='other', metadata=marks)
    scene.boot(metadata={'climate:lease_id': 'another'})
    assert scene.plugin.discovered_targets(scene.cloud, scene.lease_record) == own


def test_a_server_that_does_not_fit_is_not_bound(scene):
    reservation = _reservation(scene.resolve(UNBOUND, later=True))

    def check(server_id):
        scene.plugin.check_target(scene.cloud, scene.lease_record, reservation, server_id)
    check(scene.boot().id)
    check(scene.boot('BUILD').id)
    large = scene.cloud.boot('p', 'vm', flavor='3').id
    for server_id, text in ((large, 'vcpus 2, memory_mb 4096, disk_gb 40.*flavor 2'),
                            ('unknown', 'no server'),
                            (scene.boot(project_id='other').id, 'no server')):
        with pytest.raises(errors.BadField, match=f'^resource_id: .*{text}'):
            check(server_id)
    reservation = _reservation(scene.resolve(UNBOUND))
    check(large)


@pytest.mark.parametrize('count', [1, 30])
def test_gone_servers_are_found_among_few_and_many(scene, count):
    present = [scene.boot().id for _ in range(count)]
    assert scene.plugin.gone(scene.cloud, [*present, 'gone']) == {'gone'}
    assert scene.plugin.gone(scene.cloud, present) == frozenset()


def _roams(scene, reservation, **lease):
    changed = dataclasses.replace(scene.lease_record, **lease)
    return scene.plugin.may_leave_pool(changed, reservation)


def test_a_server_may_use_ordinary_hosts_unless_it_sleeps_or_has_capacity(scene):
    running = _reservation(scene.resolve(UNBOUND))
    later = _reservation(scene.resolve(UNBOUND, later=True))
    asleep = dataclasses.replace(later, binding={'resource_id': 's', 'asleep': True})
    awaited = dataclasses.replace(later, allocated={'hosts': (1,)})
    roomy = dataclasses.replace(asleep, allocated={'hosts': (1,)})
    ended = {'state': lifecycle.TERMINATED}
    assert _roams(scene, running)
    assert _roams(scene, later)
    assert _roams(scene, awaited, task='start')
    assert not _roams(scene, asleep)
    assert not _roams(scene, roomy, task='start')
    assert not _roams(scene, roomy, state=lifecycle.ACTIVE)
    assert _roams(scene, asleep, state=lifecycle.ACTIVE)
    assert _roams(scene, roomy, state=lifecycle.ACTIVE, task='end')
    assert _roams(scene, roomy, **ended)
    assert _roams(scene, roomy, deleted_at=builders.NOON)
    assert _roams(scene, dataclasses.replace(roomy, state=lifecycle.RESERVATION_DELETED))
    assert not _roams(scene, _reservation(scene.resolve(SIZED)), **ended)


def test_a_server_with_held_capacity_is_unshelved_during_the_start(scene):
    held = {'hosts': (1,)}
    later = _reservation(scene.resolve(UNBOUND, later=True))
    bound = dataclasses.replace(later, binding={'resource_id': 's'}, allocated=held)
    assert scene.plugin.schedules_in_start(bound)
    assert not any(map(scene.plugin.schedules_in_start, (
        later, dataclasses.replace(later, allocated=held),
        _reservation(scene.resolve(UNBOUND), allocated=held),
        _reservation(scene.resolve(SIZED), allocated=held))))


def test_the_target_capacity_is_the_held_capacity(scene):
    later = _reservation(scene.resolve(UNBOUND, later=True))
    held = dataclasses.replace(later, allocated={'hosts': (1,)})
    sized = _reservation(scene.resolve(SIZED), allocated={'hosts': (1,)})
    assert scene.plugin.target_capacity(held) == {'VCPU': 1, 'MEMORY_MB': 2048, 'DISK_GB': 20}
    assert scene.plugin.target_capacity(later) is scene.plugin.target_capacity(sized) is None


def test_answers_show_the_server_and_its_size(scene):
    bound = _reservation(scene.resolve(UNBOUND, later=True), binding={
        'resource_id': 's', 'resource_name': 'web-1', 'asleep': True})
    at_1_0 = {'resource_id': 's', 'flavor_id': '2', 'on_end': 'snapshot', 'vcpus': 1,
              'memory_mb': 2048, 'disk_gb': 20}
    assert scene.plugin.shown(bound) == at_1_0
    assert scene.plugin.fields(bound) == {**at_1_0, 'resource_name': 'web-1'}


def test_options_set_the_patience_and_the_audit_interval(scene):
    assert (scene.plugin.patience_seconds, scene.plugin.audit_seconds) == (120, 60)
