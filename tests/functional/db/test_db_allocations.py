# SPDX-License-Identifier: Apache-2.0
"""Allocations in the database, with history, outbox and managers."""
from support import db_rows

from climate.db import allocations
from climate.db import journal
from climate.db import managers
from climate.domain import selection
from climate.domain import texts

NOON, hours = db_rows.NOON, db_rows.hours
span = db_rows.span
TABLE = allocations.ALLOCATIONS


def test_bookings_say_what_others_have_each_copy_once(database, ids, lease):
    db_rows.allocate(
        database, db_rows.allocation(lease, ids[0]),
        db_rows.allocation(lease, ids[1], whole=False, amount={'vcpus': 2}, copies=3),
        db_rows.allocation(lease, ids[2], released_at=NOON))
    with database.reader() as connection:
        found = allocations.bookings(connection, ids, span(0.5, 2))
        assert found == {ids[0]: [(span(0, 1), selection.WHOLE)],
                         ids[1]: [(span(0, 1), {'vcpus': 2})] * 3}
        assert not allocations.bookings(connection, ids, span(1, 2))
        assert not allocations.bookings(connection, ids, span(-1, 0))
        assert not allocations.bookings(connection, [], span(0, 1))
        assert not allocations.bookings(connection, ids, span(0, 1),
                                        ignoring=[lease.reservations[0].id])


def test_allocations_of_a_reservation_come_by_resource_without_released_ones(database, ids,
                                                                             lease):
    given = [db_rows.allocation(lease, ids[1], whole=False, amount={'vcpus': 1}, copies=2),
             db_rows.allocation(lease, ids[0])]
    db_rows.allocate(database, *given, db_rows.allocation(lease, ids[2], released_at=NOON))
    with database.writer() as connection:
        allocations.add(connection, [])
        assert allocations.of_reservations(connection, [lease.reservations[0].id]) == [
            given[1], given[0]]


def test_a_cut_ends_what_runs_voids_what_is_to_come_and_leaves_what_is_over(database, ids, lease):
    now = NOON + hours(3)
    db_rows.allocate(
        database, db_rows.allocation(lease, ids[0]),
        db_rows.allocation(lease, ids[0], NOON + hours(2), NOON + hours(4)),
        db_rows.allocation(lease, ids[1], now, NOON + hours(5)))
    with database.writer() as connection:
        allocations.cut(connection, [lease.reservations[0].id], now)
    assert db_rows.stored_allocations(database, TABLE) == [
        (ids[0], NOON, NOON + hours(1), False),
        (ids[0], NOON + hours(2), now, False),
        (ids[1], now, NOON + hours(5), True)]
    with database.reader() as connection:
        assert not allocations.bookings(connection, ids, span(3, 9))


def test_a_cut_of_named_resources_marks_them_as_given_back(database, ids, lease):
    now = NOON + hours(0.5)
    db_rows.allocate(database, *[db_rows.allocation(lease, each) for each in ids])
    with database.writer() as connection:
        allocations.cut(connection, [lease.reservations[0].id], now, set())
        allocations.cut(connection, [lease.reservations[0].id], now, {ids[0], ids[2]})
    assert db_rows.stored_allocations(database, TABLE) == [
        (ids[0], NOON, now, True), (ids[1], NOON, NOON + hours(1), False),
        (ids[2], NOON, now, True)]


def test_a_change_is_written_to_the_named_allocations_that_still_count(database, ids, lease):
    db_rows.allocate(database, db_rows.allocation(lease, ids[0]), db_rows.allocation(lease, ids[1]),
                     db_rows.allocation(lease, ids[2], released_at=NOON))
    with database.writer() as connection:
        allocations.change(connection, [lease.reservations[0].id], [ids[0], ids[2]],
                           end=NOON + hours(7))
    assert [end for _, _, end, _ in db_rows.stored_allocations(database, TABLE)] == [
        NOON + hours(7), NOON + hours(1), NOON + hours(1)]


def test_allocations_are_deleted_by_reservation_or_resource_unless_released(database, ids, lease):
    db_rows.allocate(database, db_rows.allocation(lease, ids[0]), db_rows.allocation(lease, ids[1]),
                     db_rows.allocation(lease, ids[2], released_at=NOON))
    mine = [lease.reservations[0].id]
    for which, left in (({ids[0]}, ids[1:]), (None, ids[2:])):
        with database.writer() as connection:
            allocations.delete(connection, mine, which)
        assert [row[0] for row in db_rows.stored_allocations(database, TABLE)] == left


def test_requests_on_a_resource_are_those_of_now_and_later(database, ids):
    past, running = db_rows.a_lease(start=NOON - hours(3)), db_rows.a_lease()
    db_rows.saved(database, past, running)
    db_rows.allocate(database, db_rows.allocation(past, ids[0]),
                     db_rows.allocation(running, ids[0]),
                     db_rows.allocation(running, ids[1], released_at=NOON))
    with database.reader() as connection:
        assert allocations.requests_on(connection, ids[0], NOON) == [
            (running.reservations[0].id, 'physical:host', {'min': 1, 'max': 1})]
        assert allocations.requests_on(connection, ids[1], NOON) == []


