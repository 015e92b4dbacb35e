# SPDX-License-Identifier: Apache-2.0
"""Truths about statements and usage, found by brute force in the rows.

The lines of a lease are compared with what ``domain.lease_pricing`` says of its history alone, in
one piece from its first moment to its last. Nothing of the code that bills is used, and nothing
that it writes besides the lines is read. So the properties of resources must not change after a
lease was billed by them.
"""
import collections
import datetime
import itertools

import sqlalchemy as sa

from climate.db import late_cancels
from climate.db import later_asks
from climate.db import tables
from climate.domain import acquire
from climate.domain import interval
from climate.domain import lease_pricing
from climate.domain import prices
from climate.domain import unused_hours
from climate.domain import usage_figures
from climate.domain import usage_groups
from climate.manager.billing import books
from climate.manager.usage import days
from climate.manager.usage import reports

_HOUR = datetime.timedelta(hours=1)
_LATE = datetime.timedelta(minutes=5)
_BEGIN = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_END = datetime.datetime(9000, 1, 1, tzinfo=datetime.UTC)
_GROUPS = ((), ('project',), ('user',), ('type',), ('pool',), ('day',), usage_groups.GROUPS)


def statement_lines(database):
    """{(lease id, number): the row of the line}, in order."""
    with database.reader() as connection:
        rows = connection.execute(sa.select(tables.STATEMENT_LINES).order_by(
            tables.STATEMENT_LINES.c.lease_id, tables.STATEMENT_LINES.c.number)).all()
    return {(row.lease_id, row.number): row for row in rows}


def closed_months(database):
    with database.reader() as connection:
        return set(connection.execute(sa.select(tables.BILLING_MONTHS.c.month).where(
            tables.BILLING_MONTHS.c.closed_at.is_not(None))).scalars())


def nothing_was_taken_back(before, lines, closed):
    """Lines stay as they were written, and a month that was closed got no more.

    :param before: the lines of an earlier moment.
    :param closed: the months that were closed then.
    """
    for key, line in before.items():
        assert lines.get(key) == line, f'{line} became {lines.get(key)}'
    for key in lines.keys() - before.keys():
        assert lines[key].month not in closed, f'{lines[key]} is new in a closed month.'


def statements_are_right(database):
    """All that has ended is billed: the lines are the price of the history alone, once each."""
    by_lease = collections.defaultdict(list)
    for line in statement_lines(database).values():
        by_lease[line.lease_id].append(line)
    with database.reader() as connection:
        known = books.read_all(connection)
        subjects = _subjects(connection)
    for lease_id in sorted(subjects.keys() | by_lease.keys()):
        lines_are_right(by_lease[lease_id], subjects.get(lease_id), known)


def lines_are_right(lines, subject, known):
    """The lines of a lease add up to its price, exactly and in the currency, once each.

    :param subject: None: it had nothing, or all of it was reclaimed.
    """
    assert [each.number for each in lines] == list(range(1, len(lines) + 1)), lines
    first = [(each.for_month, _key(each)) for each in lines if not each.correction]
    assert len(first) == len(set(first)), f'A line is there twice: {lines}'
    found = collections.defaultdict(lambda: lease_pricing.NOTHING)
    for each in lines:
        found[_key(each)] += lease_pricing.Charge(int(each.atoms), int(each.microseconds))
    found = {key: charge for key, charge in found.items() if charge.atoms}
    wanted = lease_pricing.charges(subject, known, _BEGIN, _END) if subject is not None else {}
    assert found == wanted, f'{lines[:1]}: billed {found}, and it costs {wanted}'
    assert sum(each.minor for each in lines) == lease_pricing.rounded(
        lease_pricing.total(wanted), prices.DECIMALS[known[0].currency] if known else 2)


