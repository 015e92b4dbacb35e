# SPDX-License-Identifier: Apache-2.0
"""The cloud that the other tests of this folder rely on."""
from openstack import exceptions
import pytest

from tools.cloud import settings


@pytest.fixture
def server(scene, open_host):
    """A running server of project demo, without a lease."""
    return scene.boot('demo')


def test_a_member_boots_a_server_that_gets_an_address(server, open_host):
    assert (server.status, server.compute_host) == ('ACTIVE', open_host)
    assert server.addresses['private'][0]['addr'].startswith('10.99.0.')


def test_every_compute_is_up(admin):
    services = list(admin.compute.services(binary='nova-compute'))
    assert services
    assert {service.state for service in services} == {'up'}


def test_the_catalog_names_the_reservation_service(demo):
    assert demo.session.get_endpoint(
        service_type='reservation', interface='public') == settings.url('climate', '/v1')


def test_a_member_is_no_admin_and_a_reader_makes_nothing(demo, demo_reader):
    with pytest.raises(exceptions.ForbiddenException):
        list(demo.identity.users())
    with pytest.raises(exceptions.ForbiddenException):
        demo_reader.network.create_network(name='never')


def test_projects_do_not_see_each_others_servers(server, alt):
    assert server.id not in {other.id for other in alt.compute.servers()}
