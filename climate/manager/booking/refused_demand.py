# SPDX-License-Identifier: Apache-2.0
"""Record demand that was refused for lack of resources, so that plans do not learn only what fit.

Demand is what was given, as allocations from the start asked for, and what was refused. How long a
lease waited for what it got is the time from its creation to its start.
"""
import contextlib
import dataclasses
import json

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import refusals as rows
from climate.domain import interval
from climate.domain import refusals
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking

LOG = log.getLogger(__name__)

_ATTEMPTS = 3
# Longer criteria are not recorded: a request may have 64 KiB of them for each reservation.
_LONGEST_CRITERIA = 4096


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request for resources, as it would be recorded if it is refused.

    :ivar lease: the Lease of the request.
    :ivar wishes: its Wishes.
    :ivar span: the Interval asked for.
    :ivar request: what makes the request, for its hash.
    :ivar had_span: for a change: the Interval for which the lease has resources.
    """

    lease: object
    wishes: tuple
    span: interval.Interval
    request: tuple
    had_span: interval.Interval | None = None


class RefusedDemand:
    """Records the refusals of requests and of leases that waited in vain."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    @contextlib.contextmanager
    def recorded(self, asked, now):
        """Record it if the block refuses the request for lack of resources.

        The error is raised again in any case. The record is a transaction of its own, because
        that of the request was rolled back.

        :param asked: the Asked request.
        """
        try:
            yield
        except refusals.SHORTAGES as error:
            self._record(_refusals(asked, refusals.reason_of(error), now), now)
            raise

    def waited_in_vain(self, connection, lease, reason, now):
        """Record that a lease waited in vain, in the transaction that gives it up or deletes it.

        :param reason: one of ``refusals.REASONS``.
        """
        try:
            wishes = self._booking.wishes_of_all(lease)
        except errors.UnknownResourceType as error:
            # The type was disabled meanwhile; the lease is given up all the same.
            LOG.warning('Lease %s: it waited in vain, which is not recorded: %s', lease.id,
                        error.message)
            return
        span = lease.interval_from(lease.start)
        asked = Asked(lease, tuple(wishes), span, (lease.id,))
        waited = max(0, int((now - (lease.created_at or lease.start)).total_seconds()))
        found = [dataclasses.replace(each, waited_seconds=waited)
                 for each in _refusals(asked, reason, now)]
        self._add(connection, found, once=True)

    def _add(self, connection, found, once=False):
        """Insert Refusals of one project, and delete its oldest ones beyond the limit."""
        most = self._core.conf.forecast.refusals_per_project
        if found:
            rows.add(connection, found[:most], once)
            rows.keep_newest(connection, found[0].project_id, most)

    def _record(self, found, now):
        """Write Refusals, or count one more repetition; a failure is only logged."""
        found = found[:self._core.conf.forecast.refusals_per_project]
        for attempt in range(_ATTEMPTS if found else 0):
            try:
                with self._core.database.writer() as connection:
                    if not rows.repeat(connection, [each.request_hash for each in found], now):
                        self._add(connection, found)
                return
            except (engine.Duplicate, errors.LostRace):
                LOG.debug('The same refusal was recorded at the same moment; attempt %d', attempt)
            except errors.ClimateError as error:
                LOG.warning('A refusal of project %s was not recorded: %s', found[0].project_id,
                            error.message)
                return


def _refusals(asked, reason, now):
    """Return the Refusals of an Asked request, one for each need and part of the time."""
    lease, found = asked.lease, []
    types = {each.id: each.resource_type for each in lease.reservations}
    for place, wish in enumerate(asked.wishes):
        demand = wish.need.demand
        if wish.need.optional:
            continue
        whole = demand.amount is selection.WHOLE
        for part, (span, copies) in enumerate(refusals.unmet(
                asked.span, demand.at_least, asked.had_span, len(wish.keep))):
            found.append(refusals.Refusal(
                at=now, last_at=now, project_id=lease.project_id, user_id=lease.user_id,
                lease_id=lease.id, resource_type=types[wish.reservation_id], pool=wish.need.pool,
                start=span.start, end=span.end, copies=copies,
                amount=None if whole else dict(demand.amount), reason=reason,
                criteria=_criteria(wish.need.requirement),
                request_hash=refusals.request_hash(
                    lease.project_id, [*asked.request, place, part])))
    return found


def _criteria(asked):
    """Return criteria as they are recorded, or None if they are too long."""
    found = requirement.to_json(asked)
    return found if len(json.dumps(found)) <= _LONGEST_CRITERIA else None