def test_the_history_of_a_lease_is_in_order(database):
    with database.writer() as connection:
        for lease_id, what in (('one', 'create'), ('two', 'create'), ('one', 'delete')):
            journal.note(connection, lease_id, NOON, 'demo', what, texts.Text('seen', 'why'))
        assert [(line.at, line.who, line.what, line.why, line.owner_why)
                for line in journal.history(connection, 'one')] == [
            (NOON, 'demo', 'create', 'why', 'seen'), (NOON, 'demo', 'delete', 'why', 'seen')]


def test_the_history_of_a_lease_is_told_piece_by_piece(database):
    with database.writer() as connection:
        for number in range(5):
            journal.note(connection, 'one', NOON, 'demo', f'{number}')
            journal.note(connection, 'two', NOON, 'demo', 'other')
        seen, marker = [], None
        while found := journal.history(connection, 'one', marker, 2):
            assert len(found) <= 2
            seen += [line.what for line in found]
            marker = found[-1].id
    assert seen == ['0', '1', '2', '3', '4']


def test_a_user_cannot_make_the_history_of_a_lease_longer_without_end(database):
    most = journal.MOST_OF_A_KIND
    with database.writer() as connection:
        journal.note(connection, 'one', NOON, 'demo', 'create')
        journal.note_limited(connection, 'two', NOON, 'demo', 'rename', texts.same('other'))
        journal.note_each(connection, 'one', NOON, 'demo', 'rename', [
            texts.same(str(number)) for number in range(most)])
        for number in range(3):
            journal.note_limited(connection, 'one', NOON, 'demo', 'rename',
                                 texts.same(str(most + number)))
        journal.note_limited(connection, 'one', NOON, 'demo', 'update')
        told = journal.history(connection, 'one')
        assert [line.what for line in told] == ['create', *['rename'] * most, 'update']
        assert [line.why for line in told[1:-1]] == [str(3 + number) for number in range(most)]
        assert len(journal.history(connection, 'two')) == 1


def test_an_entry_equal_to_the_last_of_its_kind_is_not_added(database):
    with database.writer() as connection:
        for lease_id, what, why in (
                ('one', 'no plan', 'a'), ('one', 'move', 'x'), ('one', 'no plan', 'a'),
                ('two', 'no plan', 'a'), ('one', 'no plan', None), ('one', 'no plan', None),
                ('one', 'no plan', 'a')):
            journal.note_if_new(connection, lease_id, NOON, 'climate', what,
                                why and texts.same(why))
        assert [line.why for line in journal.history(connection, 'one')] == ['a', 'x', None, 'a']
        assert len(journal.history(connection, 'two')) == 1
        for minute in range(3):
            journal.note_if_new(connection, 'two', NOON, 'climate', 'attempt',
                                texts.same(f'It fits from 2030-05-01 12:0{minute} UTC.'))
        assert len(journal.history(connection, 'two')) == 2


def test_news_are_claimed_oldest_first_by_one_sender_until_they_are_sent(database):
    def unsent(owner, at, limit=9):
        with database.writer() as connection:
            return journal.unsent(connection, owner, NOON + hours(at), NOON + hours(at + 1),
                                  limit)
    with database.writer() as connection:
        assert not journal.has_unsent(connection)
        for name in 'abc':
            journal.publish(connection, NOON, name, [{'name': name}])
    # The bus gets only what subscriptions have.
    assert unsent('me', 0) == []
    with database.writer() as connection:
        journal.fanned_out(connection, journal.lock_not_fanned_out(connection, 9))
    first = unsent('me', 0, 2)
    assert [each[1:] for each in first] == [('a', {'name': 'a'}), ('b', {'name': 'b'})]
    assert [each[1] for each in unsent('you', 0)] == ['c']
    assert unsent('you', 0.5) == []
    with database.writer() as connection:
        journal.sent(connection, [each[0] for each in first])
        journal.sent(connection, [])
        assert journal.has_unsent(connection)
    assert [each[1] for each in unsent('me', 1)] == ['c']


def test_managers_are_seen_and_forgotten(database):
    with database.writer() as connection:
        for name, at in (('one', 0), ('two', 1), ('one', 2)):
            managers.seen(connection, name, 'host', NOON, NOON + hours(at), at)
        assert [(each.id, each.running) for each in managers.every(connection)] == [
            ('one', 2), ('two', 1)]
        managers.forget(connection, NOON + hours(2))
        assert [each.id for each in managers.every(connection)] == ['one']
        managers.gone(connection, 'one')
        assert managers.every(connection) == []
