# SPDX-License-Identifier: Apache-2.0
"""Stories of usage: idle leases, closed days, bills."""
import sqlalchemy as sa
from support import billing_cases
from support import billing_truths
from support import builders

from climate.db import events
from climate.db import leases
from climate.db import managers
from climate.db import tables
from climate.db import usage_days
from climate.db import use_samples
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import ledger
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import use_sampling
from climate.manager.billing import biller
from climate.manager.idle import rules
from climate.manager.usage import days
from stories import base
from stories import hosts


class EndOfIdle(base.Story):
    """An idle lease of two hosts is reclaimed."""

    name = 'end of an idle lease'
    action = 'end'

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, builders.hosts(1, 2))
        base.wait_for_start(manager)
        hour = use_sampling.hour_of(manager.core.clock())
        keys = rules.sample_keys(base.lease(manager))
        with manager.database.writer() as connection:
            for back in range(-2, 26):
                use_samples.add(connection, hour - builders.hours(back), dict.fromkeys(
                    keys, use_sampling.Sample(3600, 3600, 0)))

    def act(self, manager):
        manager.core.conf.set_override('action', self.action, group='idle')
        now = manager.core.clock()
        with manager.database.writer() as connection:
            lease = leases.get(connection, base.LEASE)
            if lease.event(event_kinds.RECLAIM) is None:
                leases.change(connection, lease, now, idle_since=builders.NOON, reclaim_at=now)
                events.change(connection, base.LEASE, lease_events.reclaimed(lease, now), now)

    is_over = hosts.End.is_over


class ShrinkOfIdle(EndOfIdle):
    name = 'shrink of an idle lease'
    action = 'shrink'

    def is_over(self, manager):
        return base.is_done(manager, event_kinds.RECLAIM)


class Bill(base.Story):
    """Two ended leases are billed, one of them in a month that is over."""

    name = 'bill'
    host_count = 2
    dies_at_commits = True

    def arrange(self, manager):
        super().arrange(manager)
        now = manager.core.clock()
        month = ledger.begin_of(ledger.month_of(now))
        spans = {base.LEASE: (month - builders.hours(24), now - builders.seconds(1)),
                 base.OTHER: (month - builders.hours(5), month - builders.hours(2))}
        _live_and_end(manager, spans)
        manager.client.create_price_book(builders.an_admin(), None, billing_cases.BOOK)
        with manager.database.writer() as connection:
            connection.execute(sa.update(tables.PRICE_BOOKS).values(
                valid_from=month - builders.hours(48)))
            # Days are closed by another story.
            managers.take_slot(connection, 'usage', _midnight(now) - builders.hours(24))

    def act(self, manager):
        manager.core.conf.set_override('close_days', 0, group='billing')
        while biller.Biller(manager.core).bill(manager.core.clock()):
            continue

    def is_over(self, manager):
        return bool(billing_truths.closed_months(manager.database))


class CloseOfDays(base.Story):
    """Three days of usage are closed."""

    name = 'close of days'
    host_count = 2
    dies_at_commits = True

    def arrange(self, manager):
        super().arrange(manager)
        midnight = _midnight(manager.core.clock())
        _live_and_end(manager, {
            base.LEASE: (midnight - builders.hours(64), midnight - builders.hours(19)),
            base.OTHER: (midnight - builders.hours(30), midnight - builders.hours(12))})

    def act(self, manager):
        days.close(manager.database, manager.core.clock(), most=None)

    def is_over(self, manager):
        with manager.database.reader() as connection:
            return usage_days.closed_until(connection) is not None


def _midnight(now):
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _live_and_end(manager, spans):
    """Run leases of one host to their end, and move them into the past.

    :param spans: {lease id: (start, end)}.
    """
    for lease_id in spans:
        base.create(manager, builders.hosts(1), lease_id=lease_id)
    base.wait_for(manager, lambda: all(
        base.lease(manager, lease_id).state == lifecycle.ACTIVE for lease_id in spans))
    manager.clock.advance(builders.seconds(5))
    for lease_id in spans:
        manager.client.update_lease(builders.a_member(), lease_id,
                                    records.LeaseChanges(end_now=True))
    base.wait_for(manager, lambda: all(
        base.lease(manager, lease_id).ended_at is not None
        and base.is_done(manager, 'drop_trust', lease_id) for lease_id in spans))
    with manager.database.writer() as connection:
        for lease_id, (start, end) in spans.items():
            reservations = [row.id for row in connection.execute(sa.select(
                tables.RESERVATIONS.c.id).where(tables.RESERVATIONS.c.lease_id == lease_id))]
            for table, key, values in (
                    (tables.LEASES, tables.LEASES.c.id == lease_id,
                     {'created_at': start, 'start': start, 'end': end, 'ended_at': end}),
                    (tables.RESERVATIONS, tables.RESERVATIONS.c.lease_id == lease_id,
                     {'started_at': start}),
                    (tables.HISTORY, tables.HISTORY.c.lease_id == lease_id, {'at': start}),
                    (tables.ALLOCATIONS, tables.ALLOCATIONS.c.reservation_id.in_(reservations),
                     {'start': start, 'end': end, 'promised_until': None})):
                connection.execute(sa.update(table).where(key).values(**values))
