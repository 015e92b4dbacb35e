# SPDX-License-Identifier: Apache-2.0
"""Claims of leases in the database: taken, shown, held, lost."""
import dataclasses
import threading

import pytest
from support import db_rows

from climate import errors
from climate.db import lease_claims
from climate.db import leases
from climate.domain import lifecycle
from climate.domain import texts

NOON, hours = db_rows.NOON, db_rows.hours
get = db_rows.lease_of


def take(database, lease, owner='me', task='start'):
    """The lease as it is after it was claimed for a task."""
    with database.writer() as connection:
        [taken] = lease_claims.take_for(connection, [lease], owner, task, NOON + hours(1), NOON)
        return taken


def test_a_claim_is_counted_and_changes_nothing_that_users_see(database, lease):
    with database.writer() as connection:
        [taken] = lease_claims.take(connection, [lease], 'me')
    assert get(database, lease) == taken == dataclasses.replace(lease, claim_no=1)


def test_a_task_is_begun_held_and_ended(database, lease):
    taken = take(database, lease)
    assert get(database, lease) == dataclasses.replace(taken, updated_at=NOON)
    assert taken.generation == lease.generation + 1
    with database.writer() as connection:
        lease_claims.hold_task(connection, [taken], NOON + hours(2))
    assert get(database, lease).task_at(NOON + hours(1.5)) == 'start'
    with database.writer() as connection:
        lease_claims.end_task(connection, taken, NOON, lifecycle.ACTIVE, None)
    ended = get(database, lease)
    assert (ended.state, ended.task, ended.task_until) == (lifecycle.ACTIVE, None, None)


def test_a_claim_for_the_task_that_is_shown_already_changes_nothing_that_users_see(database, lease):
    first = take(database, lease)
    with database.writer() as connection:
        lease_claims.hold_task(connection, [first], NOON)
    before = get(database, lease)
    with database.writer() as connection:
        [again] = lease_claims.take_for(connection, [before], 'you', 'start', NOON + hours(3),
                                        NOON + hours(2))
    assert get(database, lease) == again == dataclasses.replace(
        before, claim_no=before.claim_no + 1, task_until=NOON + hours(3))


def test_leases_with_and_without_the_task_are_claimed_together(database, lease):
    shown = take(database, lease)
    other = db_rows.saved(database, db_rows.a_lease())
    with database.writer() as connection:
        taken = lease_claims.take_for(connection, [shown, other], 'you', 'start',
                                      NOON + hours(3), NOON)
    assert {each.id: each.generation for each in taken} == {
        shown.id: shown.generation, other.id: other.generation + 1}
    assert {each.id for each in taken} == {lease.id, other.id}
    with database.reader() as connection:
        assert all(leases.get(connection, each.id).generation == each.generation
                   for each in taken)


def test_leases_are_claimed_all_or_none(database, lease):
    other = db_rows.saved(database, db_rows.a_lease())
    take(database, lease)
    with pytest.raises(errors.LostRace), database.writer() as connection:
        lease_claims.take(connection, [lease, other], 'you')
    assert get(database, other).claim_no == 0


def test_a_manager_that_was_overtaken_writes_nothing(database, lease):
    mine = take(database, lease)
    yours = take(database, mine, 'you', 'end')
    before = get(database, lease)
    for write in (
            lambda connection: lease_claims.hold_task(connection, [mine], NOON + hours(9)),
            lambda connection: lease_claims.take_for(connection, [mine], 'me', 'start',
                                                     NOON + hours(9), NOON),
            lambda connection: lease_claims.end_task(connection, mine, NOON, lifecycle.ERROR,
                                                     texts.same('late'))):
        with pytest.raises(errors.LostRace), database.writer() as connection:
            write(connection)
    assert get(database, lease) == before
    with database.writer() as connection:
        assert lease_claims.lock(connection, [mine]) == {}
        assert lease_claims.lock(connection, [yours]) == {lease.id: yours.generation}
        lease_claims.end_task(connection, yours, NOON, lifecycle.TERMINATED, None)
    assert get(database, lease).state == lifecycle.TERMINATED


def test_a_rename_meanwhile_does_not_lose_the_end_of_a_task(database, lease):
    taken = take(database, lease)
    with database.writer() as connection:
        leases.change(connection, taken, NOON, name='renamed')
        lease_claims.end_task(connection, taken, NOON, lifecycle.ACTIVE, None)
    assert get(database, lease).name == 'renamed'


def test_a_task_ends_once(database, lease):
    taken = take(database, lease)
    with database.writer() as connection:
        lease_claims.end_task(connection, taken, NOON, lifecycle.ACTIVE, None)
    with pytest.raises(errors.LostRace), database.writer() as connection:
        lease_claims.end_task(connection, taken, NOON, lifecycle.ERROR,
                              texts.same('again'))


def test_leases_that_others_have_locked_are_passed_over(database, lease):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has one writer: nobody can have locked anything.')
    other = db_rows.saved(database, db_rows.a_lease())
    locked, done = threading.Event(), threading.Event()

    def lock():
        with database.writer() as connection:
            leases.lock(connection, lease.id)
            locked.set()
            done.wait(30)
    somebody = threading.Thread(target=lock)
    somebody.start()
    assert locked.wait(30)
    with database.writer() as connection:
        free = leases.lock_free(connection, [lease.id, other.id])
    done.set()
    somebody.join()
    assert free == {other.id: get(database, other)}


def test_claims_of_no_leases_need_no_statement(database):
    with database.writer() as connection:
        assert leases.lock_free(connection, []) == {}
        assert lease_claims.take(connection, [], 'me') == []
