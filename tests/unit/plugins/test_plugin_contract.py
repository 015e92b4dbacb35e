# SPDX-License-Identifier: Apache-2.0
"""The contract of every installed plugin, each tested on the simulated cloud."""
import contextlib
import dataclasses
from importlib import metadata
import itertools
import re

import jsonschema
import plugin_forms
import pytest
from support import builders
from support import crashing

from climate import errors
from climate.api import rest_1_0
from climate.cloud import simulated
from climate.domain import records
from climate.domain import selection
from climate.manager import lease_cloud
from climate.plugins import base
from climate.plugins import registry

TYPES = sorted(point.name for point in metadata.entry_points(group=registry.NAMESPACE))
FORMS = plugin_forms.FORMS
_DRAWN = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def until_done(name, work):
    """Call `work` as often as it is not done yet; return what it returns."""
    for _ in range(20):
        with contextlib.suppress(errors.StillBusy):
            return work()
    raise AssertionError(f'{name} never came to its end.')


class Scene:
    """A plugin, a cloud with two enrolled resources, and a reservation of the plugin's example."""

    def __init__(self, conf, form):
        resource_type, prepare = FORMS.get(form, (form, None))
        self.plugin = registry.Registry(conf, registry.load(TYPES)).plugin(resource_type)
        self.cloud = simulated.SimulatedCloud(conf)
        trust = self.cloud.as_service().keystone.create_trust(
            builders.a_member(), redelegable=True)
        self.example = self.plugin.example
        if prepare:
            self.example = prepare(self.cloud, trust.id, self.example)
        self.lease = records.Lease(id='l', name='l', project_id='demo', user_id='demo',
                                   start=builders.NOON, end=builders.NOON + builders.hours(1),
                                   trust_id=trust.id)
        request = self.plugin.resolve(self.cloud, self.example, base.Occasion(
            'demo', caller=builders.a_member()))
        enrolled = {}
        ids = itertools.count(1)
        for pool in (each(conf) for each in self.plugin.pools):
            enrolled[pool.name] = []
            for name in plugin_forms.names(self.cloud, pool.name):
                found = pool.discover(self.cloud, name)
                pool.admit(self.cloud, found)
                enrolled[pool.name].append(records.Resource(
                    next(ids), pool.name, name, found.capacity, facts=found.facts))
        self.enrolled = [each for some in enrolled.values() for each in some]
        # Two hosts are ready for each need of hosts; an amount needs one back end.
        self.resources = {}
        for need in self.plugin.needs(request):
            found = enrolled[need.pool]
            self.resources[need.key] = found if need.pool == 'host' else found[:1]
        self.reservation = records.Reservation(
            'r', 'l', resource_type, request,
            allocated={key: tuple(each.id for each in some)
                       for key, some in self.resources.items()})

    def call(self, method, is_first=False):
        """Call it until it is done; return what it returns."""
        attempt = base.Attempt(now=builders.NOON, since=builders.NOON, is_first=is_first)
        return until_done(method, lambda: getattr(self.plugin, method)(
            lease_cloud.ActionCloud(self.cloud, self.lease, attempt),
            self.lease, self.reservation, self.resources))

    def stage(self):
        """Stage it, and write down its binding."""
        self.reservation = dataclasses.replace(self.reservation, binding=self.call('stage'))

    def cut_short_everywhere(self, method, before=lambda: None, **more):
        """Call a method repeatedly, each time until it dies one point later; yield each time.

        :param before: called before each.
        """
        for place in range(1, 100):
            before()
            cut_short = crashing.dies_at(self.cloud, place, lambda: self.call(method, **more))
            yield
            if not cut_short:
                return
        raise AssertionError(f'{method} never came to its end.')

    def owners_delete(self, reservation_id):
        """Delete, as their owners, the objects that audits keep because they have data."""
        volumes = self.cloud.as_service().volumes
        for each in volumes.every():
            if reservation_id in each.type_name:
                volumes.delete(each.id)
        clusters = self.cloud.as_service().clusters
        for cluster_id, name in clusters.names().items():
            if reservation_id in name:
                clusters.delete(cluster_id)

    def picture(self):
        """Return the objects that an audit observes, which are all but stacks."""
        services = self.cloud.as_service()
        seen = {name: rows for name, rows in self.cloud.leftovers().items()
                if name not in ('stacks', 'stack_parts')}
        return seen, sorted(
            (each.name, each.hosts, tuple(each.metadata.items()))
            for each in services.nova.aggregates()), (
                services.volumes.types(), [each.name for each in services.volumes.every()])

    def whole_picture(self):
        """Return `picture`, with the stacks of users."""
        return self.picture(), self.cloud.stacks()

    def without_ids(self):
        """Return `whole_picture` as text, without random ids, such as those of server groups."""
        return _DRAWN.sub('ID', repr(self.whole_picture()))


