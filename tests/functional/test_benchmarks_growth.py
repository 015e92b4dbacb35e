# SPDX-License-Identifier: Apache-2.0
"""The parts of the benchmark of growth: copies of a lease, and rows that a statement reads."""
import pytest
import sqlalchemy as sa
from support import builders

from benchmarks import examined
from benchmarks import history
from climate.db import leases
from climate.db import tables
from climate.domain import lifecycle

COPIES = 400


@pytest.fixture
def ended(conf, database):
    """A lease that is over, and the ids of the hosts."""
    manager = builders.Manager(conf, database, builders.Clock())
    hosts = [host.id for host in manager.enrol(4)]
    made = manager.book()
    manager.run()
    manager.run_until(builders.at(2))
    with database.reader() as connection:
        return leases.get(connection, made.id), hosts


def _looked_at(database, statement):
    with examined.counted(database) as found, database.reader() as connection:
        connection.execute(statement).all()
    return found.total()


def test_copies_of_a_lease_have_all_that_it_had_at_another_time(database, ended):
    lease, hosts = ended
    history.multiply(database, lease, 8, hosts)
    with database.reader() as connection:
        found = leases.mentioned(connection, set(connection.execute(
            sa.select(tables.LEASES.c.id)).scalars()))
    assert len(found) == 9
    for copy in found:
        assert copy.state == lifecycle.TERMINATED
        assert copy.end - copy.start == lease.end - lease.start
        assert ({event.kind: event.status for event in copy.events}
                == {event.kind: event.status for event in lease.events})
    times = [(reservation.resource_ids, each.start)
             for each in found for reservation in each.reservations]
    assert len(set(times)) == len(times), 'one host at one time, twice'


def test_the_benchmark_separates_what_reads_all_history_from_what_does_not(database, ended):
    if database.dialect not in examined.DIALECTS:
        pytest.skip('It does not report the rows that it reads.')
    lease, hosts = ended
    finds = sa.select(tables.LEASES).where(tables.LEASES.c.id == lease.id)
    reads_all = sa.select(tables.LEASES).where(tables.LEASES.c.reason == 'nobody')
    before = _looked_at(database, finds), _looked_at(database, reads_all)
    history.multiply(database, lease, COPIES, hosts)
    after = _looked_at(database, finds), _looked_at(database, reads_all)
    assert after[0] <= before[0] + 20
    assert after[1] >= before[1] + COPIES


def test_the_rows_that_a_write_reads_are_counted_before_it_is_done_once(database, ended):
    if database.dialect not in examined.DIALECTS:
        pytest.skip('It does not report the rows that it reads.')
    lease, _ = ended
    count_up = (sa.update(tables.LEASES).where(tables.LEASES.c.id == lease.id)
                .values(claim_no=tables.LEASES.c.claim_no + 1))
    with examined.counted(database) as found, database.writer() as connection:
        connection.execute(count_up)
    assert found.total()
    with database.reader() as connection:
        assert leases.get(connection, lease.id).claim_no == lease.claim_no + 1
