# SPDX-License-Identifier: Apache-2.0
"""The absences of enrolled resources: spans in which a resource is out of service or asleep."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import utilisation

ABSENCES = tables.RESOURCE_ABSENCES
RESOURCES = tables.RESOURCES


def begin(connection, resource_id, kind, now):
    """Record that an absence of a resource begins, unless an absence of this kind is open.

    The caller has changed the row of the resource in the same transaction, so no other transaction
    begins the same absence.

    :param kind: one of ``utilisation.ABSENCES`` or ``utilisation.CAUSES``.
    """
    is_open = connection.execute(sa.select(ABSENCES.c.id).where(*_open(resource_id, kind))).first()
    if is_open is None:
        connection.execute(sa.insert(ABSENCES).values(resource_id=resource_id, kind=kind,
                                                      start=now))


def end(connection, resource_id, kind, now):
    """Record that the open absence of a resource of this kind, if there is one, ends."""
    connection.execute(sa.update(ABSENCES).where(*_open(resource_id, kind)).values(end=now))


def touching(connection, start, end):
    """Return {resource id: [(kind, start, end or None)]} of absences between two moments.

    The kinds are ``utilisation.ABSENCES``; absences of one kind may overlap.
    """
    return {resource_id: [
        (utilisation.OUT_OF_ORDER if kind in utilisation.CAUSES else kind, *span)
        for kind, *span in spans]
        for resource_id, spans in with_causes(connection, start, end).items()}


def with_causes(connection, start, end, pool=None, most=None):
    """Return the absences like `touching`, but keep the kinds of ``utilisation.CAUSES``.

    :param pool: only absences of the enrolled resources of this pool; None: of all resources.
    :param most: the maximum number of absences; None: all.
    """
    statement = sa.select(ABSENCES).where(ABSENCES.c.start < end, sa.or_(
        ABSENCES.c.end.is_(None), ABSENCES.c.end > start)).order_by(ABSENCES.c.id).limit(most)
    if pool is not None:
        statement = statement.join(RESOURCES, RESOURCES.c.id == ABSENCES.c.resource_id).where(
            RESOURCES.c.pool == pool, RESOURCES.c.withdrawn_at.is_(None))
    spans = collections.defaultdict(list)
    for row in connection.execute(statement):
        spans[row.resource_id].append((row.kind, row.start, row.end))
    return spans


def _open(resource_id, kind):
    return (ABSENCES.c.resource_id == resource_id, ABSENCES.c.kind == kind,
            ABSENCES.c.end.is_(None))
