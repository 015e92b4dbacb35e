# SPDX-License-Identifier: Apache-2.0
"""Invariants of what one member can leave in the database, or take from others."""
import collections
import datetime

import sqlalchemy as sa

from climate.db import migrate
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import forecast
from climate.domain import health
from climate.domain import lifecycle
from climate.manager.booking import refused_demand

#: The tables that keep rows after a purge: what administrators and the cloud itself have, what is
#: paid by, and sums.
KEPT = frozenset({
    'audits', 'billing_months', 'bills', 'change_counts', 'clock_confirmations', 'failed_bills',
    'limit_books', 'maintenance_resources', 'maintenance_windows', 'maintenances', 'managers',
    'outbox', 'pool_hours', 'power_changes', 'power_states', 'price_books', 'properties',
    'property_values', 'resource_absences', 'resource_health', 'resources', 'statement_lines',
    'usage_days', 'wait_queue', 'work_slots'})
_AGES = datetime.timedelta(days=4000)
#: The most bytes of one recorded refusal, whatever was asked for.
_MOST_BYTES = 4096
_WAITING = {event_kinds.ACQUIRE, event_kinds.HEAL}


def what_is_over_keeps_nothing(recorded, now):
    """An allocation that keeps a resource from others is of a lease that goes on, or is an offer.

    The end of a lease that Climate works on, or that was given up, still has what it must return.
    """
    for given in recorded.allocations:
        reservation = recorded.reservations.get(given.reservation_id)
        if reservation is None or given.released_at is not None or given.end <= now:
            continue
        lease = recorded.leases[reservation.lease_id]
        assert lease.state not in lifecycle.OVER, f'{given} is kept for {lease}, which is over.'


def no_member_quarantines(recorded, blamed):
    """A resource is in quarantine only if an administrator or monitoring said that it is broken.

    :param blamed: the ids of the resources of which they said so.
    """
    for each in recorded.resources.values():
        assert each.health_state != health.QUARANTINED or each.id in blamed, (
            f'The word of one member put {each} into quarantine.')


def free_for_others(recorded, own, now):
    """Return what others than the owner of some leases may have: facts, and what is allocated.

    Leases that wait may get their resources at any moment, and are left out.

    :param own: the ids of the leases.
    :returns: ({resource id: its facts}, Counter of allocations).
    """
    facts = {key: (dict(each.capacity), each.reservable, each.lent_to, each.withdrawn_at,
                   each.health_state) for key, each in recorded.resources.items()}
    passed_over = own | {lease_id for lease_id in recorded.leases if _WAITING & {
        event.kind for event in recorded.open_events(lease_id)}}
    taken = collections.Counter()
    for given in recorded.allocations:
        reservation = recorded.reservations.get(given.reservation_id)
        if given.released_at is None and given.end > now and (
                reservation is None or reservation.lease_id not in passed_over):
            taken[given.reservation_id, given.resource_id, given.start, given.end] += given.copies
    return facts, taken


def refusals_are_few_and_small(database, most):
    """A project keeps at most `most` refused requests, each of a few bytes."""
    kept = collections.Counter()
    with database.reader() as connection:
        for row in connection.execute(sa.select(tables.REFUSALS)):
            kept[row.project_id] += 1
            size = len(repr(row._mapping))
            assert size <= _MOST_BYTES, f'A refused request leaves {size} bytes: {row}'
    assert all(count <= most for count in kept.values()), kept


def no_refusal_moves_a_forecast_by_more_than_the_pool(manager, admin, pools):
    """Without the refused requests each hour differs by at most the pool for each project."""
    rows = _refusals(manager.database)
    projects = {row['project_id'] for row in rows}
    told = {pool: _forecast(manager, admin, pool) for pool in pools}
    with manager.database.writer() as connection:
        connection.execute(sa.delete(tables.REFUSALS))
    for pool in pools:
        enrolled = _ever_enrolled(manager.database, pool)
        for hour, without in zip(told[pool].hours, _forecast(manager, admin, pool).hours,
                                 strict=True):
            moved = hour.expected - without.expected
            assert moved <= enrolled * len(projects) + 1e-6, (
                f'{pool}, {hour.start}: {len(projects)} projects were refused, which moves the '
                f'forecast from {without.expected} to {hour.expected} of {enrolled}.')
    if rows:
        with manager.database.writer() as connection:
            connection.execute(sa.insert(tables.REFUSALS), rows)
    return len(rows)


def _refusals(database):
    with database.reader() as connection:
        return [dict(row._mapping) for row in connection.execute(sa.select(tables.REFUSALS))]


def _forecast(manager, admin, pool):
    return manager.client.forecast(admin, forecast.ForecastQuery(pool))


def _ever_enrolled(database, pool):
    with database.reader() as connection:
        return connection.execute(sa.select(sa.func.count()).where(
            tables.RESOURCES.c.pool == pool)).scalar()


def a_purge_leaves_nothing_of_members(core, now):
    """After the retention no table has a row that grew with the requests of members."""
    later = now + _AGES
    refused_demand.delete_old(core, later)
    migrate.purge(core.database, later)
    with core.database.reader() as connection:
        left = {table.name: count for table in tables.METADATA.sorted_tables
                if table.name not in KEPT and (count := connection.execute(
                    sa.select(sa.func.count()).select_from(table)).scalar())}
    assert not left, left
