# SPDX-License-Identifier: Apache-2.0
"""The contract of every installed plugin with audits."""
import contextlib
import dataclasses
import uuid

import pytest
from support import crashing
import test_plugin_contract as contract

from climate import errors

ID = str(uuid.UUID(int=9))
# Types whose marks in the cloud their owners can write, so that they prove nothing.
UNSIGNED = {'virtual:floatingip', 'virtual:network'}


@pytest.fixture(params=[*contract.TYPES, 'a leased server', 'an existing stack'])
def scene(request, conf):
    found = contract.Scene(conf, request.param)
    found.lease = dataclasses.replace(found.lease, id=str(uuid.UUID(int=8)))
    found.reservation = dataclasses.replace(found.reservation, id=ID, lease_id=found.lease.id)
    return found


def observed(scene):
    return scene.plugin.observe(scene.cloud)


def lacks(scene):
    return scene.plugin.lacks(observed(scene), scene.lease, scene.reservation,
                              scene.resources)


def clear(scene):
    def clear_once():
        scene.plugin.clear(scene.cloud, ID, scene.enrolled)
    with contextlib.suppress(errors.StillBusy):
        clear_once()
    scene.owners_delete(ID)
    contract.until_done('clear', clear_once)


def test_the_objects_of_a_start_have_traces_and_lack_nothing(scene):
    assert scene.plugin.traces(observed(scene)) == []
    before = scene.picture()
    binding = scene.call('start')
    scene.reservation = dataclasses.replace(scene.reservation, binding=binding or {})
    traces = scene.plugin.traces(observed(scene))
    assert {each.made_for for each in traces} == ({ID} if scene.picture() != before else set())
    if scene.plugin.resource_type not in UNSIGNED:
        assert any(each.signed_by for each in traces) == bool(traces)
    assert lacks(scene) == []
    scene.call('end')
    assert scene.plugin.traces(observed(scene)) == []


def test_completing_a_complete_reservation_changes_nothing(scene):
    binding = scene.call('start') or {}
    scene.reservation = dataclasses.replace(scene.reservation, binding=binding)
    before = scene.picture()
    assert scene.call('complete') == binding
    assert scene.picture() == before


def test_the_missing_part_of_an_interrupted_start_is_found_and_completed(scene):
    for place in range(1, 100):
        if not crashing.dies_at(scene.cloud, place, lambda: scene.call('start')):
            return
        assert {each.repair for each in lacks(scene)} <= {'complete'}
        scene.call('complete')
        assert lacks(scene) == []
        scene.call('end')
    raise AssertionError('The start never came to its end.')


def test_any_part_of_an_interrupted_start_can_be_cleared(scene):
    before = scene.picture()
    clear(scene)
    assert scene.picture() == before
    for place in range(1, 100):
        cut_short = crashing.dies_at(scene.cloud, place, lambda: scene.call('start'))
        clear(scene)
        clear(scene)
        assert scene.picture() == before
        if not cut_short:
            return
    raise AssertionError('The start never came to its end.')
