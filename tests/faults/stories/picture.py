# SPDX-License-Identifier: Apache-2.0
"""The final state of the cloud and of the database after a story, without random names."""
import datetime
import itertools
import re
import uuid

import sqlalchemy as sa
from support import billing_truths
from support import builders

from climate.db import journal
from climate.db import subscriptions
from climate.db import tables
from climate.domain import notification_kinds
from climate.domain import subscriptions as subscribed
from climate.manager.audit import comparison
from climate.manager.leases import early_creations
from climate.manager.leases import trust_reaper
from climate.manager.notifications import fan_out
from stories import base

_GROUP = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_AGES = datetime.timedelta(days=900)


def subscribe(manager):
    """Subscribe the project of the stories to all notifications about its leases.

    Mail cannot be sent here, so each notification stays in the database.
    """
    with manager.database.writer() as connection:
        subscriptions.add(connection, subscribed.Subscription(
            id=str(uuid.UUID(int=9)), project_id='demo', user_id='demo', scope=subscribed.PROJECT,
            transport=subscribed.MAIL, address='ann@example.org',
            events=notification_kinds.CHOSEN, before_end=(),
            created_at=builders.NOON), place=0)


def _notifications(manager):
    """Return the notifications for the subscriber, as (kind, event type)."""
    fan_out.fan_out(manager.core, manager.core.clock())
    with manager.database.reader() as connection:
        return sorted((row.kind, row.content['event_type']) for row in connection.execute(
            sa.select(tables.DELIVERIES.c.kind, tables.DELIVERIES.c.content)))


def take(manager):
    """Return the final state of the cloud and of the database, without random names.

    First the reaper deletes the trusts that no lease has, as it does after a while. `drift` is
    the result of an audit after that; it must be empty.
    """
    reaper = trust_reaper.TrustReaper(manager.core)
    reaper.reap(manager.core.clock())
    reaper.reap(manager.core.clock() + _AGES)
    early_creations.EarlyCreationReaper(manager.core).reap(manager.core.clock() + _AGES)
    with manager.database.reader() as connection:
        made = list(connection.execute(sa.select(tables.RESERVATIONS.c.id).order_by(
            tables.RESERVATIONS.c.lease_id, tables.RESERVATIONS.c.position)).scalars())
        names = {key: f'reservation {place}' for place, key in enumerate(made)}
        names |= dict.fromkeys(connection.execute(
            sa.select(tables.MAINTENANCE_WINDOWS.c.id)).scalars(), 'a window')
        found = {
            'leases': [_without_chance(row) for row in connection.execute(
                sa.select(tables.LEASES).order_by(tables.LEASES.c.id)).mappings()],
            'reservations': connection.execute(sa.select(
                tables.RESERVATIONS.c.position, tables.RESERVATIONS.c.state,
                tables.RESERVATIONS.c.resources_changed)
                .order_by(tables.RESERVATIONS.c.position)).all(),
            'events': sorted(tuple(row) for row in connection.execute(
                sa.select(tables.EVENTS.c.kind, tables.EVENTS.c.status))),
            'resources': [(row.name, row.reservable, names.get(row.held_by, row.held_by),
                           row.withdrawn_at is not None, row.health_state)
                          for row in connection.execute(
                              sa.select(tables.RESOURCES).order_by(tables.RESOURCES.c.id))],
            'properties': sorted(tuple(row) for row in connection.execute(
                sa.select(tables.PROPERTY_VALUES.c.resource_id,
                          tables.PROPERTY_VALUES.c.text))),
            'promises': sorted(
                (names.get(row.reservation_id, row.reservation_id), row.resource_id,
                 row.released_at is not None)
                for row in connection.execute(sa.select(tables.ALLOCATIONS))),
            'statements': [tuple(row)[:-1] for row in connection.execute(
                sa.select(tables.STATEMENT_LINES).order_by(
                    tables.STATEMENT_LINES.c.lease_id, tables.STATEMENT_LINES.c.number))],
            'months': [(row.month, row.closed_at is not None) for row in connection.execute(
                sa.select(tables.BILLING_MONTHS).order_by(tables.BILLING_MONTHS.c.month))],
            'usage': sorted(tuple(row)[1:] for row in connection.execute(
                sa.select(tables.USAGE_DAYS))),
            'hours': sorted((row.hour, row.pool, row.occupied) for row in connection.execute(
                sa.select(tables.POOL_HOURS))),
            # The number of tries depends on time.
            'history': [what for what, _ in itertools.groupby(
                row.what for row in journal.history(connection, base.LEASE))],
        }
    found['notifications'] = _notifications(manager)
    billing_truths.statements_are_right(manager.database)
    found['drift'] = comparison.Auditor(manager.core).compare()
    return {key: list(map(str, value)) for key, value in (found | _of_cloud(
        manager, names)).items()}


def _of_cloud(manager, names):
    services = manager.cloud.as_service()
    return {
        'aggregates': sorted(
            (names.get(each.name, each.name), str(each.zone)[:8], each.hosts,
             _named(sorted(each.metadata.items()), names))
            for each in services.nova.aggregates()),
        'room': [(key, sorted(_named(row, names) for row in rows))
                 for key, rows in sorted(manager.cloud.leftovers().items())],
        'servers': sorted((each.name, each.host) for each in manager.cloud.servers()),
        'trusts': [each.trustor_id for each in services.keystone.trusts()],
    }


def _named(value, names):
    """Return a value as text, with names for ids of reservations and without ids of groups."""
    text = str(value)
    for key, name in names.items():
        text = text.replace(key, name).replace(key.upper().replace('-', '_'), name)
    return _GROUP.sub('a group', text)


def _without_chance(row):
    kept = ('id', 'state', 'task', 'reason', 'degraded')
    return {name: row[name] for name in kept} | {
        name: row[name] is not None for name in ('trust_id', 'ended_at', 'deleted_at')}
