# SPDX-License-Identifier: Apache-2.0
"""The facts of a lease that determine its price, read from the database."""
import collections
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import allocations
from climate.db import late_cancels
from climate.db import later_asks
from climate.db import resource_properties
from climate.db import resources
from climate.db import tables
from climate.db import use_samples
from climate.domain import acquire
from climate.domain import lease_pricing
from climate.domain import unused_hours
from climate.domain import use_sampling

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS

_HOUR = datetime.timedelta(hours=1)
_LEASE = (
    sa.select(LEASES.c.project_id, LEASES.c.start, LEASES.c.created_at, LEASES.c.asked_at,
              LEASES.c.acquire_type, LEASES.c.generation, ACQUISITIONS.c.priority)
    .join_from(LEASES, ACQUISITIONS, ACQUISITIONS.c.lease_id == LEASES.c.id, isouter=True)
    .where(LEASES.c.id == sa.bindparam('of_lease')))
_RESERVATIONS = (sa.select(RESERVATIONS.c.id, RESERVATIONS.c.resource_type,
                           RESERVATIONS.c.started_at, RESERVATIONS.c.billed_as)
                 .where(RESERVATIONS.c.lease_id == sa.bindparam('of_lease')))
_STARTED = _RESERVATIONS.where(RESERVATIONS.c.started_at.is_not(None))


@dataclasses.dataclass(frozen=True)
class PricedLease:
    """A lease with the facts that determine its price."""

    project_id: str
    generation: int
    subject: lease_pricing.Subject
    properties: dict


def read(connection, lease_id, names, known=(), planned=False):
    """Return the PricedLease of a lease; None if there is no such lease.

    :param names: the names of the properties that determine rates.
    :param known: {resource id as text: {name: text}} of resources that were billed before.
    :param planned: whether to include reservations that have not started.
    """
    lease = connection.execute(_LEASE, {'of_lease': lease_id}).one_or_none()
    if lease is None:
        return None
    owners = {row.id: row for row in connection.execute(
        _RESERVATIONS if planned else _STARTED, {'of_lease': lease_id})}
    rows = list(connection.execute(
        sa.select(ALLOCATIONS).where(ALLOCATIONS.c.reservation_id.in_(sorted(owners)),
                                     allocations.COUNTS, ALLOCATIONS.c.start < ALLOCATIONS.c.end)
        .order_by(ALLOCATIONS.c.id))) if owners else []
    pools, properties = described(connection, {row.resource_id for row in rows}, names, known)
    idle = _idle(connection, rows)
    items = [lease_pricing.PricedItem(
        owners[row.reservation_id].billed_as or row.reservation_id,
        owners[row.reservation_id].resource_type, pools[row.resource_id],
        lease_pricing.charged_from(row.start, owners[row.reservation_id].started_at),
        row.end, row.copies, item_properties(properties, row.resource_id),
        row.promised_until, idle[row.reservation_id, row.resource_id], row.resource_id,
        row.whole) for row in rows]
    return PricedLease(lease.project_id, lease.generation, lease_pricing.Subject(
        lease.start, lease.asked_at or lease.created_at,
        tuple(unused_hours.with_unused_copies([item for item in items if item.start < item.end])),
        lease.priority or 0, lease.acquire_type == acquire.BEST_EFFORT,
        later_asks.of_lease(connection, lease_id),
        late_cancels.of_lease(connection, lease_id)), properties)


def described(connection, ids, names, known=()):
    """Return the pools of resources, and the properties that determine their rates.

    :param ids: the ids of the resources, including withdrawn ones.
    :param names: the names of the properties that determine rates.
    :param known: {resource id as text: {name: text}} of properties that were read before. Only
        other properties are read from the database.
    :returns: ({resource id: pool}, {resource id as text: {name: text}}); the text is None if the
        resource did not have the property when it was read.
    """
    pools = ({resource.id: resource.pool for resource in resources.with_ids(connection, ids)}
             if ids else {})
    known = dict(known)
    properties = {str(key): {**dict.fromkeys(names), **known.get(str(key), {})} for key in ids}
    for pool in sorted(set(pools.values())):
        unread = {key: names - known.get(str(key), {}).keys() for key in ids
                  if pools[key] == pool}
        values = resource_properties.values_of(
            connection, pool, frozenset().union(*unread.values()),
            sorted(key for key, missing in unread.items() if missing))
        for key, texts in values.items():
            properties[str(key)] |= {name: texts[name] for name in unread[key] & texts.keys()}
    return pools, properties


def item_properties(properties, resource_id):
    """Return the properties of a resource, as `described` returns them, for a PricedItem."""
    return tuple(sorted((name, text) for name, text in properties[str(resource_id)].items()
                        if text is not None))


def _idle(connection, rows):
    """Return {(reservation id, resource id): the measured idle Intervals}.

    Several allocations in one hour share its idle seconds: these are counted from the first moment
    of the hour with an allocation.
    """
    by_owner = collections.defaultdict(tuple)
    if not rows:
        return by_owner
    spans = collections.defaultdict(list)
    for row in rows:
        spans[row.reservation_id, row.resource_id].append((row.start, row.end))
    for reservation_id, resource_id, hour, sample in use_samples.by_hour(
            connection, {row.reservation_id for row in rows},
            min(row.start for row in rows) - _HOUR, max(row.end for row in rows)):
        key = reservation_id, resource_id
        by_owner[key] += tuple(use_sampling.idle_spans(hour, sample.idle_seconds, spans[key]))
    return by_owner
