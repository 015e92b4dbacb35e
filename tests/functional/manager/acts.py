# SPDX-License-Identifier: Apache-2.0
"""Actions of these tests on a manager, and readers of its database and its cloud."""
import contextlib
import dataclasses

import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import engine
from climate.db import journal
from climate.db import tables
from climate.domain import records
from climate.manager import core
from climate.manager.events import loop

NO = errors.CloudError(service='Nova', reason='no')


def asked(reservation, **request):
    """The changed fields of one reservation, as LeaseChanges takes them."""
    return (records.ReservationRequest(None, request, id=reservation.id),)


def disable(manager, host):
    """Take a host out of use, as an administrator does before a repair."""
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=False)


def enable(manager, host):
    """Take a host into use again."""
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=True)


def dummy():
    """A ReservationRequest for nothing."""
    return records.ReservationRequest('virtual:dummy', {})


def named(host):
    """The criterion that picks one host."""
    return f'["=", "$hypervisor_hostname", "{host.name}"]'


def nova(manager):
    return manager.cloud.as_service().nova


def freepool(manager):
    """The hosts that nobody has in the cloud."""
    return nova(manager).aggregate('freepool').hosts


def aggregate(manager, lease, place=0):
    """The aggregate of a reservation of the lease, or None."""
    return nova(manager).aggregate(lease.reservations[place].id)


def trusts(manager):
    return manager.cloud.as_service().keystone.trusts()


def holders(manager):
    """{resource id: reservation that occupies it}, of those that are occupied."""
    return {each.id: each.held_by
            for each in manager.client.list_resources(builders.an_admin(), 'host')
            if each.held_by is not None}


def news(manager):
    """The types of the notifications that wait, in order."""
    with manager.database.reader() as connection:
        return list(connection.execute(
            sa.select(tables.OUTBOX.c.event_type).order_by(tables.OUTBOX.c.id)).scalars())


def news_as_text(manager):
    """All that the notifications that wait say."""
    with manager.database.reader() as connection:
        return str(connection.execute(sa.select(tables.OUTBOX.c.payload)).all())


def history(manager, lease):
    """Return the history of a lease, in order."""
    with manager.database.reader() as connection:
        return [row.what for row in journal.history(connection, lease.id)]


def everything(manager):
    """All rows that users' wishes end up in, to see that nothing changed."""
    with manager.database.reader() as connection:
        return {table.name: [tuple(row) for row in connection.execute(sa.select(table))]
                for table in (tables.LEASES, tables.RESERVATIONS, tables.EVENTS,
                              tables.ALLOCATIONS, tables.OUTBOX, tables.HISTORY)}


def is_clean(manager, hosts):
    """True where nothing is left of any lease: all hosts free, no servers, no trusts."""
    names = [each.name for each in nova(manager).aggregates()]
    return (names == ['freepool'] and len(freepool(manager)) == hosts and not holders(manager)
            and not manager.cloud.servers() and not trusts(manager))


@contextlib.contextmanager
def meddling(manager, before_writer):
    """Yield a second Manager on the same database and cloud; see `Meddling`."""
    database = Meddling(manager.database.engine.url)
    database.before_writer = before_writer
    try:
        yield builders.Manager(manager.core.conf, database, manager.clock, manager.cloud)
    finally:
        database.dispose()


def no_writer():
    """Fail, because a use case that only reads has opened a transaction for writing."""
    raise AssertionError('A transaction for writing was opened.')


class Meddling(engine.Database):
    """A database where others do something at a moment of a test's choice.

    :ivar before_writer: called once, before the next transaction for writing begins.
    """

    before_writer = None

    @contextlib.contextmanager
    def writer(self):
        meddle, self.before_writer = self.before_writer, None
        if meddle is not None:
            meddle()
        with super().writer() as connection:
            yield connection


class Breaking(engine.Database):
    """A database that breaks transactions at their end, as one does that ends a deadlock.

    :ivar breaks: how many of the next ones.
    :ivar spares: how many it leaves alone before these.
    """

    breaks = 1
    spares = 0

    @contextlib.contextmanager
    def writer(self):
        with super().writer() as connection:
            yield connection
            if self.spares:
                self.spares -= 1
            elif self.breaks:
                self.breaks -= 1
                raise errors.LostRace()


class Second(builders.Manager):
    """Another manager on the same database and the same cloud.

    :ivar submitted: (function, argument) pairs of claimed events, to be run by a test.
    :ivar seconds: what its process says how much time went by; it stands until it is set.
    """

    def __init__(self, first, database=None, owner='another manager'):
        self.clock = first.clock
        self.cloud = first.cloud
        self.database = database or first.database
        self.seconds = 0
        self.core = dataclasses.replace(first.core, database=self.database,
                                        monotonic=lambda: self.seconds)
        assert isinstance(self.core, core.Core)
        self.client = first.client
        self.submitted = []
        self.event_loop = loop.EventLoop(
            self.core, owner, lambda work, claim: self.submitted.append((work, claim)))

    def claim(self):
        """Claim what is due and do nothing yet; returns how many events."""
        return self.event_loop.tick(self.clock())

    def finish(self):
        """Carry out what was claimed."""
        waiting, self.submitted = self.submitted, []
        for work, claim in waiting:
            work(claim)


def claimed_start(manager, *reservations, owner, hosts=1):
    """Create a lease of three hours; returns it and another manager that has claimed its start."""
    manager.enrol(hosts)
    lease = manager.book(*reservations, end=builders.at(3))
    second = Second(manager, owner=owner)
    second.claim()
    return lease, second


def sought(manager, kind, *reservations, caller=None, hours=4, **fields):
    """Return a lease of that acquisition type, for a number of hours from its start."""
    return manager.create(builders.a_lease(
        *reservations, duration_seconds=hours * 3600,
        acquire=records.AcquireRequest(kind, **fields)), caller)


def end(manager, lease):
    """End a lease now, with all consequences at this moment."""
    manager.change(lease, end_now=True)
    manager.run()


def told(manager, lease):
    """The history of a lease as its owner reads it."""
    return manager.client.lease_history(builders.a_member(), lease.id)
