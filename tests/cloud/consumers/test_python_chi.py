# SPDX-License-Identifier: Apache-2.0
"""python-chi as it comes from PyPI, with the client of Chameleon, with and without the dialect."""
import functools
import http.server
import json

import addressed
import api_options
import pytest
from support import loopback


@pytest.fixture(autouse=True)
def row(chameleon, record_property):
    record_property('consumer', ('python-chi', '1.2.10'))


@pytest.fixture(params=['', '\n[api]\nchameleon = true\n'], ids=['blazar', 'chameleon'])
def dialect(request, scene, cloud, tmp_path):
    """Members may list hosts; the API answers as Blazar does, or as Chameleon's fork."""
    with api_options.changed(cloud, request.param, api_options.MEMBERS_LIST_HOSTS, tmp_path):
        yield


@pytest.fixture
def nodes(scene, cloud):
    """The hosts have the properties by which Chameleon's users select nodes."""
    hosts = scene.climate('admin').hosts
    for host in hosts.list():
        name = host['hypervisor_hostname']
        hosts.update(host['id'], {'node_type': 'compute_skylake', 'node_name': f'nc-{name}'})
        scene.afterwards(functools.partial(
            hosts.update, host['id'], {'node_type': None, 'node_name': None}))
    return cloud.compute_hosts


@pytest.fixture
def reference(nodes, tmp_path):
    """The address of Chameleon's reference of its hardware, which lists these nodes."""
    folder = tmp_path / 'sites' / 'uc' / 'clusters' / 'chameleon'
    folder.mkdir(parents=True)
    (tmp_path / 'sites.json').write_text(json.dumps({'items': [{'name': 'CHI@UC'}]}))
    (folder / 'nodes.json').write_text(json.dumps({'items': [
        {'uid': name, 'node_name': f'nc-{name}', 'node_type': 'compute_skylake', 'gpu': {},
         'architecture': {'smt_size': 16}} for name in nodes]}))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with loopback.serving(http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)) as port:
        yield f'http://127.0.0.1:{port}'


@pytest.fixture
def story(chameleon, dialect):
    """callable(story, name of the lease): what the program shows."""
    return functools.partial(chameleon.python, 'chi_story.py', OS_AUTH_TYPE='v3password')


@pytest.fixture
def address(scene):
    """An address that is enrolled as long as the test runs."""
    addresses = addressed.Addresses(scene)
    addresses.enrol(addressed.address(201))
    scene.afterwards(addresses.withdraw)
    return addressed.address(201)


def hosts_of(scene, lease_id):
    """The names of the hosts on which a lease has a reservation of hosts or instances."""
    admin = scene.climate('admin')
    names = {host['id']: host['hypervisor_hostname'] for host in admin.hosts.list()}
    return {names[key] for each in admin.leases.get(lease_id)['reservations']
            if each['resource_type'] in ('physical:host', 'flavor:instance')
            for key in each['resources']}


@pytest.mark.usefixtures('segment')
def test_a_notebook_leases_a_node_an_address_instances_and_a_network(
        story, reference, nodes, address, scene):
    name = scene.name()
    made = story('create', name)
    scene.remember(made['id'])
    assert (made['status'], made['created'], made['listed']) == ('ACTIVE', True, [name])
    [host], [_], [instances], [_] = made['reservations']
    assert made['addresses'] == [address]
    assert [instances in flavor for flavor in made['flavors']] == [True]
    server = scene.boot('demo', host)
    assert server.compute_host in scene.hosts_in(host)
    taken = hosts_of(scene, made['id'])
    shown = story('nodes', name, CHI_RESOURCE_API_URL=reference)
    assert shown == {'is_free_now': True, 'free': [
        f'nc-{node}' for node in nodes if node not in taken]}
    assert story('delete', name) == 'DELETED'


def test_a_notebook_submits_a_lease_for_later_twice(story, scene):
    made = story('later', scene.name())
    scene.remember(made['id'])
    assert (made['again'], made['status']) == (made['id'], 'PENDING')


@pytest.mark.usefixtures('nodes')
def test_a_notebook_asks_for_too_many_nodes(story, scene):
    assert story('refused', scene.name()) == 'Unable to make lease'
