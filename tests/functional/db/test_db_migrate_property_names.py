# SPDX-License-Identifier: Apache-2.0
"""An upgrade renames properties to the composed form of Unicode, in which criteria name them."""
import datetime

import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows

from climate.db import bills
from climate.db import migrate
from climate.db import price_books
from climate.db import resource_properties
from climate.db import tables
from climate.domain import prices

NOON = db_rows.NOON
COMPOSED, DECOMPOSED = 'gr\u00f6\u00dfe', 'gro\u0308\u00dfe'
# The same letter with its two marks in each order.
OTHER_ORDERS = 'x\u0323\u0307', 'x\u0307\u0323'


@pytest.fixture
def hosts(database):
    """The ids of three hosts in the tables before the migration."""
    builders.drop_everything(database)
    migrate.upgrade(database, '0038')
    return [db_rows.host_in_old_table(database, name) for name in 'abc']


def values(database, name):
    with database.reader() as connection:
        by_id = resource_properties.values_of(connection, 'host', {name})
    return {key: found[name] for key, found in by_id.items()}


def names(database):
    with database.reader() as connection:
        return resource_properties.names(connection, 'host')


def test_a_property_gets_the_composed_name_and_keeps_its_values(database, hosts):
    db_rows.set_properties(database, hosts[0], {DECOMPOSED: '3', 'rack': '7'})
    migrate.upgrade(database)
    assert names(database) == ({COMPOSED, 'rack'}, set())
    assert values(database, COMPOSED) == {hosts[0]: '3'}


@pytest.mark.parametrize('first', [COMPOSED, DECOMPOSED])
def test_two_properties_of_one_look_become_one_and_the_composed_one_wins(database, hosts, first):
    for name in (first, *{COMPOSED, DECOMPOSED} - {first}):
        db_rows.set_properties(database, hosts[2], {name: name})
    db_rows.set_properties(database, hosts[0], {DECOMPOSED: '1'})
    db_rows.set_properties(database, hosts[1], {COMPOSED: '2'})
    migrate.upgrade(database)
    assert names(database) == ({COMPOSED}, set())
    assert values(database, COMPOSED) == {hosts[0]: '1', hosts[1]: '2', hosts[2]: COMPOSED}


def test_two_properties_of_which_neither_is_composed_become_one(database, hosts):
    for name in OTHER_ORDERS:
        db_rows.set_properties(database, hosts[0], {name: 'value'})
    migrate.upgrade(database)
    [[name], _] = names(database)
    assert values(database, name) == {hosts[0]: 'value'}


def test_a_property_is_private_if_either_was(database, hosts):
    for name in (COMPOSED, DECOMPOSED):
        db_rows.set_properties(database, hosts[0], {name: '1'})
    with database.writer(counted=False) as connection:
        private = resource_properties.named(connection, 'host', DECOMPOSED)
        resource_properties.set_private(connection, private.id, True, NOON)
    migrate.upgrade(database)
    assert names(database) == (set(), {COMPOSED})


def test_names_of_other_pools_and_names_without_room_stay(database, hosts):
    # 64 characters, whose composed form has 128.
    long = '\u0958' * 64
    db_rows.set_properties(database, hosts[0], {long: '1'})
    db_rows.set_properties(database, hosts[0], {DECOMPOSED: '2'}, pool='other')
    db_rows.set_properties(database, hosts[1], {COMPOSED: '3'})
    migrate.upgrade(database)
    assert names(database) == ({COMPOSED, long}, set())
    assert values(database, COMPOSED) == {hosts[1]: '3'}
    with database.reader() as connection:
        assert resource_properties.names(connection, 'other') == ({COMPOSED}, set())


@pytest.mark.proof
@pytest.mark.parametrize(('rates', 'kept'), [
    ([{DECOMPOSED: '3'}, {}], [{COMPOSED: '3'}, {}]),
    ([{DECOMPOSED: '3'}, {COMPOSED: '4'}, {}], [{COMPOSED: '3'}, {COMPOSED: '4'}, {}]),
    # As one, these would make the book ambiguous.
    ([{DECOMPOSED: '3'}, {COMPOSED: '3'}, {}], None),
    ([{DECOMPOSED: '3', COMPOSED: '3'}, {}], None)])
def test_rates_and_bills_name_the_property_as_before(database, hosts, rates, kept):
    db_rows.set_properties(database, hosts[0], {DECOMPOSED: '3'})
    document = {'currency': 'EUR', 'rates': [
        {'rate': '1', **({'properties': rate} if rate else {})} for rate in rates]}
    with database.writer(counted=False) as connection:
        price_books.add(connection, prices.StoredBook(
            1, 'EUR', NOON, document, NOON, 'climate'))
        connection.execute(sa.insert(tables.BILLS).values(
            lease_id='a', billed_until=NOON + datetime.timedelta(hours=1), generation=0,
            properties={'1': {DECOMPOSED: '3', 'rack': None}, '2': {
                COMPOSED: None, DECOMPOSED: '5'}}))
    migrate.upgrade(database)
    with database.reader() as connection:
        [book] = price_books.every(connection)
        bill = bills.get(connection, 'a')
    assert [rate.get('properties', {}) for rate in book.document['rates']] == (kept or rates)
    assert bill.properties == {'1': {COMPOSED: '3', 'rack': None}, '2': {COMPOSED: '5'}}
