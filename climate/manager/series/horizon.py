# SPDX-License-Identifier: Apache-2.0
"""The work that series need without a request: book, try again, finish and clean up."""
import datetime

from oslo_log import log

from climate import errors
from climate.db import journal
from climate.db import series as stored
from climate.db import series_occurrences
from climate.db import trusts
from climate.domain import texts
from climate.domain.series import series_records as domain
from climate.domain.series import series_times
from climate.manager import core as cores
from climate.manager.series import occurrence_leases
from climate.manager.series import owner_context
from climate.manager.series import time_limit

LOG = log.getLogger(__name__)

# The number of occurrences on which one pass works.
_MOST = 500
# A request that makes a series records its progress with each lease. After this time without
# progress, its manager has died.
_ABANDONED = datetime.timedelta(minutes=10)


class Horizon:
    """Works on occurrences that are due, in a periodic task and in requests about series."""

    def __init__(self, core):
        self._core = core
        self._leases = occurrence_leases.OccurrenceLeases(core)

    def step(self, now):
        """Do all work that is due; one failing series does not stop the others."""
        with self._core.database.reader() as connection:
            abandoned = stored.abandoned(connection, now - _ABANDONED)
            extended = stored.to_extend(connection, now)
        for series in abandoned:
            with cores.isolated('Series %s: the rest of a failed request', series.id):
                self.undo(series)
        for series in extended:
            with cores.isolated('Series %s: its next occurrences', series.id):
                self._extend(series.id, now)
        self.work(now)
        self._finish(now)

    def work(self, now, context=None, series_id=None):
        """Work on the occurrences that are due.

        :param context: the RequestContext of a request, which changes leases; None: the trust of
            each series gives a token. Only the owner of a series creates leases with it.
            A request ends with its time limit; the next pass does the rest.
        :param series_id: work only on this series; None: on all.
        """
        with self._core.database.reader() as connection:
            due = series_occurrences.due(connection, now, _MOST, series_id)
            known = stored.with_ids(connection, {occurrence.series_id for occurrence in due})
        callers, limit = _Callers(self._core, context), time_limit.TimeLimit(self._core)
        for occurrence in due:
            if context is not None and limit.is_over():
                return
            with cores.isolated('Series %s, occurrence %s', occurrence.series_id,
                                occurrence.number):
                series = known[occurrence.series_id]
                self._work_on(series, occurrence, callers, now)
                if series.same_resources and series.resources is None:
                    # The first lease may have determined the resources of the others.
                    known[series.id] = self._current(series.id)

    def _current(self, series_id):
        with self._core.database.reader() as connection:
            return stored.get(connection, series_id)

    def _work_on(self, series, occurrence, callers, now):
        """Book, change or delete the lease of an occurrence, and record the result."""
        if occurrence.status == domain.OFF:
            self._leases.delete(owner_context.without_token(series), occurrence.lease_id)
            self._record(series, occurrence, now, due_at=None)
        elif occurrence.start <= now:
            begun = {} if occurrence.status == domain.BOOKED else {'status': domain.SKIPPED}
            self._record(series, occurrence, now, due_at=None, **begun)
        else:
            self._try(series, occurrence, callers, now)

    def _try(self, series, occurrence, callers, now):
        """Book or change the lease of an occurrence; a failure is recorded and tried again."""
        is_booked = occurrence.status == domain.BOOKED
        try:
            if is_booked:
                self._leases.change(callers.changing(series), series, occurrence)
            else:
                self._leases.book(callers.creating(series), series, occurrence)
        except errors.DatabaseUnreachable:
            raise
        except errors.ClimateError as error:
            # A refused change of a booked lease is shown, and not tried again.
            self.record_failure(series, occurrence, error, now, is_final=is_booked)
        else:
            result = {} if is_booked else {'status': domain.BOOKED}
            self._record(series, occurrence, now, due_at=None, problem=None, **result)

    def record_failure(self, series, occurrence, error, now, *, is_final=False):
        """Record why an occurrence was not booked or changed, and notify the project once.

        :param is_final: whether it is not tried again.
        """
        pause = datetime.timedelta(minutes=self._core.conf.series.retry_minutes)
        values = {'problem': texts.of_error(error),
                  'due_at': None if is_final else min(now + pause, occurrence.start)}
        if occurrence.status == domain.PLANNED:
            values['status'] = domain.FAILED
        is_news = occurrence.status != domain.FAILED
        self._record(series, occurrence, now, news=error if is_news else None, **values)

    @cores.again_after_a_race
    def _record(self, series, occurrence, now, news=None, **values):
        """Write new values of an occurrence.

        :param news: the error of which the project is notified; None: it is not.
        """
        with self._core.database.writer() as connection:
            stored.touch(connection, series.id, now)
            written = series_occurrences.change(connection, occurrence, **values)
            if written and news is not None:
                journal.publish(connection, now, 'series.occurrence_failed', [
                    _payload(series, occurrence, news)])
        if written and news is not None:
            LOG.info('Series %s, occurrence %s at %s: failed: %s', series.id, occurrence.number,
                     occurrence.start.isoformat(), news.message)

    @cores.again_after_a_race
    def _extend(self, series_id, now):
        """Add rows of the occurrences that have come into the horizon."""
        with self._core.database.writer() as connection:
            series = stored.get(connection, series_id, locked=True)
            if series.status != domain.ACTIVE:
                return
            known = series_occurrences.of_series(connection, [series_id])[series_id]
            added, values = extension(self._core.conf, series, known, now)
            series_occurrences.add(connection, added)
            stored.change(connection, series, now, **values)

    def undo(self, series):
        """Delete the leases of a series that was not finished, its trust, and the series."""
        with self._core.database.reader() as connection:
            lease_ids = stored.lease_ids(connection, series.id)
        for lease_id in lease_ids:
            self._leases.delete(owner_context.without_token(series), lease_id)
        with self._core.database.writer() as connection:
            current = stored.get(connection, series.id, locked=True)
            if current.status == domain.MAKING:
                stored.change(connection, current, self._core.clock(), status=domain.UNDONE,
                              secrets=None)
                series_occurrences.cancel_all(connection, series.id)
        LOG.info('Series %s: withdrawn, because it was not finished', series.id)

    def _finish(self, now):
        """Record that series have ended, and delete trusts that are no longer used."""
        with self._core.database.reader() as connection:
            over = stored.over(connection, now)
            unused = stored.with_unused_trust(connection)
        for series in over:
            with cores.isolated('Series %s: its end', series.id):
                with self._core.database.writer() as connection:
                    stored.change(connection, series, now, status=domain.ENDED, secrets=None)
                LOG.info('Series %s: ended', series.id)
        for trust_id in sorted({series.trust_id for series in unused}):
            with cores.isolated('Trust %s of a series', trust_id):
                self._core.cloud.as_service().keystone.delete_trust(trust_id)
                with self._core.database.writer() as connection:
                    stored.forget_trust(connection, trust_id)
                    trusts.forget_dropped(connection, trust_id)


