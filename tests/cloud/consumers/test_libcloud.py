# SPDX-License-Identifier: Apache-2.0
"""apache-libcloud as it comes from PyPI: it finds the service by the name "blazar"."""
import consumer
import pytest


@pytest.fixture(scope='module')
def libcloud(cloud):
    program = consumer.Consumer(cloud, 'apache-libcloud==3.9.1')
    program.install()
    return program


@pytest.fixture(autouse=True)
def row(libcloud, record_property):
    record_property('consumer', (libcloud.name, libcloud.version))


@pytest.fixture
def named_blazar(admin):
    """The service has the name "blazar" in the catalogue."""
    service = admin.identity.find_service('climate')
    admin.identity.update_service(service, name='blazar')
    yield
    admin.identity.update_service(service, name='climate')


def test_the_leases_of_a_project_are_listed(libcloud, named_blazar, scene):
    lease = scene.lease(active=False, start='2031-01-01T10:00:00Z', duration='2h')
    shown = libcloud.python('libcloud_story.py', '--leases')
    assert shown['leases'] == [[
        lease['id'], lease['name'], 'PENDING', '2031-01-01T10:00:00.000000',
        '2031-01-01T12:00:00.000000', ['physical:host']]]


def test_the_hosts_are_listed_for_an_administrator(libcloud, named_blazar, scene, cloud):
    shown = libcloud.python('libcloud_story.py', person='admin')
    assert [host[1:] for host in shown['hosts']] == [
        [name, 16, 32768, 200] for name in cloud.compute_hosts]


def test_a_service_of_another_name_is_not_found(libcloud, cloud, scene):
    with pytest.raises(AssertionError, match='Could not find specified endpoint'):
        libcloud.python('libcloud_story.py', '--leases')
