# SPDX-License-Identifier: Apache-2.0
"""Record demand that was refused for lack of resources, and delete old records.

Capacity planning needs all demand: allocations show the demand that was served, and these records
show the demand that was refused.
"""
import contextlib
import dataclasses
import datetime
import json

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import refusals as rows
from climate.db import usage_days
from climate.domain import interval
from climate.domain import refusals
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import wish_lists

LOG = log.getLogger(__name__)

#: The pause between two deletions of old records.
PAUSE_SECONDS = 3600
_DELETED_AT_ONCE = 1000
_ATTEMPTS = 3
# Longer criteria are not recorded, because a request may have 64 KiB for each reservation.
_LONGEST_CRITERIA = 4096


@dataclasses.dataclass(frozen=True)
class RefusableRequest:
    """A request for resources, as it would be recorded if it is refused.

    :ivar wishes: the Wishes of the lease.
    :ivar span: the requested Interval.
    :ivar request: the facts that identify the request, for its hash.
    :ivar had_span: for a change, the Interval for which the lease has resources.
    """

    lease: object
    wishes: tuple
    span: interval.Interval
    request: tuple
    had_span: interval.Interval | None = None


class RefusedDemand:
    """Records the refusals of requests and of leases that waited without success."""

    def __init__(self, core):
        self._core = core

    @contextlib.contextmanager
    def recorded(self, request, now):
        """Context manager: record a RefusableRequest if its block raises one of ``SHORTAGES``.

        The error is raised again. The record is written in another transaction than the request,
        whose transaction was rolled back.
        """
        try:
            yield
        except refusals.SHORTAGES as error:
            self._record(_refusals(request, refusals.reason_of(error), now), now)
            raise

    def record_waiting(self, connection, lease, reason, now):
        """Record that a lease waited without success.

        :param connection: the transaction that gives the lease up or deletes it.
        :param reason: one of ``refusals.REASONS``.
        """
        try:
            wishes = wish_lists.of(self._core.registry, lease.open_reservations)
        except errors.UnknownResourceType as error:
            # The resource type was disabled in the meantime.
            LOG.warning('Lease %s: its refused demand is not recorded: %s', lease.id,
                        error.message)
            return
        request = RefusableRequest(lease, tuple(wishes), lease.interval_from(lease.start),
                                   (lease.id,))
        waited = max(0, int((now - (lease.created_at or lease.start)).total_seconds()))
        self._add(connection, [dataclasses.replace(each, waited_seconds=waited)
                               for each in _refusals(request, reason, now)], once=True)

    def _add(self, connection, refused, once=False):
        """Insert Refusals of one project, and delete the oldest ones of the project.

        :param once: insert nothing if the request was refused before.
        """
        most = self._core.conf.forecast.refusals_per_project
        if refused:
            rows.add(connection, refused[:most], once)
            rows.keep_newest(connection, refused[0].project_id, most)

    def _record(self, refused, now):
        """Insert Refusals, or count a repetition of recorded ones; log a failure."""
        refused = refused[:self._core.conf.forecast.refusals_per_project]
        for attempt in range(_ATTEMPTS if refused else 0):
            try:
                with self._core.database.writer() as connection:
                    if not rows.repeat(connection, [each.request_hash for each in refused], now):
                        self._add(connection, refused)
                return
            except (engine.Duplicate, errors.LostRace):
                LOG.debug('The same refusal was recorded concurrently; attempt %d', attempt)
            except errors.ClimateError as error:
                LOG.warning('A refusal of project %s was not recorded: %s', refused[0].project_id,
                            error.message)
                return


def delete_old(core, now):
    """Delete old refusals in batches, except those that the daily usage does not include yet.

    Any number of managers may do this at the same time.
    """
    days = core.conf.forecast.refusals_days
    if not days:
        return
    before = now - datetime.timedelta(days=days)
    with core.database.reader() as connection:
        before = min(before, usage_days.counted_until(connection) or before)
    total, count = 0, _DELETED_AT_ONCE
    while count == _DELETED_AT_ONCE:
        with core.database.writer() as connection:
            count = rows.purge(connection, before, _DELETED_AT_ONCE)
        total += count
    if total:
        LOG.info('Deleted %d refusals from before %s', total, f'{before:%Y-%m-%d}')


def _refusals(request, reason, now):
    """Return the Refusals of a RefusableRequest: one for each need and unserved time."""
    lease, refused = request.lease, []
    types = {each.id: each.resource_type for each in lease.reservations}
    for place, wish in enumerate(request.wishes):
        demand = wish.need.demand
        if wish.need.optional:
            continue
        whole = demand.amount is selection.WHOLE
        for index, (span, copies) in enumerate(refusals.unmet(
                request.span, demand.at_least, request.had_span, len(wish.keep))):
            refused.append(refusals.Refusal(
                at=now, last_at=now, project_id=lease.project_id, user_id=lease.user_id,
                lease_id=lease.id, resource_type=types[wish.reservation_id], pool=wish.need.pool,
                start=span.start, end=span.end, copies=copies,
                amount=None if whole else dict(demand.amount), reason=reason,
                criteria=_criteria(wish.need.requirement),
                request_hash=refusals.request_hash(
                    lease.project_id, [*request.request, place, index])))
    return refused


def _criteria(criteria):
    """Return criteria as JSON, or None if they are too long to be recorded."""
    recorded = requirement.to_json(criteria)
    return recorded if len(json.dumps(recorded)) <= _LONGEST_CRITERIA else None