class _Callers:
    """The RequestContexts of one pass; the trust of each series gives at most one token.

    :param request: the RequestContext of the request that started the pass, or None.
    """

    def __init__(self, core, request):
        self._core = core
        self._request = request
        self._owners = {}

    def creating(self, series):
        """Return the RequestContext of the owner of a series."""
        if series.id not in self._owners:
            self._owners[series.id] = owner_context.acting(self._core, series, self._request)
        return self._owners[series.id]

    def changing(self, series):
        """Return the RequestContext of who changes the leases of a series."""
        return self.creating(series) if self._request is None else self._request


def extension(conf, series, known, now):
    """Return (new Occurrences within the horizon, the new columns of the series).

    :param known: the Occurrences of the series that have rows.
    """
    horizon = datetime.timedelta(days=conf.series.horizon_days)
    until = now + horizon
    numbers = {occurrence.number for occurrence in known}
    after = min(now, series.booked_until or now)
    spans = series_times.spans(series.timing)
    added = [domain.Occurrence(series.id, number, span.start, span.end, due_at=now,
                               lease_id=occurrence_leases.lease_id(series.id, number))
             for number, span in enumerate(spans, 1)
             if number not in numbers and after < span.start <= until]
    beyond = [span.start for span in spans if span.start > until]
    return added, {'booked_until': until, 'extend_at': beyond[0] - horizon if beyond else None}


def _payload(series, occurrence, error):
    """Return the notification that an occurrence was not booked or changed."""
    what = 'changed' if occurrence.status == domain.BOOKED else 'booked'
    return {
        'project_id': series.project_id, 'user_id': series.user_id, 'series_id': series.id,
        'name': series.name, 'number': occurrence.number,
        'start': occurrence.start.isoformat(), 'end': occurrence.end.isoformat(),
        'message': (f'Occurrence {occurrence.number} of the series "{series.name}" on '
                    f'{occurrence.start:%Y-%m-%d %H:%M} UTC could not be {what}: '
                    f'{error.owner_message}')}
