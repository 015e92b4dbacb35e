# SPDX-License-Identifier: Apache-2.0
"""The example of the documentation: an adapter of a service outside the tree."""
from concurrent import futures
from importlib import util
import json
import pathlib
import threading

import pytest

from climate import errors
from climate.cloud import call_guard
from climate.cloud import openstack
from climate.cloud import probes
from climate.cloud import registry
from climate.cloud import simulated
from climate.conf import client
from climate.plugins import base as plugins
from climate.plugins import registry as plugin_registry

URL = 'http://boxes'
EXAMPLE = pathlib.Path(__file__).parents[3] / 'doc/source/contributor/examples/box_store.py'


def load(path):
    """The module in a file that is in no package."""
    spec = util.spec_from_file_location(path.stem, path)
    found = util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


box_store = load(EXAMPLE)


class BoxPlugin(plugins.ResourcePlugin):
    resource_type = 'virtual:box'
    schema = {'type': 'object', 'properties': {}, 'additionalProperties': False}
    services = ('boxes',)

    def needs(self, request):
        return []

    def start(self, cloud, lease, reservation, resources):
        cloud.as_service().boxes.add(reservation.id)
        return {}

    def end(self, cloud, lease, reservation, resources):
        """Boxes stay."""


def adapters(conf, driver, store):
    """Return the adapters of Climate itself and the new one, with its options registered."""
    found = {**registry.load(conf, driver, {}), 'boxes': store}
    registry.register(conf, found)
    return registry.checked(driver, found, dict.fromkeys(found, 'virtual:box'))


@pytest.fixture
def played(configured):
    """A simulated cloud with boxes."""
    conf = configured('[boxes]\nconcurrency = 2\n[simulated]\ndelay_seconds = 0.005')
    found = adapters(conf, 'simulated', box_store.SimulatedStore)
    cloud = simulated.SimulatedCloud(conf, adapters=found)
    yield cloud
    cloud.close()


@pytest.fixture
def real(canned):
    """callable(more settings of [boxes]) → a real cloud with boxes behind canned answers."""
    def connect(conf):
        return openstack.OpenStackCloud(conf, adapters(conf, 'openstack', box_store.RealStore))
    canned.build_by(connect)
    return lambda more='': canned.cloud(f'[boxes]\nendpoint_override = {URL}\n{more}')


class Gone(Exception):
    """The caller may not act any more."""


def refuse():
    raise Gone


def test_a_plugin_says_by_name_which_adapters_it_uses():
    assert plugin_registry.services({'virtual:box': BoxPlugin}) == {'boxes': ('virtual:box',)}


def test_an_interface_is_an_attribute_and_created_once(played):
    services = played.as_service()
    assert 'boxes' in services
    with futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: services.boxes, range(50)))
    assert len(set(map(id, found))) == 1
    found[0].add('a')
    assert services.boxes.names() == ['a']


def test_an_adapter_that_no_plugin_uses_is_not_connected(played):
    services = played.as_service()
    assert 'images' not in services
    with pytest.raises(AttributeError, match='No adapter with the interface "images" is connected'):
        services.images.made('k', 'p')


def test_an_adapter_has_the_options_of_its_class_and_calls_with_the_session_of_climate(
        canned, real):
    canned.http.get(f'{URL}/boxes', json=['a', 'b'])
    assert real('most = 1').as_service().boxes.names() == ['a']
    [asked] = canned.asked('GET', '/boxes')
    assert asked.headers['X-Auth-Token'] == 'the-token-of-climate'


def test_a_bad_value_of_an_adapters_options_is_refused_at_the_start(real):
    with pytest.raises(errors.ConfigurationError, match=r'^\[boxes\] most = "none at all" in '):
        real('most = none at all')


def test_the_errors_of_an_adapter_become_cloud_errors(canned, real, played):
    boxes = real().as_service().boxes
    with pytest.raises(errors.CloudError, match=r'^Box store: It bites'):
        boxes.add('cursed')
    canned.http.put(f'{URL}/boxes/a', status_code=503)
    with pytest.raises(errors.CloudUnreachable):
        boxes.add('a')
    assert len(canned.asked('PUT', '/boxes/a')) == 1
    played.as_service().boxes.add('a')
    with pytest.raises(errors.CloudError, match=r'^Box store: .*UNIQUE'):
        played.as_service().boxes.add('a')


def test_a_read_is_repeated(canned, real):
    canned.http.get(f'{URL}/boxes', [{'status_code': 503}, {'json': ['a']}])
    assert real().as_service().boxes.names() == ['a']


def test_a_caller_that_lost_its_claim_makes_no_call(configured, played):
    conf = configured('[keystone]\nauth_type = none\n'
                      '[boxes]\nendpoint_override = http://127.0.0.1:9')
    real = openstack.OpenStackCloud(conf, adapters(conf, 'openstack', box_store.RealStore))
    for services in (real.as_service(), played.as_service()):
        with call_guard.before_each_call(refuse), pytest.raises(Gone):
            services.boxes.add('a')
    assert played.as_service().boxes.names() == []
    with pytest.raises(errors.CloudUnreachable):
        real.as_service().boxes.add('a')


def test_calls_of_an_adapter_observe_its_concurrency(played):
    now, most, lock = 0, 0, threading.Lock()

    def count(name, when):
        nonlocal now, most
        with lock:
            now += 1 if when == 'before' else -1
            most = max(most, now)
    played.faults.on_point = count
    with futures.ThreadPoolExecutor(10) as pool:
        for _ in range(20):
            pool.submit(played.as_service().boxes.names)
    assert most == 2


def test_probes_include_a_new_adapter(canned, real, played):
    assert [each.name for each in probes.ask(played)] == ['boxes', 'keystone']
    canned.http.get(f'{canned.KEYSTONE}/OS-TRUST/trusts', json={'trusts': []})
    canned.http.get(f'{URL}/boxes', status_code=500, text=json.dumps({'error': 'Out of boxes.'}))
    [boxes, keystone] = probes.ask(real())
    assert boxes.problem.startswith('Box store is not available: ')
    assert keystone.problem is None


def test_two_adapters_may_not_have_the_same_interface(configured):
    class Other(box_store.SimulatedStore):
        options = client.Client('crates', 'Crates', 'crates')
    found = {'boxes': box_store.SimulatedStore, 'crates': Other}
    with pytest.raises(errors.ConfigurationError,
                       match='both "boxes" and "crates" have the interface "boxes"'):
        registry.checked('simulated', found, dict.fromkeys(found, 'virtual:box'))


def test_a_class_that_is_not_an_adapter_of_its_name_is_refused():
    with pytest.raises(errors.ConfigurationError, match=r'"crates".*is not an Adapter'):
        registry.checked('simulated', {'crates': box_store.SimulatedStore},
                         {'crates': 'virtual:box'})


def test_an_adapter_that_is_not_installed_is_named_with_its_plugin(configured):
    with pytest.raises(errors.ConfigurationError, match=(
            r'climate\.cloud\.simulated: "boxes", which virtual:box uses, is not installed; '
            'installed are: cinder, glance, heat, keystone, magnum, neutron, nova, placement')):
        registry.load(configured(), 'simulated', {'boxes': ('virtual:box',)})
