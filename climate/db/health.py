# SPDX-License-Identifier: Apache-2.0
"""The health of resources in the database, and the leases of resources that are not well."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import health
from climate.domain import lifecycle

ALLOCATIONS = tables.ALLOCATIONS
HEALTH = tables.RESOURCE_HEALTH
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
_COLUMNS = tables.columns(HEALTH, health.ResourceHealth)


def find(connection, resource_ids):
    """Return {resource id: ResourceHealth}. A resource without a row was always well."""
    ids = list(resource_ids)
    rows = connection.execute(sa.select(*_COLUMNS).where(HEALTH.c.resource_id.in_(ids)))
    stored = {row.resource_id: health.ResourceHealth(*row) for row in rows}
    return {key: stored.get(key) or health.ResourceHealth(key) for key in ids}


def put(connection, resource_health, now):
    """Store a ResourceHealth, and its verdict in the row of the resource, which must be locked."""
    values = vars(resource_health)
    is_resource = HEALTH.c.resource_id == resource_health.resource_id
    done = connection.execute(sa.update(HEALTH).where(is_resource).values(**values))
    # MariaDB does not count a row as updated if its values stay the same.
    if done.rowcount == 0 and connection.execute(
            sa.select(HEALTH.c.resource_id).where(is_resource)).first() is None:
        connection.execute(sa.insert(HEALTH).values(**values))
    verdict = resource_health.verdict(now)
    connection.execute(
        sa.update(RESOURCES).where(RESOURCES.c.id == resource_health.resource_id)
        .values(health_state=verdict.state, health_reason=verdict.reason,
                generation=RESOURCES.c.generation + 1))


def counts(connection):
    """Return {(pool, state): number of enrolled resources} of those that are not well."""
    rows = connection.execute(
        sa.select(RESOURCES.c.pool, RESOURCES.c.health_state, sa.func.count())
        .where(RESOURCES.c.health_state != health.WELL, RESOURCES.c.withdrawn_at.is_(None))
        .group_by(RESOURCES.c.pool, RESOURCES.c.health_state))
    return {(pool, state): count for pool, state, count in rows}


def sick_ids(connection):
    """Return the sorted ids of the enrolled resources that are not well."""
    return list(connection.execute(
        sa.select(RESOURCES.c.id)
        .where(RESOURCES.c.health_state != health.WELL, RESOURCES.c.withdrawn_at.is_(None))
        .order_by(RESOURCES.c.id)).scalars())


def not_well(connection):
    """Return the sorted ids of the enrolled resources that are not well or out of use.

    Resources that are lent to a lease are left out, because they are in use.
    """
    return list(connection.execute(
        sa.select(RESOURCES.c.id)
        .where(sa.or_(RESOURCES.c.health_state != health.WELL, RESOURCES.c.reservable.is_(False)),
               RESOURCES.c.withdrawn_at.is_(None), RESOURCES.c.lent_to.is_(None))
        .order_by(RESOURCES.c.id)).scalars())


def future_leases(connection, resource_ids, after, until):
    """Return the leases that have one of the resources and start between two moments.

    :returns: {lease id: {resource id}}, in the order of the starts.
    """
    rows = connection.execute(
        sa.select(LEASES.c.id, ALLOCATIONS.c.resource_id)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)),
               ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end > after,
               ALLOCATIONS.c.start <= until, LEASES.c.start > after,
               LEASES.c.state == lifecycle.PENDING)
        .order_by(LEASES.c.start, LEASES.c.id))
    by_lease = {}
    for lease_id, resource_id in rows:
        by_lease.setdefault(lease_id, set()).add(resource_id)
    return by_lease
