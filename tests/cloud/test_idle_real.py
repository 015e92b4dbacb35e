# SPDX-License-Identifier: Apache-2.0
"""Idle leases on the real cloud: their samples, and their reclaimed resources."""
import functools
import time

import idling
from oslo_config import cfg
import pytest
import scene as scenes

from climate import cloud as clouds
from climate import conf as configuration
from climate.domain import use_sampling
from climate.manager import core as cores
from climate.manager.idle import sampler
from climate.plugins import registry
from tools.cloud import climate_service

TYPES = ('physical:host', 'virtual:instance', 'flavor:instance')
SIZES = {'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1}


@pytest.fixture
def database():
    found = idling.database()
    yield found
    found.dispose()


@pytest.fixture
def look(cloud, database):
    """callable(): {key: Use} of all that runs, as a manager in this process sees it."""
    conf = configuration.register(cfg.ConfigOpts())
    classes = registry.load(TYPES)
    registry.register_options(conf, classes)
    conf([], project='climate', default_config_files=[str(climate_service.conf_file(cloud))],
         default_config_dirs=[])
    plugins = registry.Registry(conf, classes)
    core = cores.Core(conf=conf, database=database, registry=plugins, clock=database.now,
                      cloud=clouds.build(conf, plugins.services))
    return lambda: sampler.Sampler(core, 'the test')._measured(database.now())


@pytest.fixture
def call_idle(database):
    """callable(lease id): its samples say that nothing ran for a day, and it is reclaimed now."""
    return functools.partial(idling.call, database)


def capacity(scene):
    """A running lease of capacity for two instances."""
    made = scene.climate().leases.create(scene.name(), duration='10m', reservations=[
        {'resource_type': 'virtual:instance', **SIZES, 'amount': 2, 'affinity': False}])
    scene.remember(made['id'])
    return scene.wait(made['id'], 'active')


def test_servers_on_leased_hosts_and_of_leased_capacity_are_their_use(scene, look):
    hosts, room = scene.lease(hosts=(2, 2)), capacity(scene)
    [host_lease], [room_lease] = hosts['reservations'], room['reservations']
    mine = {host_lease['id'], room_lease['id']}
    found = {key: each for key, each in look().items() if key[0] in mine}
    assert len(found) == 4
    assert set(found.values()) == {use_sampling.IDLE}
    scene.boot('demo', host_lease['id'])
    scene.boot('demo', flavor=room_lease['id'])
    found = look()
    for reservation in mine:
        seen = sorted((each.runs, each.share > 0) for key, each in found.items()
                      if key[0] == reservation)
        assert seen == [(False, False), (True, True)]


def test_an_idle_lease_of_hosts_ends(scene, cloud, call_idle):
    lease = scene.lease(hosts=(2, 2))
    call_idle(lease['id'])
    over = scene.wait(lease['id'], 'terminated')
    assert over['status_reason'].startswith('Nothing ran on it since')
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts)
    assert scene.aggregate(lease['reservations'][0]['id']) is None


def test_idle_capacity_ends(scene, call_idle):
    lease = capacity(scene)
    call_idle(lease['id'])
    scene.wait(lease['id'], 'terminated')
    assert scene.aggregate(lease['reservations'][0]['id']) is None


@pytest.mark.parametrize('stopped', [False, True])
def test_a_lease_with_a_server_stays_and_takes_more(scene, database, call_idle, stopped):
    lease = scene.lease()
    [reservation] = lease['reservations']
    server = scene.boot('demo', reservation['id'])
    if stopped:
        compute = scene.people['demo'].compute
        compute.stop_server(server.id)
        scenes.until(lambda: compute.get_server(server.id).status == 'SHUTOFF', 'a stop')
    call_idle(lease['id'])
    scenes.until(lambda: idling.is_judged(database, lease['id']), 'the lease to be judged')
    assert scene.wait(lease['id'], 'active')['reclaim_at'] is None
    assert scene.exists(server.id)
    # Not only is the server there: the lease is open as before.
    assert scene.boot('demo', reservation['id']).status == 'ACTIVE'


def test_a_server_that_is_booted_meanwhile_is_never_lost(scene, database, call_idle):
    """Either the boot is refused, or the lease stays; several times, at several moments."""
    for pause in (0, 0.2, 0.5, 1):
        lease = scene.lease()
        [reservation] = lease['reservations']
        server = scene.boot('demo', reservation['id'], wait=False)
        time.sleep(pause)
        call_idle(lease['id'])
        scenes.until(lambda found=lease: idling.is_judged(database, found['id']), 'a verdict')
        shown = scene.booted(server.id)
        status = scene.climate('admin').leases.get(lease['id'])['status']
        print(f'{pause} s after the boot: server {shown.status}, lease {status}')
        if shown.status == 'ACTIVE':
            assert status == 'active'
            assert scene.exists(server.id)
        scene.remove(server.id)
        scene.climate().leases.delete(lease['id'])
