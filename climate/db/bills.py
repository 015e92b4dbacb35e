# SPDX-License-Identifier: Apache-2.0
"""Which leases are to be billed, and what of them decides about the price."""
import collections
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import allocations
from climate.db import later_asks
from climate.db import resource_properties
from climate.db import resources
from climate.db import tables
from climate.db import use_samples
from climate.domain import acquire
from climate.domain import ledger
from climate.domain import pricing
from climate.domain import unused
from climate.domain import use

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
BILLS = tables.BILLS
BOOKS = tables.PRICE_BOOKS
FAILED = tables.FAILED_BILLS
LEASES = tables.LEASES
MONTHS = tables.BILLING_MONTHS
RESERVATIONS = tables.RESERVATIONS

_HOUR = datetime.timedelta(hours=1)
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_MONTH = sa.bindparam('month', type_=tables.UtcDateTime)
_AFTER = sa.bindparam('after', type_=tables.UtcDateTime)

# What was never billed, has changed or ended since, or runs on from a past month that is not
# billed.
_NEW = sa.or_(
    BILLS.c.lease_id.is_(None), BILLS.c.generation != LEASES.c.generation,
    sa.and_(ALLOCATIONS.c.end <= _NOW, ALLOCATIONS.c.end > BILLS.c.billed_until),
    sa.and_(ALLOCATIONS.c.start < _MONTH, BILLS.c.billed_until < _MONTH))
# The index on the end of allocations finds these. What ended before the last closed month is not
# read, so the cost does not grow with the history.
_UNBILLED = (
    sa.select(LEASES.c.id).distinct()
    .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
    .outerjoin(BILLS, BILLS.c.lease_id == LEASES.c.id)
    .where(ALLOCATIONS.c.end >= _AFTER, ALLOCATIONS.c.start < _NOW,
           # What does not count any more may have been billed.
           sa.or_(sa.and_(allocations.COUNTS, RESERVATIONS.c.started_at.is_not(None)),
                  BILLS.c.lease_id.is_not(None)),
           sa.or_(ALLOCATIONS.c.end <= _NOW, ALLOCATIONS.c.start < _MONTH), _NEW,
           # These are tried again by their own table.
           ~sa.exists().where(FAILED.c.lease_id == LEASES.c.id))
    .order_by(LEASES.c.id).limit(sa.bindparam('limit', type_=sa.Integer)))
_LEASE = (
    sa.select(LEASES.c.project_id, LEASES.c.start, LEASES.c.created_at, LEASES.c.asked_at,
              LEASES.c.acquire_type, LEASES.c.generation, ACQUISITIONS.c.priority)
    .join_from(LEASES, ACQUISITIONS, ACQUISITIONS.c.lease_id == LEASES.c.id, isouter=True)
    .where(LEASES.c.id == sa.bindparam('of_lease')))
_RESERVATIONS = (sa.select(RESERVATIONS.c.id, RESERVATIONS.c.resource_type,
                           RESERVATIONS.c.started_at)
                 .where(RESERVATIONS.c.lease_id == sa.bindparam('of_lease')))
_STARTED = _RESERVATIONS.where(RESERVATIONS.c.started_at.is_not(None))


@dataclasses.dataclass(frozen=True)
class Bill:
    """How far a lease is billed; see the table."""

    lease_id: str
    billed_until: datetime.datetime
    generation: int
    properties: dict


@dataclasses.dataclass(frozen=True)
class Found:
    """A lease that is to be billed: its project, its generation, and what it is priced by."""

    project_id: str
    generation: int
    subject: pricing.Subject
    properties: dict


def unbilled(connection, after, now, month, limit):
    """Return the ids of leases of which something is to be billed, at most `limit`.

    Leases that could not be billed are left out; see ``failed_bills``.

    :param after: what had ended before is billed.
    :param month: the beginning of the present month.
    """
    return list(connection.execute(_UNBILLED, {
        'after': after, 'now': now, 'month': month, 'limit': limit}).scalars())


def get(connection, lease_id):
    """Return the Bill of a lease, or None."""
    row = connection.execute(sa.select(BILLS).where(BILLS.c.lease_id == lease_id)).one_or_none()
    return None if row is None else Bill(**row._mapping)


def write(connection, bill, is_new):
    """Write how far a lease is billed. A new row that is there already raises Duplicate."""
    values = vars(bill)
    if is_new:
        connection.execute(sa.insert(BILLS).values(**values))
        return
    connection.execute(sa.update(BILLS).where(BILLS.c.lease_id == bill.lease_id).values(**values))


