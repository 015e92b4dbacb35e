# SPDX-License-Identifier: Apache-2.0
"""The names of the owners of leases: taken from tokens, kept up to date, and purged."""

import dataclasses

import pytest
import sqlalchemy as sa
from support import builders

from climate import context
from climate.db import migrate
from climate.db import tables
from climate.domain import records
from climate.manager import owner_names

NAMES = tables.OWNER_NAMES


def _anna(user_name='Anna', project_name='red'):
    return context.RequestContext(
        user_id='u1', user_name=user_name, project_id='p1', project_name=project_name,
        roles=['member', 'reader'], overwrite=False)


@pytest.fixture
def stored(manager):
    """callable(): {(kind, id): name} of the names in the database."""
    def read():
        with manager.database.reader() as connection:
            return {(row.kind, row.id): row.name for row in connection.execute(sa.select(NAMES))}
    return read


def _lease(**fields):
    return dataclasses.replace(builders.a_lease(**fields), reservations=())


def test_a_new_lease_stores_the_names_of_its_token(manager, stored):
    lease = manager.create(_lease(), _anna())
    assert stored() == {('user', 'u1'): 'Anna', ('project', 'p1'): 'red'}
    assert (lease.user_name, lease.project_name) == ('Anna', 'red')
    listed = manager.client.list_leases(builders.an_admin(), records.LeaseQuery())
    assert [(each.user_name, each.project_name) for each in listed] == [('Anna', 'red')]


def test_a_later_name_replaces_the_earlier_one(manager, stored):
    lease = manager.create(_lease(), _anna())
    changed = manager.client.update_lease(
        _anna('Anne'), lease.id, records.LeaseChanges(name='other'))
    assert changed.user_name == 'Anne'
    assert stored()['user', 'u1'] == 'Anne'


def test_a_token_without_names_keeps_the_known_ones(manager, stored):
    manager.create(_lease(), _anna())
    manager.create(_lease(), _anna(None, None))
    manager.create(_lease(), _anna('x' * 256, 'blue'))
    assert stored() == {('user', 'u1'): 'Anna', ('project', 'p1'): 'blue'}


def test_a_user_and_a_project_may_have_the_same_id(manager, stored):
    caller = _anna()
    caller.project_id = 'u1'
    lease = manager.create(_lease(), caller)
    assert stored() == {('user', 'u1'): 'Anna', ('project', 'u1'): 'red'}
    assert manager.client.get_lease(caller, lease.id).user_name == 'Anna'


def test_a_refused_request_names_nobody_in_a_list(manager):
    with pytest.raises(Exception, match='host'):
        manager.create(builders.a_lease(), _anna())
    assert manager.client.list_leases(builders.an_admin(), records.LeaseQuery()) == []


def test_a_purge_removes_the_names_of_those_without_leases(manager, stored):
    lease = manager.create(_lease(), _anna())
    manager.create(_lease(end=builders.at(99)), _another('u2', 'Ben'))
    manager.client.delete_lease(_anna(), lease.id)
    manager.run_until(builders.at(9))
    migrate.purge(manager.database, builders.at(8))
    assert stored() == {('user', 'u2'): 'Ben', ('project', 'p1'): 'red'}


def test_a_name_that_a_purge_removed_is_stored_again_later(manager, stored, monkeypatch):
    lease = manager.create(_lease(), _anna())
    manager.client.delete_lease(_anna(), lease.id)
    manager.run_until(builders.at(9))
    migrate.purge(manager.database, builders.at(8))
    assert stored() == {}
    monkeypatch.setattr(owner_names, '_KNOWN_SECONDS', -1)
    manager.create(_lease(start=builders.at(10), end=builders.at(11)), _anna())
    assert stored() == {('user', 'u1'): 'Anna', ('project', 'p1'): 'red'}


def _another(user_id, user_name):
    caller = _anna(user_name)
    caller.user_id = user_id
    return caller
