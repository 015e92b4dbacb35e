# SPDX-License-Identifier: Apache-2.0
"""The environments of the programs of others; their tests run with make consumers-test."""
import pathlib

import consumer
import leaks
import network_scene
import pytest

HERE = pathlib.Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.consumers)


@pytest.fixture
def kinds():
    return leaks.COMPUTE + leaks.NETWORK


@pytest.fixture(scope='session')
def chameleon(cloud):
    """python-chi with the client of Chameleon, which replaces that of Blazar."""
    chameleon = consumer.Consumer(cloud, 'chameleon-blazarclient==3.6.5', 'python-chi==1.2.10',
                                  'python-openstackclient')
    chameleon.install()
    return chameleon


@pytest.fixture
def chameleon_row(chameleon, record_property):
    record_property('consumer', (chameleon.name, chameleon.version))


@pytest.fixture
def segment(scene):
    """A segment that is enrolled as long as the test runs."""
    pool = scene.climate('admin').pool('segment')
    made = pool.create(f'{network_scene.PHYSICAL}:vlan:{network_scene.FIRST}')
    scene.afterwards(lambda: pool.delete(made['id']))
    return made
