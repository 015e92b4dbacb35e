# SPDX-License-Identifier: Apache-2.0
"""An import from Blazar writes leases in bulk: its statements do not grow with the leases."""
import collections
import re

from support import builders

TABLES = ('leases', 'reservations', 'events', 'allocations', 'trusts', 'history')
# MariaDB quotes the name of the table "history".
_WRITTEN = re.compile(r'(INSERT INTO|DELETE FROM|UPDATE) `?(\w+)')


def writes(statements):
    """The number of statements that write each table of leases, by (verb, table)."""
    matches = filter(None, map(_WRITTEN.match, statements))
    return collections.Counter(
        match.groups() for match in matches if match.group(2) in TABLES)


def inserts(count):
    """The expected numbers for a count of batches."""
    return dict.fromkeys((('INSERT INTO', table) for table in TABLES), count)


def test_a_batch_of_leases_is_written_with_one_statement_for_each_table(imported):
    with builders.statements() as found:
        imported()
    assert writes(found) == {**inserts(1), ('UPDATE', 'reservations'): 1}


def test_the_number_of_statements_grows_with_the_batches_of_leases(imported, blazar):
    blazar.execute("UPDATE leases SET status = 'PENDING' WHERE status = 'ACTIVE'")
    blazar.execute("UPDATE reservations SET status = 'pending' WHERE status = 'active'")
    with builders.statements() as found:
        imported(at_once=5)
    # One batch has only leases that lost their hosts.
    assert writes(found) == {**inserts(3), ('INSERT INTO', 'allocations'): 2}


def test_unchanged_leases_need_no_statement_that_writes(imported):
    imported()
    with builders.statements() as found:
        _, counts = imported()
    assert counts.unchanged == 15
    assert not writes(found)


def test_changed_leases_are_replaced_with_one_statement_for_each_table(imported, blazar):
    imported()
    blazar.execute("UPDATE leases SET name = 'renamed ' || name")
    with builders.statements() as found:
        _, counts = imported()
    assert counts.updated == 15
    # The database deletes reservations and events with their leases.
    assert writes(found) == {
        **inserts(1), ('UPDATE', 'reservations'): 1,
        **dict.fromkeys((('DELETE FROM', table) for table in (
            'allocations', 'trusts', 'history', 'leases')), 1)}


def test_leases_of_which_climate_acts_on_some_are_replaced_together(manager, imported, blazar):
    imported()
    [(kept,)] = blazar.execute("SELECT id FROM leases WHERE name = 'l-inst-pending'")
    manager.client.delete_lease(builders.an_admin(), kept)
    blazar.execute("UPDATE leases SET name = 'renamed ' || name")
    _, counts = imported()
    assert (counts.updated, counts.kept, counts.added) == (14, 1, 0)