def read(connection, lease_id, names, known=(), planned=False):
    """Return what a lease is billed by, as a Found; None if there is no such lease.

    :param names: the properties that decide about rates.
    :param known: {resource id as text: {name: text}} of resources that were billed before.
    :param planned: whether reservations count that have not started.
    """
    row = connection.execute(_LEASE, {'of_lease': lease_id}).one_or_none()
    if row is None:
        return None
    owners = {each.id: each for each in connection.execute(
        _RESERVATIONS if planned else _STARTED, {'of_lease': lease_id})}
    given = list(connection.execute(
        sa.select(ALLOCATIONS).where(ALLOCATIONS.c.reservation_id.in_(sorted(owners)),
                                     allocations.COUNTS, ALLOCATIONS.c.start < ALLOCATIONS.c.end)
        .order_by(ALLOCATIONS.c.id))) if owners else []
    pools, properties = described(connection, {each.resource_id for each in given}, names, known)
    idle = _idle(connection, given)
    items = [pricing.Item(
        each.reservation_id, owners[each.reservation_id].resource_type, pools[each.resource_id],
        pricing.had_from(each.start, owners[each.reservation_id].started_at),
        each.end, each.copies, items_properties(properties, each.resource_id),
        each.promised_until, idle[each.reservation_id, each.resource_id], each.resource_id,
        each.whole) for each in given]
    return Found(row.project_id, row.generation, pricing.Subject(
        row.start, row.asked_at or row.created_at,
        tuple(unused.netted([each for each in items if each.start < each.end])), row.priority or 0,
        row.acquire_type == acquire.BEST_EFFORT, later_asks.of_lease(connection, lease_id)),
        properties)


def described(connection, ids, names, known=()):
    """Return the pools and the deciding properties of resources.

    :param ids: those of the resources, withdrawn ones too.
    :param names: the names of the properties that decide about rates.
    :param known: {resource id as text: {name: text}} of properties that were read before, for an
        earlier version of the price book perhaps; those that a later one names are read now.
    :returns: ({resource id: pool}, {resource id as text: {name: text}}); the text is None if the
        resource did not have the property when it was read.
    """
    pools = {each.id: each.pool for each in resources.with_ids(connection, ids)} if ids else {}
    known = dict(known)
    properties = {str(key): {**dict.fromkeys(names), **known.get(str(key), {})} for key in ids}
    for pool in sorted(set(pools.values())):
        unread = {key: names - known.get(str(key), {}).keys() for key in ids
                  if pools[key] == pool}
        values = resource_properties.values_of(
            connection, pool, frozenset().union(*unread.values()),
            sorted(key for key, missing in unread.items() if missing))
        for key, found in values.items():
            properties[str(key)] |= {name: found[name] for name in unread[key] & found.keys()}
    return pools, properties


def items_properties(properties, resource_id):
    """Return the properties of a resource that `described` returned, as those of an Item."""
    return tuple(sorted((name, text) for name, text in properties[str(resource_id)].items()
                        if text is not None))


def unsettled(begin):
    """Return the condition that selects leases whose row is still needed to bill them.

    :param begin: what had ended before is billed, or is free.
    """
    not_yet = sa.exists().where(
        RESERVATIONS.c.lease_id == LEASES.c.id, RESERVATIONS.c.started_at.is_not(None),
        ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id, allocations.COUNTS,
        ALLOCATIONS.c.end >= begin, ALLOCATIONS.c.start < ALLOCATIONS.c.end,
        ~sa.exists().where(BILLS.c.lease_id == LEASES.c.id,
                           BILLS.c.billed_until >= ALLOCATIONS.c.end))
    return sa.or_(not_yet, sa.exists().where(FAILED.c.lease_id == LEASES.c.id))


def settled_samples(connection, now):
    """Return the conditions that select the samples of use that no bill will read again."""
    begin = settled_until(connection)
    if begin is None:
        return ()
    month = ledger.begin_of(ledger.month_of(now))
    own = RESERVATIONS.c.id == use_samples.SAMPLES.c.reservation_id
    not_yet = sa.exists().where(
        own, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id, allocations.COUNTS,
        ALLOCATIONS.c.end >= begin, ALLOCATIONS.c.start < ALLOCATIONS.c.end,
        ~sa.exists().where(BILLS.c.lease_id == RESERVATIONS.c.lease_id, sa.or_(
            BILLS.c.billed_until >= ALLOCATIONS.c.end, BILLS.c.billed_until >= month)))
    failed = sa.exists().where(own, FAILED.c.lease_id == RESERVATIONS.c.lease_id)
    # The present month is billed at its end.
    return use_samples.SAMPLES.c.hour < month, ~not_yet, ~failed


def settled_until(connection):
    """Return the moment before which all is billed, or was free; None: there is no price book."""
    first = connection.execute(sa.select(sa.func.min(BOOKS.c.valid_from))).scalar()
    closed = connection.execute(sa.select(sa.func.max(MONTHS.c.month)).where(
        MONTHS.c.closed_at.is_not(None))).scalar()
    if first is None or closed is None:
        return first
    return max(first, ledger.end_of(closed))


def _idle(connection, given):
    """Return {(reservation id, resource id): the Intervals in which it was idle, as measured}.

    The idle part of an hour counts from the first moment of the hour in which there is an
    allocation; so several allocations of one hour share it.
    """
    found = collections.defaultdict(tuple)
    if not given:
        return found
    spans = collections.defaultdict(list)
    for each in given:
        spans[each.reservation_id, each.resource_id].append((each.start, each.end))
    for reservation_id, resource_id, hour, sample in use_samples.by_hour(
            connection, {each.reservation_id for each in given},
            min(each.start for each in given) - _HOUR, max(each.end for each in given)):
        key = reservation_id, resource_id
        found[key] += tuple(use.idle_spans(hour, sample.idle_seconds, spans[key]))
    return found
