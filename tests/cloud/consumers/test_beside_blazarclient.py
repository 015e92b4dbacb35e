# SPDX-License-Identifier: Apache-2.0
"""python-blazarclient and Climate's own commands in one environment."""
import json

import consumer as consumers
import pytest

from tools.cloud import settings


@pytest.fixture(scope='module')
def both(cloud):
    both = consumers.Consumer(cloud, 'python-blazarclient==4.6.0', 'python-openstackclient',
                              '--editable', settings.CHECKOUT, folder='beside-climate')
    both.install()
    return both


@pytest.fixture(scope='module')
def run(both):
    with both.commands() as run:
        yield run


@pytest.fixture(autouse=True)
def row(both, record_property):
    record_property('consumer', ('python-blazarclient beside Climate', both.version))


@pytest.fixture
def blazar(run, scene):
    return consumers.Commands(run, 'blazar')


@pytest.fixture
def openstack(run, scene):
    return consumers.Commands(run, 'openstack')


def test_a_command_that_both_have_is_that_of_climate(openstack, blazar, scene):
    name = scene.name()
    made = openstack.read('reservation', 'lease', 'create', name, '--start-date',
                          '2031-01-01 10:00', '--end-date', '2031-01-01 12:00', '--reservation',
                          'resource_type=physical:host,min=1,max=1', person='demo')
    scene.remember(made['id'])
    assert made['start'] == '2031-01-01T10:00:00Z'
    shown = blazar.read('lease-show', name, person='demo')
    assert (shown['id'], shown['start_date']) == (made['id'], '2031-01-01T10:00:00.000000')
    openstack('reservation', 'lease', 'set', name, '--prolong-for', '1h', person='demo')
    assert blazar.read('lease-show', name, person='demo')['end_date'].startswith(
        '2031-01-01T13:00')
    assert name in json.dumps(openstack.read('reservation', 'lease', 'list', person='demo'))
    openstack('reservation', 'lease', 'delete', name, person='demo')
    assert 'was not found' in blazar.refused('lease-show', made['id'], person='demo')


def test_a_command_that_only_one_has_works(openstack, blazar, scene):
    assert openstack.read('reservation', 'host', 'property', 'list') == [{'property': 'rack'}]
    assert blazar.read('host-property-list') == [{'property': 'rack'}]
    openstack('reservation', 'availability', '--duration', '1h', '--reservation',
              'resource_type=physical:host,min=1,max=1', person='demo')
