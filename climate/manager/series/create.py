# SPDX-License-Identifier: Apache-2.0
"""Create a series: book its occurrences within the horizon, or show what each would get."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import series as stored
from climate.db import series_occurrences
from climate.domain import lease_times
from climate.domain import records
from climate.domain.series import series_records as domain
from climate.domain.series import series_times
from climate.manager import core as cores
from climate.manager.leases import trusts
from climate.manager.series import horizon
from climate.manager.series import keys
from climate.manager.series import occurrence_leases
from climate.manager.series import read
from climate.manager.series import time_limit

LOG = log.getLogger(__name__)


class CreateSeries:
    """The use case of POST /v1/series."""

    def __init__(self, core):
        self._core = core
        self._trusts = trusts.Trusts(core)
        self._leases = occurrence_leases.OccurrenceLeases(core)
        self._horizon = horizon.Horizon(core)
        self._read = read.ReadSeries(core)

    def create(self, context, series_id, request):
        """Create the series of a SeriesRequest; return it with its occurrences.

        The call can be repeated: with the same id, or the same Idempotency-Key, it returns the
        series that the first call created.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises SeriesConflict: not all occurrences can be booked, and the mode requires it.
        :raises TooManySeries: the project has too many series that go on.
        :raises TrustRefused: Keystone refuses a trust with which Climate acts for the caller.
        :raises ActsForLease: the token of the caller was made for a lease.
        :raises KeyReused: an earlier request with the same Idempotency-Key was different.
        :raises SeriesInProgress: an earlier request with that key is not finished.
        """
        now = self._core.clock()
        self._trusts.refuse_acting_for_lease(context)
        existing = self._existing(context, series_id, request, now)
        if existing is not None:
            return existing
        try:
            return self._create(context, series_id, request, now)
        except (errors.SeriesConflict, engine.Duplicate) as error:
            # A concurrent copy of this request may have been faster, and have the resources.
            existing = self._existing(context, series_id, request, now)
            if existing is not None:
                return existing
            if isinstance(error, engine.Duplicate):
                raise errors.LostRace() from error
            raise

    def _create(self, context, series_id, request, now):
        series = self._planned(context, series_id, request, now)
        planned, values = horizon.extension(self._core.conf, series, (), now)
        series = dataclasses.replace(series, **values)
        refuse_many(self._core, series.project_id)
        self._refuse_impossible(context, series, planned)
        self._write(context, series, planned, request, now)
        try:
            self._horizon.work(now, context, series_id)
            self._refuse_incomplete(series)
            self._activate(series, now)
        except errors.ClimateError:
            self._horizon.undo(series)
            raise
        LOG.info('Series %s of project %s: created, "%s" from %s in %s', series_id,
                 series.project_id, series.rule, series.start, series.time_zone)
        return self._read.get(series_id)

    def preview(self, context, request):
        """Return the SeriesPreview of a SeriesRequest: what each occurrence would get, or why not.

        :raises BadRequest: the request is wrong; the error names the field.
        """
        now = self._core.clock()
        series = self._planned(context, '00000000-0000-4000-8000-000000000000', request, now)
        planned = [domain.Occurrence(series.id, number, span.start, span.end)
                   for number, span in enumerate(series_times.spans(series.timing), 1)]
        return domain.SeriesPreview(series, tuple(self._previews(context, series, planned)))

    def _previews(self, context, series, planned):
        """Yield the OccurrencePreviews of Occurrences without leases.

        With `same_resources`, all get the resources of the first one that fits.

        :raises BadField: the occurrences are too many for the time of one request.
        """
        for occurrence in time_limit.TimeLimit(self._core).within(planned):
            preview, names = self._leases.preview(context, series, occurrence)
            if series.same_resources and series.resources is None and preview.fits:
                series = dataclasses.replace(series, resources=names)
            yield preview

    def _existing(self, context, series_id, request, now):
        """Return the Series that an earlier copy of this request created, or None.

        :raises SeriesNotFound: another project has a series with this id.
        :raises KeyReused: see `create`.
        :raises SeriesInProgress: see `create`.
        """
        series_id = keys.series_of(self._core, context, request, now) or series_id
        try:
            series = self._read.get(series_id)
        except errors.SeriesNotFound:
            return None
        if series.project_id != context.project_id:
            raise errors.SeriesNotFound(series_id=series_id)
        return series

    def _planned(self, context, series_id, request, now):
        """Return the Series of a SeriesRequest, which is not stored yet.

        :raises BadField: the rule, the zone or the start cannot be used.
        """
        conf = self._core.conf.series
        planned = series_times.timing(
            request.repeat, datetime.datetime.fromisoformat(request.start), request.seconds,
            request.time_zone, series_times.SeriesLimits(conf.max_years, conf.max_occurrences))
        lease_times.refuse_past(series_times.moment_at(planned.start, planned.time_zone), now,
                                'start')
        apart = [secrets_apart(self._core, part.resource_type, part.request)
                 for part in request.reservations]
        return domain.Series(
            id=series_id, project_id=context.project_id, user_id=context.user_id,
            name=request.name, start=planned.start.isoformat(), seconds=planned.seconds,
            rule=planned.rule, time_zone=planned.time_zone, mode=request.mode,
            same_resources=request.same_resources, hidden_criteria=request.hidden_criteria,
            created_at=now, request=tuple(
                request_item(part, each) for part, each in zip(
                    request.reservations, apart, strict=True)),
            secrets=records.Secrets({str(position): dict(each.secrets)
                                     for position, each in enumerate(apart) if each.secrets}))

    def _refuse_impossible(self, context, series, planned):
        """Refuse a series whose request is wrong, or of which too little fits for its mode.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises SeriesConflict: an occurrence does not fit, and the mode is ALL_OR_NOTHING.
        """
        if series.mode == domain.ALL_OR_NOTHING:
            refuse_unfit(list(self._previews(context, series, planned)))
            return
        first = planned[0] if planned else domain.Occurrence(
            series.id, 1, *_ends(series_times.spans(series.timing)[0]))
        self._leases.preview(context, series, first)

    @cores.again_after_a_race
    def _write(self, context, series, planned, request, now):
        """Create the trust of a series, and write the series and its first Occurrences."""
        last = series_times.spans(series.timing)[-1].end
        record = self._trusts.of_series(
            context, series.id, last, occurrence_leases.reservation_requests(series), now)
        try:
            with self._core.database.writer() as connection:
                stored.add(connection, dataclasses.replace(series, trust_id=record.trust_id))
                series_occurrences.add(connection, planned)
                trusts.settle(connection, record)
                keys.keep(self._core, connection, series, request, now)
        except (errors.ClimateError, engine.Duplicate):
            self._trusts.drop(record)
            raise

    def _refuse_incomplete(self, series):
        """Refuse a series of which another request took resources, if the mode requires all.

        :raises SeriesConflict: an occurrence is not booked.
        """
        if series.mode != domain.ALL_OR_NOTHING:
            return
        with self._core.database.reader() as connection:
            known = series_occurrences.of_series(connection, [series.id])[series.id]
        refuse_unfit([domain.OccurrencePreview(
            each.number, each.start, each.end, fits=each.status == domain.BOOKED,
            problem=each.problem, owner_problem=each.owner_problem) for each in known])

    @cores.again_after_a_race
    def _activate(self, series, now):
        """Record that a series is finished.

        :raises SeriesNotFound: another manager has withdrawn it, because this request took long.
        """
        with self._core.database.writer() as connection:
            current = stored.get(connection, series.id, locked=True)
            if current.status != domain.MAKING:
                raise errors.SeriesNotFound(series_id=series.id)
            stored.change(connection, current, now, status=domain.ACTIVE)


def refuse_many(core, project_id):
    """Refuse another series of a project that has the maximum number of series that go on.

    :raises TooManySeries: the project has that many.
    """
    with core.database.reader() as connection:
        count = stored.count_open(connection, project_id)
    if count >= core.conf.series.per_project:
        raise errors.TooManySeries(most=core.conf.series.per_project)


def secrets_apart(core, resource_type, request):
    """Return a Reservation of a series with a request, and with the secret fields apart."""
    return core.registry.secrets_apart(records.Reservation(
        id='', lease_id='', resource_type=resource_type, request=dict(request)))


def request_item(part, reservation):
    """Return a ReservationRequest as a Series stores it.

    :param reservation: a Reservation with the request, without the secret fields.
    """
    return {'resource_type': part.resource_type, 'request': dict(reservation.request),
            'label': part.label,
            'depends_on': None if part.depends_on is None else list(part.depends_on)}


def refuse_unfit(previews):
    """Refuse OccurrencePreviews if one of them does not fit.

    :raises SeriesConflict: the error has all of those.
    """
    unfit = [preview for preview in previews if not preview.fits]
    if not unfit:
        return
    first = unfit[0]
    raise errors.SeriesConflict(
        count=len(unfit), total=len(previews), number=first.number,
        start=f'{first.start:%Y-%m-%d %H:%M} UTC',
        reason=first.problem or 'it could not be booked.',
        owner_reason=first.owner_problem or 'it could not be booked.',
        occurrences=[{'number': each.number, 'start': each.start.isoformat(),
                      'problem': each.owner_problem,
                      'nearest': each.nearest and each.nearest.isoformat()} for each in unfit])


def _ends(span):
    return span.start, span.end
