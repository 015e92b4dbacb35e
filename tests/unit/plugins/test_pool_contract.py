# SPDX-License-Identifier: Apache-2.0
"""The contract of the pools of every installed plugin, used as the API does: without instances."""
from importlib import metadata
import re

import jsonschema
import pytest

from climate.domain import records
from climate.plugins import clearable
from climate.plugins import registry

POOLS = registry.pools_of({point.name: point.load()
                           for point in metadata.entry_points(group=registry.NAMESPACE)})
# What the API itself says of every resource.
COMMON = {'id', 'name', 'reservable', 'properties', 'created_at', 'updated_at'}


@pytest.fixture(params=sorted(POOLS))
def pool(request):
    return POOLS[request.param]


def test_the_name_of_a_pool_fits_into_urls_rules_and_entry_points(pool):
    assert re.fullmatch('[a-z][a-z0-9]*', pool.name)


def test_the_schema_of_an_enrolment_is_closed_and_leaves_properties_to_the_api(pool):
    jsonschema.Draft202012Validator.check_schema(pool.enrol_schema)
    assert pool.enrol_schema['additionalProperties'] is False
    assert 'properties' not in pool.enrol_schema['properties']


def test_a_pool_shows_its_own_fields_only_even_without_facts(pool):
    shown = pool.shown(records.Resource(1, pool.name, 'x', {}))
    assert isinstance(shown, dict)
    assert not COMMON & set(shown)


def test_one_pool_can_be_cleared_and_no_criteria_find_its_hosts_by_name():
    [pool] = [each for each in POOLS.values() if issubclass(each, clearable.Clearable)]
    assert pool.name_fact in pool.identifying_names
    assert pool.identifying_names <= {pool.name_fact, *pool.fact_names}
    assert pool.cleared_by