@pytest.fixture(params=[*TYPES, *FORMS])
def scene(request, conf):
    return Scene(conf, request.param)


def test_the_schema_is_closed_and_admits_the_example(scene):
    schema = scene.plugin.schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema['additionalProperties'] is False
    jsonschema.validate(scene.example, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**scene.example, 'unheard_of': 1}, schema)


def test_a_plugin_has_the_name_of_its_entry_point(scene):
    assert isinstance(scene.plugin, base.ResourcePlugin)
    assert scene.plugin.resource_type in TYPES


def test_rest_1_0_accepts_unknown_keys_and_numbers_as_text(scene):
    example = scene.example
    texts = {key: str(value) if isinstance(value, int) else value
             for key, value in example.items()}
    assert rest_1_0.request(type(scene.plugin), {**texts, 'unheard_of': 1}) == example


def test_resolving_a_resolved_request_changes_nothing(scene):
    assert scene.plugin.resolve(scene.cloud, scene.reservation.request,
                                base.Occasion('demo', caller=builders.a_member())) == (
        scene.reservation.request)


def test_the_schema_admits_the_fields_that_clients_may_send_back(scene):
    jsonschema.validate(scene.plugin.asked(scene.reservation.request), scene.plugin.schema)


def test_needs_are_positive_and_covered_by_the_pools(scene):
    for need in scene.plugin.needs(scene.reservation.request):
        assert need.pool in {pool.name for pool in scene.plugin.pools}
        assert 0 < need.demand.at_least <= need.demand.at_most
        if need.demand.amount is not selection.WHOLE:
            assert all(units > 0 for units in need.demand.amount.values())


def test_a_start_and_an_end_are_harmless_when_they_are_repeated(scene):
    before = scene.whole_picture()
    assert scene.call('start') == scene.call('start')
    running = scene.whole_picture()
    scene.call('start')
    assert scene.whole_picture() == running
    for _ in range(2):
        scene.call('end')
        assert scene.whole_picture() == before


def test_an_end_is_harmless_without_a_start_and_after_any_part_of_one(scene):
    before = scene.whole_picture()
    scene.call('end')
    assert scene.whole_picture() == before
    for _ in scene.cut_short_everywhere('start'):
        scene.call('end')
        assert scene.whole_picture() == before


@pytest.fixture
def stages(scene):
    """Skip the types of which nothing is made before the start."""
    if not scene.plugin.stages(scene.reservation.request):
        pytest.skip('It stages nothing.')


@pytest.mark.usefixtures('stages')
def test_an_end_is_harmless_after_any_part_of_a_stage(scene):
    before = scene.whole_picture()
    for _ in scene.cut_short_everywhere('stage'):
        scene.call('end')
        assert scene.whole_picture() == before


@pytest.mark.usefixtures('stages')
def test_nobody_can_use_what_is_staged_and_a_start_completes_it(scene):
    before = scene.whole_picture()
    started = scene.call('start')
    running = scene.without_ids()
    scene.call('end')
    nobody = scene.cloud.leftovers()['flavor_access']
    scene.stage()
    aggregate = scene.cloud.as_service().nova.aggregate(scene.reservation.id)
    assert (aggregate.hosts, scene.cloud.leftovers()['flavor_access']) == ((), nobody)
    again = scene.call('start', is_first=True)
    assert scene.without_ids() == running
    assert set(again) == set(started)
    scene.reservation = dataclasses.replace(scene.reservation, binding=again)
    assert scene.call('start') == again
    assert scene.without_ids() == running
    scene.call('end')
    assert scene.whole_picture() == before


@pytest.mark.usefixtures('stages')
def test_a_start_that_dies_at_any_call_after_a_stage_is_tried_again(scene):
    before = scene.whole_picture()
    scene.call('start')
    running = scene.without_ids()
    scene.call('end')
    for _ in scene.cut_short_everywhere('start', before=scene.stage, is_first=True):
        scene.call('start')
        assert scene.without_ids() == running
        scene.call('end')
        assert scene.whole_picture() == before
        scene.reservation = dataclasses.replace(scene.reservation, binding={})
