# SPDX-License-Identifier: Apache-2.0
"""Cancel one occurrence of a series, those from one on, or all."""
from oslo_log import log

from climate import errors
from climate.db import series as stored
from climate.db import series_occurrences
from climate.domain.series import series_records as domain
from climate.domain.series import series_times
from climate.manager import core as cores
from climate.manager.series import change
from climate.manager.series import horizon
from climate.manager.series import occurrence_leases

LOG = log.getLogger(__name__)


class CancelSeries:
    """The use case of DELETE /v1/series/{id}. A running lease stays, unless it alone is deleted."""

    def __init__(self, core):
        self._core = core
        self._leases = occurrence_leases.OccurrenceLeases(core)
        self._horizon = horizon.Horizon(core)

    def cancel(self, context, series_id, scope, number=None):
        """Cancel the occurrences of a scope.

        :raises SeriesNotFound: no series has that id.
        :raises SeriesOver: the series does not go on.
        :raises OccurrenceNotFound: the series has no occurrence with that number.
        :raises Conflict: the occurrence is over.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            series = stored.get(connection, series_id)
        change.refuse_over(series)
        if scope != domain.ALL:
            change.refuse_unknown(series, number)
        if scope == domain.THIS:
            self._cancel_one(context, series, number, now)
        else:
            self._cancel_from(series_id, 1 if scope == domain.ALL else number, now)
            self._horizon.work(now, context, series_id)
        LOG.info('Series %s: cancelled, scope %s, occurrence %s', series_id, scope, number)

    def _cancel_one(self, context, series, number, now):
        """Delete the lease of one occurrence, even if it runs, or prevent that it is booked."""
        occurrence = self._write_one(series, number, now)
        if occurrence is not None and occurrence.lease_id is not None:
            self._leases.delete(context, occurrence.lease_id)

    @cores.again_after_a_race
    def _write_one(self, series, number, now):
        """Write that an occurrence is cancelled; return it as it was, or None without a row.

        :raises Conflict: the occurrence is over.
        """
        span = series_times.spans(series.timing)[number - 1]
        with self._core.database.writer() as connection:
            stored.get(connection, series.id, locked=True)
            known = {each.number: each for each in series_occurrences.of_series(
                connection, [series.id])[series.id]}
            occurrence = known.get(number)
            if (span if occurrence is None else occurrence).end <= now:
                raise errors.Conflict(reason=(
                    f'Occurrence {number} of series {series.id} is over: there is nothing to '
                    'cancel.'))
            if occurrence is None:
                series_occurrences.add(connection, [domain.Occurrence(
                    series.id, number, span.start, span.end, domain.OFF)])
            else:
                # The lease is deleted again later, in case it is just being created.
                series_occurrences.change(connection, occurrence, status=domain.OFF, due_at=now)
        return occurrence

    @cores.again_after_a_race
    def _cancel_from(self, series_id, number, now):
        """Write that the occurrences from a number on are cancelled; their leases become due."""
        with self._core.database.writer() as connection:
            current = stored.get(connection, series_id, locked=True)
            change.refuse_over(current)
            series_occurrences.cancel(connection, series_id, now, number)
            if number == 1:
                stored.change(connection, current, now, status=domain.CANCELLED, extend_at=None,
                              secrets=None)
            else:
                stored.change(connection, current, now, extend_at=None, rule=(
                    series_times.ended_before(current.timing, number).rule))