def usage_is_right(core, start, end):
    """Closed days are what the rows say, and the sums of all groups are the whole.

    :param start: the beginning of a day, as `end`.
    """
    with core.database.reader() as connection:
        counted = days.count_usage(connection, usage_figures.second(start),
                                   usage_figures.second(end), core.clock())
    [whole] = usage_groups.grouped(counted.items(), ()) or [usage_groups.NOTHING]
    for words in _GROUPS:
        found = reports.usage(core, usage_groups.UsageQuery(start, end, tuple(words)))
        assert found.total.seconds == whole.seconds, (found.total, whole)
        sums = collections.Counter()
        for each in found.groups:
            sums.update(each.seconds)
        assert +sums == +collections.Counter(whole.seconds), (words, sums, whole)


def _subjects(connection):
    """{lease id: the Subject of its history} of leases of which anything started."""
    priorities = dict(connection.execute(sa.select(
        tables.ACQUISITIONS.c.lease_id, tables.ACQUISITIONS.c.priority)).all())
    properties = _properties(connection)
    pools = dict(connection.execute(sa.select(
        tables.RESOURCES.c.id, tables.RESOURCES.c.pool)).all())
    started = {row.id: row for row in connection.execute(sa.select(tables.RESERVATIONS).where(
        tables.RESERVATIONS.c.started_at.is_not(None)))}
    items = collections.defaultdict(tuple)
    given = [row for row in connection.execute(sa.select(tables.ALLOCATIONS))
             if row.reservation_id in started and row.start < row.end
             and (row.released_at is None or row.released_at >= row.end)]
    idle = _idle(connection, given)
    for row in given:
        reservation = started[row.reservation_id]
        late = reservation.started_at > row.start + _LATE
        start = reservation.started_at if late else row.start
        if start >= row.end:
            continue
        items[reservation.lease_id] += (lease_pricing.PricedItem(
            reservation.billed_as or row.reservation_id, reservation.resource_type,
            pools[row.resource_id], start,
            row.end, row.copies, tuple(sorted(properties[row.resource_id])), row.promised_until,
            tuple(idle[row.reservation_id, row.resource_id]), row.resource_id, row.whole),)
    return {row.id: lease_pricing.Subject(
        row.start, row.asked_at or row.created_at,
        tuple(unused_hours.with_unused_copies(items[row.id])),
        priorities.get(row.id) or 0,
        row.acquire_type == acquire.BEST_EFFORT, later_asks.of_lease(connection, row.id), cancels)
        for row in connection.execute(sa.select(tables.LEASES))
        for cancels in [late_cancels.of_lease(connection, row.id)] if items[row.id] or cancels}


def _properties(connection):
    """{resource id: [(name, text)]}: as the resources are, not as the biller has read them."""
    found = collections.defaultdict(list)
    for row in connection.execute(sa.select(
            tables.PROPERTY_VALUES.c.resource_id, tables.PROPERTIES.c.name,
            tables.PROPERTY_VALUES.c.text).join(
                tables.PROPERTIES, tables.PROPERTIES.c.id == tables.PROPERTY_VALUES.c.property_id)):
        found[row.resource_id].append((row.name, row.text))
    return found


def _idle(connection, given):
    """{(reservation id, resource id): Intervals}: the first idle seconds of each hour that it had.

    The use in an hour is cut into pieces at each start and end.
    """
    found = collections.defaultdict(list)
    for row in connection.execute(sa.select(tables.USE_SAMPLES)):
        spans = [(max(each.start, row.hour), min(each.end, row.hour + _HOUR)) for each in given
                 if (each.reservation_id, each.resource_id) == (
                     row.reservation_id, row.resource_id)]
        cuts = sorted({moment for span in spans for moment in span})
        left = datetime.timedelta(seconds=row.idle_seconds)
        for first, last in itertools.pairwise(cuts):
            end = min(last, first + left)
            if first < end and any(start <= first < stop for start, stop in spans):
                found[row.reservation_id, row.resource_id].append(interval.Interval(first, end))
                left -= end - first
    return found


def _key(line):
    return lease_pricing.ChargeKey(
        lease_pricing.KINDS.index(line.kind), line.price_book, line.reservation_id, line.rate,
        line.resource_type, line.pool, line.percent)
