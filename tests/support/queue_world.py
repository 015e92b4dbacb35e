# SPDX-License-Identifier: Apache-2.0
"""Two managers with one wait queue, and a slow plain check of each lease that is served."""
import collections
import contextlib
import dataclasses
import datetime
import itertools

import sqlalchemy as sa

from climate.db import engine
from climate.db import tables
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager.events import loop
from support import builders

_LEASES, _RESERVATIONS = tables.LEASES.c, tables.RESERVATIONS.c
_ACQUISITIONS, _EVENTS = tables.ACQUISITIONS.c, tables.EVENTS.c
_SOUGHT = (
    sa.select(_LEASES.id, _LEASES.state, _LEASES.start, _LEASES.end, _ACQUISITIONS.type,
              _ACQUISITIONS.priority, _ACQUISITIONS.created_at, _ACQUISITIONS.duration_seconds,
              _ACQUISITIONS.not_after, _RESERVATIONS.id.label('reservation_id'),
              _RESERVATIONS.request)
    .join_from(tables.LEASES, tables.ACQUISITIONS, _ACQUISITIONS.lease_id == _LEASES.id)
    .join(tables.RESERVATIONS, _RESERVATIONS.lease_id == _LEASES.id)
    .where(_ACQUISITIONS.type.in_(acquire.QUEUED), ~sa.exists().where(
        _EVENTS.lease_id == _LEASES.id, _EVENTS.kind == event_kinds.DELETE),
        _LEASES.deleted_at.is_(None)))
_SERVED = (
    sa.select(_LEASES.id).join_from(tables.LEASES, tables.ACQUISITIONS)
    .where(_LEASES.state == lifecycle.PENDING, _ACQUISITIONS.type.in_(acquire.QUEUED)))


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The rows of the database at one moment.

    :ivar sought: {lease id: row} of all that wait or have waited, and are not deleted.
    :ivar hosts: the rows of the hosts that are in use.
    :ivar allocations: {host id: rows of the allocations that count}.
    """

    sought: dict
    hosts: list
    allocations: dict

    @property
    def queue(self):
        """The rows of those that wait, in their order."""
        return sorted((each for each in self.sought.values()
                       if each.state == lifecycle.ACQUIRING), key=place)

    def has(self, row):
        """Return the number of hosts allocated to a lease."""
        return sum(given.reservation_id == row.reservation_id and given.released_at is None
                   for given in itertools.chain(*self.allocations.values()))

    def free_for(self, row, now, cleaning, without=frozenset()):
        """Return the number of hosts that a lease could get from `now` on.

        :param without: ids of reservations whose allocations count for nothing.
        """
        own = {row.reservation_id, *without}
        end = row.end if row.duration_seconds is None else (
            now + datetime.timedelta(seconds=row.duration_seconds))
        return sum(host.held_by in {None, *own} and all(
            given.reservation_id in own or given.end + cleaning <= now
            or given.start >= end + cleaning for given in self.allocations[host.id])
            for host in self.hosts)

    def could_have(self, row, now, cleaning, without=frozenset()):
        """Return whether a waiting lease could get all that it needs; the first takes more."""
        given_up_at = row.end if row.duration_seconds is None else row.not_after
        if given_up_at is not None and given_up_at <= now:
            return False
        queue = self.queue
        if queue[0].id == row.id:
            without = {*without, *(each.reservation_id for each in queue)}
        return self.free_for(row, now, cleaning, without) >= row.request['min']


def place(row):
    """The place of a lease in the queue, to be sorted by."""
    return -row.priority, row.created_at, row.id


def look(database):
    """The Snapshot of a database."""
    with database.reader() as connection:
        sought = connection.execute(_SOUGHT).all()
        hosts = connection.execute(
            sa.select(tables.RESOURCES.c.id, tables.RESOURCES.c.held_by)
            .where(tables.RESOURCES.c.reservable.is_(True))).all()
        given = connection.execute(sa.select(tables.ALLOCATIONS)).all()
    allocations = collections.defaultdict(list)
    for each in given:
        if each.released_at is None or each.released_at >= each.end:
            allocations[each.resource_id].append(each)
    return Snapshot({row.id: row for row in sought}, hosts, allocations)


class Watched(engine.Database):
    """A database that calls `before` and `after` around each transaction that writes."""

    def __init__(self, url):
        super().__init__(url)
        self.before = self.after = lambda: None

    @contextlib.contextmanager
    def writer(self):
        self.before()
        with super().writer() as connection:
            yield connection
        self.after()


class Idler(builders.Manager):
    """A manager that claims in one step and carries out in another."""

    def __init__(self, first):
        super().__init__(first.core.conf, first.database, first.clock, first.cloud)
        # The clock of its process goes on while it does nothing.
        self.core = dataclasses.replace(self.core,
                                        monotonic=lambda: first.clock().timestamp())
        self.claimed = []
        self.event_loop = loop.EventLoop(
            self.core, 'another manager', lambda work, claim: self.claimed.append((work, claim)))

    def claim(self):
        self.event_loop.tick(self.clock())

    def finish(self):
        while self.claimed:
            work, claim = self.claimed.pop(0)
            work(claim)


class Queue:
    """The wait queue on a watched database.

    :param cleaning: as [manager] cleaning_minutes says.
    :ivar served: how many that wait, or came new, got what they asked for.
    """

    def __init__(self, conf, database, cleaning):
        self.database = database
        self.cleaning = cleaning
        self.clock = builders.Clock()
        self.first = builders.Manager(conf, database, self.clock)
        self.second = Idler(self.first)
        self.served = 0
        self._known = set()
        database.after = self._judge

    def settle(self):
        """Run both managers until no work is due or postponed."""
        for _ in range(60):
            self.second.finish()
            self.first.run()
            if not self._unsettled():
                return
            self.clock.advance(builders.seconds(1))
        raise AssertionError(f'It does not come to rest: {self._unsettled()}')

    def check_at_rest(self, looked=False):
        """Check that nothing is allocated twice, and that no lease waits for free resources.

        :param looked: each that waits was tried by the clock just now, too.
        """
        snapshot = look(self.database)
        for given in snapshot.allocations.values():
            given.sort(key=lambda each: each.start)
            for one, other in itertools.pairwise(given):
                assert one.end + self.cleaning <= other.start, (one, other)
        if looked or not self.cleaning:
            for row in snapshot.queue:
                assert (row.type == acquire.RETRIES and self.cleaning) or not snapshot.could_have(
                    row, self.clock(), self.cleaning), f'{row} waits for nothing.'
        return snapshot

    def _judge(self):
        """Check that a lease served in the last transaction took nothing from one before it."""
        with self.database.reader() as connection:
            known = set(connection.execute(_SERVED).scalars())
        new, self._known = known - self._known, known
        if not new:
            return
        snapshot = look(self.database)
        for lease_id in new & set(snapshot.sought):
            served = snapshot.sought[lease_id]
            self.served += 1
            # Only its own allocations were written with it.
            for row in snapshot.queue:
                assert place(row) > place(served) or not snapshot.could_have(
                    row, served.start, self.cleaning, {served.reservation_id}), (
                    f'{served} took what {row} could have had.')

    def _unsettled(self):
        with self.database.reader() as connection:
            return connection.execute(sa.select(tables.EVENTS).where(
                _EVENTS.status.in_((lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)),
                sa.or_(_EVENTS.due_at <= self.clock(), _EVENTS.waits > 0,
                       _EVENTS.status == lifecycle.EVENT_IN_PROGRESS))).all()
