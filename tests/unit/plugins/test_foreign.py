# SPDX-License-Identifier: Apache-2.0
"""The servers that a reservation of hosts did not admit, as far as Nova tells."""
import pytest

from climate.cloud import models
from climate.plugins.compute import foreign

AGGREGATE = models.Aggregate(id=1, name='r1', zone='climate_r1', hosts=('h',),
                             metadata={'climate:owner': 'demo', 'friend': 'true'})
NAMES = {'r1', 'l1'}


def _flavor(**extra_specs):
    return models.Flavor(id='', name='f', vcpus=1, ram=1, disk=1, extra_specs=extra_specs)


def _server(project='demo', **more):
    return models.Server(id='s', name='vm', host='h', project_id=project, status='ACTIVE', **more)


@pytest.mark.parametrize('server', [
    _server(hints={'reservation': ('r1',)}), _server(hints={'reservation': ('r0', 'l1')}),
    _server('friend', hints={'reservation': ('r1',)}),
    _server(hints=None), _server('friend', hints=None),
    _server(hints={}, flavor=_flavor(**{'aggregate_instance_extra_specs:reservation': 'r1'}))])
def test_a_server_that_the_reservation_admits_is_not_foreign(server):
    assert foreign.on_leased([server], 'demo', AGGREGATE, NAMES) == []


@pytest.mark.parametrize('server', [
    _server('eve', hints={'reservation': ('r1',)}), _server('eve', hints=None),
    _server(hints={}), _server(hints={'reservation': ('r0',)}), _server('friend', hints={}),
    _server(hints={'group': ('r1',)}),
    _server(hints={}, flavor=_flavor(**{'aggregate_instance_extra_specs:reservation': 'r0'}))])
def test_one_that_it_does_not_admit_is_foreign(server):
    assert foreign.on_leased([server], 'demo', AGGREGATE, NAMES) == [server]
