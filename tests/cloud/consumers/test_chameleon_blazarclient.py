# SPDX-License-Identifier: Apache-2.0
"""chameleon-blazarclient as it comes from PyPI, command by command."""
import client_story
import consumer as consumers
import pytest


@pytest.fixture(scope='module')
def run(chameleon):
    with chameleon.commands() as run:
        yield run


@pytest.mark.usefixtures('chameleon_row')
@pytest.mark.parametrize('program', ['blazar', 'openstack'])
def test_every_command_works(chameleon, run, scene, cloud, admin, program):
    known = client_story.names(chameleon)[program]
    story = client_story.Story(consumers.Commands(run, program), known, scene)
    story.play(cloud.compute_hosts[-1], admin.network.find_network('public').id)
    assert story.used == known
