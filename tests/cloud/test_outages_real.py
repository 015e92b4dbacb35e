# SPDX-License-Identifier: Apache-2.0
"""Services of the real cloud while their parts are down: their answers, and leases meanwhile."""
import contextlib
import os
import time

import clusters
import leaks
import network_scene
import outages
import pytest
import scene as scenes
import stack_scene as stacks

from climate.cloud import faults

pytestmark = pytest.mark.services


@pytest.fixture
def kinds():
    return leaks.ALL


@pytest.fixture(scope='module')
def needed(climate, people, cloud):
    """(the Recorder, {"service/part": {call: status}} of its calls while all is well)."""
    scene = scenes.Scene(cloud, people)
    name = cloud.compute_hosts[-1]
    hosts = scene.climate('admin').hosts
    hosts.delete(hosts.find(name)['id'])
    magnum = clusters.Magnum(people['admin'])
    template = magnum.template('outage-template')
    found = outages.Recorder(people['admin'], scene.boot('demo').id, template)
    usual = found.usual()
    outages.forget(scene)
    yield found, usual
    magnum.call('DELETE', f'/clustertemplates/{template}')
    scene.clean()
    hosts.create(name, {'rack': 'right'})


@pytest.fixture
def down(scene, cloud):
    """A context in which a part is down; after it the cloud is well again."""
    @contextlib.contextmanager
    def part_down(part):
        outages.stop(cloud, part)
        try:
            yield
        finally:
            scenes.tool(cloud, 'restart', *outages.processes_of(part))
    return part_down


@pytest.mark.skipif('CLIMATE_RECORD' not in os.environ, reason='It takes a quarter of an hour.')
@pytest.mark.parametrize('part', outages.PARTS)
def test_answers_while_a_part_is_down_are_outages_for_climate(scene, needed, down, part):
    recorder, usual = needed
    with down(part):
        found = recorder.record(part, usual)
    outages.forget(scene)
    outages.keep(found)
    for place, answers in found.items():
        for call, (status, body) in answers.items():
            assert status is None or faults.is_outage(status), (place, call, status, body)


@pytest.fixture
def asked(scene, admin, demo, request):
    """callable(kind): a request for a reservation of that type."""
    def ask(kind):
        if kind == network_scene.TYPE:
            found = network_scene.Neutron(scene, admin, demo)
            found.enrol(1)
            return {'resource_type': kind, **found.with_router()}
        if kind == 'virtual:volume':
            request.getfixturevalue('backend')
        return {'resource_type': kind, **_REQUESTS[kind]}
    return ask


_REQUESTS = {
    'physical:host': {'min': 1, 'max': 1},
    'virtual:instance': {'vcpus': 1, 'memory_mb': 128, 'disk_gb': 1, 'amount': 1, 'affinity': None},
    'virtual:volume': {'size_gb': 1, 'on_end': 'delete'},
    stacks.TYPE: {'template': stacks.word()['template']},
}


@pytest.mark.parametrize(('kind', 'part', 'service'), [
    (stacks.TYPE, 'heat-engine', 'Heat'), (network_scene.TYPE, 'neutron', 'Neutron'),
    ('virtual:volume', 'cinder-api', 'Cinder'), ('virtual:instance', 'placement', 'Placement')])
def test_a_lease_starts_and_ends_as_soon_as_what_was_down_is_back(
        scene, down, asked, kind, part, service):
    lease = scene.climate().leases.create(
        scene.name(), start=scenes.in_seconds(30), duration='30m', reservations=[asked(kind)])
    scene.remember(lease['id'])

    def now():
        found = scene.climate('admin').leases.get(lease['id'])
        assert found['status'] != 'error', found
        return found
    with down(part):
        found = scenes.until(
            lambda: service in (now()['status_reason'] or '') and now(), 'the reason', 180, 1)
        assert found['status'] in ('inactive', 'starting')
    scene.wait(lease['id'], 'active', 240)
    assert now()['status_reason'] is None
    with down(part):
        scene.climate().leases.end(lease['id'])
        time.sleep(20)
        assert now()['status'] == 'terminating'
    scene.wait(lease['id'], 'terminated', 300)


def test_a_lease_of_hosts_starts_and_ends_while_novas_scheduler_is_down(scene, down, asked):
    lease = scene.climate().leases.create(
        scene.name(), start=scenes.in_seconds(20), duration='30m',
        reservations=[asked('physical:host')])
    scene.remember(lease['id'])
    # Nova answers each change of an aggregate with 500, and carries it out.
    with down('nova-scheduler'):
        lease = scene.wait(lease['id'], 'active', 120)
        assert len(scene.hosts_in(lease['reservations'][0]['id'])) == 1
        scene.climate().leases.end(lease['id'])
        scene.wait(lease['id'], 'terminated', 120)
        assert scene.aggregate(lease['reservations'][0]['id']) is None
