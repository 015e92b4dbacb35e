# SPDX-License-Identifier: Apache-2.0
"""Properties of resources and their values in the database."""
import concurrent.futures
import threading

import pytest
from support import db_rows

from climate.db import resource_properties
from climate.db import resources

NOON, hours = db_rows.NOON, db_rows.hours
set_properties = db_rows.set_properties


def test_values_are_set_replaced_and_taken_away(database, ids):
    set_properties(database, ids[0], {'rack': '7', 'color': 'red'})
    set_properties(database, ids[0], {'rack': '8', 'color': None, 'nothing': None})
    with database.reader() as connection:
        assert resources.get(connection, 'host', ids[0]).properties == {'rack': '8'}
        assert resource_properties.names(connection, 'host') == (
            {'rack', 'color', 'nothing'}, set())
        assert resource_properties.names(connection, 'other') == (set(), set())


@pytest.mark.parametrize('text', ['nan', 'inf', '-Infinity', '1e999', '9' * 400, '', ' 7 ', '1_0',
                                  '0x10', '\U0001f680', 'x' * 60000])
def test_any_text_can_be_a_value(database, ids, text):
    set_properties(database, ids[0], {'odd': text})
    with database.reader() as connection:
        assert resource_properties.values_of(connection, 'host', {'odd'})[ids[0]] == {'odd': text}


def test_properties_are_listed_with_every_value_that_differs(database, ids):
    for resource_id, color in zip(ids, ('red', 'Red', 'red'), strict=True):
        set_properties(database, resource_id, {'color': color})
    set_properties(database, ids[0], {'rack': '7', 'unused': None})
    set_properties(database, ids[0], {'traits': 'A'}, fact=True)
    with database.reader() as connection:
        color, rack = resource_properties.find(connection, 'host')
        assert (color.name, sorted(color.values)) == ('color', ['Red', 'red'])
        assert (rack.name, rack.values, rack.private) == ('rack', ('7',), False)
        assert resource_properties.find(connection, 'other') == []
        assert resource_properties.named(connection, 'host', 'unused').values == ()
        assert resource_properties.named(connection, 'host', 'traits') is None
        assert resource_properties.named(connection, 'host', 'COLOR') is None


def test_values_of_withdrawn_resources_are_not_listed(database, ids):
    set_properties(database, ids[0], {'color': 'red'})
    with database.writer() as connection:
        resources.withdraw(connection, ids[0], NOON)
        assert resource_properties.find(connection, 'host') == []


def test_a_property_is_made_private(database, ids):
    set_properties(database, ids[0], {'rack': '7'})
    with database.writer() as connection:
        found = resource_properties.named(connection, 'host', 'rack')
        resource_properties.set_private(connection, found.id, True, NOON + hours(1))
        after = resource_properties.named(connection, 'host', 'rack')
        assert resource_properties.names(connection, 'host') == (set(), {'rack'})
    assert (after.private, after.updated_at) == (True, NOON + hours(1))


def test_values_of_names_are_found_for_some_or_all_resources(database, ids):
    set_properties(database, ids[0], {'rack': '7', 'color': 'red'})
    set_properties(database, ids[1], {'rack': '8'})
    with database.reader() as connection:
        assert resource_properties.values_of(connection, 'host', {'rack'}) == {
            ids[0]: {'rack': '7'}, ids[1]: {'rack': '8'}}
        assert resource_properties.values_of(connection, 'host', {'rack', 'color'}, ids[:1]) == {
            ids[0]: {'rack': '7', 'color': 'red'}}
        assert resource_properties.values_of(connection, 'host', set()) == {}


def test_two_who_bring_the_same_new_property_at_once_both_succeed(database, ids):
    began = threading.Event()

    def second():
        with db_rows.another(database) as other:
            began.set()
            set_properties(other, ids[1], {'rack': '8', 'zone': 'z'})

    with database.writer() as connection:
        resource_properties.set_values(connection, 'host', ids[0], {'rack': '7'}, NOON)
        waiting = db_rows.on_a_thread(second)
        assert began.wait(30)
        concurrent.futures.wait([waiting], timeout=0.3)
    waiting.result(60)
    with database.reader() as connection:
        assert resource_properties.values_of(connection, 'host', {'rack', 'zone'}) == {
            ids[0]: {'rack': '7'}, ids[1]: {'rack': '8', 'zone': 'z'}}
