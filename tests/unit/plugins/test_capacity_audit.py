# SPDX-License-Identifier: Apache-2.0
"""The audit of capacity for several flavors, by a stack with two."""
import dataclasses
import uuid

import pytest
import test_plugin_contract as contract

from climate import errors
from climate.domain import audit

ID = str(uuid.UUID(int=9))
SECOND = f'{ID}-flavor2'


@pytest.fixture
def scene(conf):
    """A running stack of two flavors."""
    found = contract.Scene(conf, 'a stack of two flavors')
    found.reservation = dataclasses.replace(found.reservation, id=ID)
    found.reservation = dataclasses.replace(found.reservation, binding=found.call('start'))
    return found


def observed(scene):
    return scene.plugin.observe(scene.cloud)


def problems(scene):
    return [each.problem for each in scene.plugin.lacks(
        observed(scene), scene.lease, scene.reservation, scene.resources)]


def clear(scene):
    scene.plugin.clear(scene.cloud, ID, scene.enrolled)


def test_all_objects_have_traces_and_none_is_missing(scene):
    traces = scene.plugin.traces(observed(scene))
    assert {each.made_for for each in traces} == {ID}
    names = [each.name for each in traces]
    assert SECOND in names
    assert [each for each in names if each.startswith('CUSTOM') and each.endswith('_FLAVOR2')]
    assert problems(scene) == []


@pytest.mark.parametrize(('flavor_id', 'problem'), [
    (ID, f'its flavor {ID} is missing'), (SECOND, f'its flavor {SECOND} is missing')])
def test_a_missing_flavor_is_found_and_created_again(scene, flavor_id, problem):
    scene.cloud.as_service().flavors.delete(flavor_id)
    assert problems(scene) == [problem]
    [drift] = scene.plugin.lacks(observed(scene), scene.lease, scene.reservation, scene.resources)
    assert drift.repair == audit.COMPLETE
    assert scene.call('complete') == scene.reservation.binding
    assert problems(scene) == []


def test_a_host_that_is_not_in_its_aggregate_and_lost_slots_are_found(scene):
    services = scene.cloud.as_service()
    aggregate = services.nova.aggregate(ID)
    services.nova.remove_hosts(aggregate, aggregate.hosts[:1])
    services.placement.set_slots(
        next(iter(services.placement.children(scene.plugin.conf.placement.provider_prefix))),
        f'CUSTOM_RESERVATION_{ID.upper().replace("-", "_")}_FLAVOR2', 0)
    found = problems(scene)
    assert any(each.endswith('is not in its aggregate') for each in found)
    assert any('0 slots of CUSTOM_' in each for each in found)
    scene.call('complete')
    assert problems(scene) == []


def test_servers_prevent_the_clearing_of_their_capacity(scene):
    before = scene.picture()
    with pytest.raises(errors.StillBusy, match='still exist'):
        clear(scene)
    assert scene.picture() == before


def test_all_objects_are_cleared_once_the_stack_is_gone(scene):
    [stack] = scene.cloud.stacks('demo')
    scene.cloud.as_service().stacks.delete('demo', stack)
    for server in scene.cloud.servers():
        scene.cloud.delete_server(server.id)
    clear(scene)
    clear(scene)
    assert scene.plugin.traces(observed(scene)) == []
