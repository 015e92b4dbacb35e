# SPDX-License-Identifier: Apache-2.0
"""Reservations in requests at REST 1.0 become what later versions would send."""
import pytest

from climate import errors
from climate.api import rest_1_0
from climate.domain import records
from climate.plugins.compute import flavor
from climate.plugins.compute import host
from climate.plugins.compute import instance
from climate.plugins.network import floatingip

STORED = {'min': 1, 'max': 2, 'hypervisor_properties': '["==", "$gpu", "A100"]',
          'resource_properties': '', 'before_end': 'default'}
ROOM = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': False,
        'resource_properties': ''}
SERVER = {'resource_id': 's', 'flavor_id': '2', 'on_end': 'delete', 'vcpus': 1,
          'memory_mb': 512, 'disk_gb': 1, 'sleeps': True, 'hold_room': 'required',
          'units': {}, 'traits': {}}


def _stored(request, resource_type='physical:host'):
    return records.Reservation('r', 'l', resource_type, request)


@pytest.mark.parametrize(('plugin', 'sent', 'meant'), [
    (host.HostPlugin, {'min': '1', 'max': ' 2 ', 'unheard_of': 1}, {'min': 1, 'max': 2}),
    (host.HostPlugin, {'min': 'one', 'max': 2.5}, {'min': 'one', 'max': 2.5}),
    (flavor.FlavorPlugin, {'flavor_id': 2, 'amount': '3', 'affinity': 'None'},
     {'flavor_id': '2', 'amount': 3, 'affinity': None}),
    (instance.InstancePlugin, {'affinity': 'True', 'amount': 1}, {'affinity': True, 'amount': 1}),
    (instance.InstancePlugin, {'affinity': 'maybe', 'amount': 1},
     {'affinity': 'maybe', 'amount': 1}),
    (None, {'anything': '1'}, {'anything': '1'})])
def test_a_request_is_made_into_what_the_schema_wants(plugin, sent, meant):
    assert rest_1_0.request(plugin, sent) == meant


@pytest.mark.parametrize(('sent', 'meant'), [
    ({'max': '3'}, {'max': 3}), ({'status': 'active', 'lease_id': 'l'}, {}),
    ({'hypervisor_properties': None, 'min': 1}, {'min': 1}), ({}, {})])
def test_empty_changes_are_left_out(sent, meant):
    assert rest_1_0.changes(host.HostPlugin, _stored(STORED), sent) == meant


def test_room_for_instances_that_is_sent_back_as_it_was_shown_is_not_made_a_leased_server():
    stored = _stored(ROOM, 'virtual:instance')
    shown = instance.InstancePlugin.shown(stored)
    sent = {**shown, 'resource_id': 'r', 'flavor_id': 'r', 'amount': '3'}
    assert rest_1_0.changes(instance.InstancePlugin, stored, sent) == {**ROOM, 'amount': 3}


def test_a_leased_server_that_is_sent_back_as_it_was_shown_stays_as_it_is():
    stored = _stored(SERVER, 'virtual:instance')
    sent = {**instance.InstancePlugin.shown(stored), 'amount': None}
    assert rest_1_0.changes(instance.InstancePlugin, stored, sent) == {
        'resource_id': 's', 'on_end': 'delete'}


def test_a_type_that_is_not_enabled_is_left_to_the_manager():
    assert rest_1_0.changes(None, _stored({'x': 1}), {'x': '2'}) == {'x': '2'}


@pytest.mark.parametrize(('plugin', 'name', 'value'), [
    (host.HostPlugin, 'amount', 3), (host.HostPlugin, 'count', '2'),
    (host.HostPlugin, 'availability_zone', 'az1'), (host.HostPlugin, 'affinity', 'True'),
    (instance.InstancePlugin, 'min', 2), (instance.InstancePlugin, 'max', '3'),
    (instance.InstancePlugin, 'hypervisor_properties', '["==", "$gpu", "A100"]'),
    (instance.InstancePlugin, 'before_end', 'snapshot'),
    (flavor.FlavorPlugin, 'hypervisor_properties', '["==", "$gpu", "A100"]'),
    (flavor.FlavorPlugin, 'on_end', 'snapshot'), (flavor.FlavorPlugin, 'network_id', 'n'),
    (floatingip.FloatingIPPlugin, 'min', 2), (floatingip.FloatingIPPlugin, 'count', 2)])
def test_a_field_that_another_type_has_is_refused_unless_it_is_empty(plugin, name, value):
    with pytest.raises(errors.BadField, match=f'reservations.{name}: {plugin.resource_type} has'):
        rest_1_0.request(plugin, {name: value})
    for empty in (None, '', ' ', 0, '0', False, 'None', 'null', [], {}, 'default'):
        assert rest_1_0.request(plugin, {name: empty}) == {}


@pytest.mark.parametrize(('plugin', 'stored'), [
    (host.HostPlugin, STORED), (instance.InstancePlugin, ROOM), (instance.InstancePlugin, SERVER)])
def test_a_response_that_is_sent_back_is_not_refused(plugin, stored):
    reservation = _stored(stored, plugin.resource_type)
    sent = {**plugin.shown(reservation), 'id': 'r', 'status': 'active', 'missing_resources': False}
    assert rest_1_0.changes(plugin, reservation, sent).keys() <= stored.keys()
