# SPDX-License-Identifier: Apache-2.0
"""Resources that were returned for waiting leases, in the database.

They have allocations, so that no other lease gets them. A booking for a waiting lease ignores these
allocations, and deletes those of the resources that it takes.
"""
import dataclasses

from oslo_utils import uuidutils
import sqlalchemy as sa

from climate.db import acquisitions
from climate.db import allocations
from climate.db import series_occurrences
from climate.db import tables

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
GIVEN_BACK = tables.GIVEN_BACK

# The statement is built once, because it runs with each attempt of a waiting lease.
_IDS = sa.select(GIVEN_BACK.c.id)
_ANY_WOKEN = sa.select(ACQUISITIONS.c.lease_id).where(
    acquisitions.IS_QUEUED, ACQUISITIONS.c.wakes != ACQUISITIONS.c.heard).limit(1)


def keep(connection, given, until):
    """Keep the resources of Allocations that were just released for waiting leases.

    :param until: when all leases may get them, at the latest.
    """
    block_id = uuidutils.generate_uuid()
    connection.execute(sa.insert(GIVEN_BACK).values(id=block_id, until=until))
    allocations.add(connection, [dataclasses.replace(
        each, reservation_id=block_id, promised_until=None) for each in given])


def ids(connection):
    """Return the ids that the allocations of returned resources have."""
    return list(connection.execute(_IDS).scalars())


def take(connection, resource_ids):
    """Release returned resources, because a waiting lease gets them, or a part of them."""
    known = ids(connection)
    if known:
        allocations.delete(connection, known, resource_ids)


def close(connection, now):
    """Make the resources free for all leases soon, if no waiting lease is still to be tried."""
    if ids(connection) and connection.execute(_ANY_WOKEN).first() is None and not (
            series_occurrences.any_to_retry(connection, now)):
        connection.execute(sa.update(GIVEN_BACK).where(GIVEN_BACK.c.until > now)
                           .values(until=now))


def over(connection, now):
    """Return the ids of the resources that all leases may get from now on."""
    return list(connection.execute(_IDS.where(GIVEN_BACK.c.until <= now)
                                   .order_by(GIVEN_BACK.c.id)).scalars())


def release(connection, block_id):
    """Release what is left; return whether this transaction did it."""
    allocations.delete(connection, [block_id])
    return connection.execute(
        sa.delete(GIVEN_BACK).where(GIVEN_BACK.c.id == block_id)).rowcount == 1
