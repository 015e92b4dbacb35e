# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter, in a stand-in for Nova's scheduler."""
import dataclasses
import importlib
import logging
import sys
import types

from oslo_config import cfg
import pytest

FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'


@dataclasses.dataclass
class Flavor:
    extra_specs: dict | None

    def obj_attr_is_set(self, name):
        return self.extra_specs is not None


@dataclasses.dataclass
class Request:
    hints: dict = dataclasses.field(default_factory=dict)
    project_id: str = 'me'
    flavor: Flavor = dataclasses.field(default_factory=lambda: Flavor({}))

    def get_scheduler_hint(self, name, default=None):
        value = self.hints.get(name, default)
        return value[0] if isinstance(value, list) and len(value) == 1 else value


@dataclasses.dataclass
class Aggregate:
    name: str
    metadata: dict

    @property
    def availability_zone(self):
        return self.metadata.get('availability_zone')


@dataclasses.dataclass
class Host:
    name: str
    aggregates: list


FREE = Host('free', [Aggregate('freepool', {})])
MINE = Host('mine', [Aggregate('r1', {'availability_zone': 'climate_r1', 'climate:owner': 'me'})])
PLAIN = Host('plain', [])
ALL = (FREE, MINE, PLAIN)


@pytest.fixture
def scheduler():
    """The modules of Nova that the filter imports, until the test is over."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    modules = {name: types.ModuleType(name) for name in (
        'nova', 'nova.conf', 'nova.scheduler', 'nova.scheduler.filters', 'nova.scheduler.utils')}
    modules['nova'].conf = modules['nova.conf']
    modules['nova.conf'].CONF = conf
    modules['nova.scheduler'].filters = modules['nova.scheduler.filters']
    modules['nova.scheduler'].utils = modules['nova.scheduler.utils']
    modules['nova.scheduler.filters'].BaseHostFilter = type('BaseHostFilter', (), {})
    modules['nova.scheduler.utils'].request_is_rebuild = (
        lambda request: request.hints.get('_nova_check_type') == ['rebuild'])
    sys.modules.update(modules)
    yield conf
    for name in (*modules, 'climate.nova.filter'):
        sys.modules.pop(name, None)


@pytest.fixture
def filter_class(scheduler):
    return importlib.import_module('climate.nova.filter').ClimateFilter


def _passed(climate_filter, request):
    return [host.name for host in climate_filter.filter_all(iter(ALL), request)]


def test_an_ordinary_request_gets_ordinary_hosts(filter_class):
    assert _passed(filter_class(), Request()) == ['plain']


def test_a_request_with_a_reservation_gets_its_hosts(filter_class):
    assert _passed(filter_class(), Request({'reservation': ['r1']})) == ['mine']


def test_one_host_can_be_asked_for_alone(filter_class):
    assert filter_class().host_passes(MINE, Request({'reservation': ['r1']}))
    assert not filter_class().host_passes(MINE, Request())


def test_a_rebuild_stays_where_it_is(filter_class):
    request = Request({'_nova_check_type': ['rebuild'], 'reservation': ['gone']})
    assert _passed(filter_class(), request) == ['free', 'mine', 'plain']


def test_a_flavor_of_a_reservation_passes(filter_class):
    request = Request(flavor=Flavor({FLAVOR_KEY: 'r2'}))
    assert _passed(filter_class(), request) == ['free', 'mine', 'plain']


def test_a_flavor_without_loaded_extra_specs_is_ordinary(filter_class):
    assert _passed(filter_class(), Request(flavor=Flavor(None))) == ['plain']


def test_servers_of_one_request_are_decided_once(filter_class):
    assert filter_class.run_filter_once_per_request


def test_a_refused_reservation_is_logged_with_the_reason(filter_class, caplog):
    caplog.set_level(logging.INFO)
    assert _passed(filter_class(), Request({'reservation': ['r1']}, project_id='other')) == []
    [record] = caplog.records
    assert record.levelno == logging.INFO
    assert 'hint reservation=r1 of project other has no host' in record.getMessage()
    assert '1 its reservation is not for this project' in record.getMessage()
    assert '2 not in the reservation' in record.getMessage()


def test_the_names_come_from_nova_conf(filter_class, scheduler):
    filter_class()
    scheduler.set_override('availability_zone_prefix', 'other_', group='climate')
    scheduler.set_override('aggregate_freepool', 'elsewhere', group='climate')
    assert _passed(filter_class(), Request()) == ['free', 'mine', 'plain']
