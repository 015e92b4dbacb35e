# SPDX-License-Identifier: Apache-2.0
"""Change a series: all its future occurrences, or those from one on, which become a new series."""
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import series as stored
from climate.db import series_occurrences
from climate.domain import records
from climate.domain.series import series_records as domain
from climate.domain.series import series_times
from climate.manager import core as cores
from climate.manager.series import create
from climate.manager.series import horizon
from climate.manager.series import occurrence_leases
from climate.manager.series import owner_context
from climate.manager.series import read
from climate.manager.series import time_limit

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class PlannedChange:
    """A change of a series before it is written.

    :ivar before: the Series before the change.
    :ivar after: the changed Series; a new one if the change splits the series.
    :ivar number: the number of the first changed occurrence before the change.
    :ivar occurrences: the Occurrences of `after` that change, with their new times and numbers.
    """

    before: domain.Series
    after: domain.Series
    number: int
    occurrences: tuple

    @property
    def splits(self):
        return self.before.id != self.after.id


class ChangeSeries:
    """The use case of PUT /v1/series/{id} for several occurrences."""

    def __init__(self, core):
        self._core = core
        self._leases = occurrence_leases.OccurrenceLeases(core)
        self._horizon = horizon.Horizon(core)
        self._read = read.ReadSeries(core)

    def change(self, context, series_id, changes):
        """Apply SeriesChanges; return the changed Series with its occurrences.

        Occurrences that have begun, or whose lease a user changed alone, stay as they are.

        :raises SeriesNotFound: no series has that id.
        :raises SeriesOver: the series does not go on.
        :raises TooManySeries: the change splits the series, and the project has too many.
        :raises OccurrenceNotFound: the series has no occurrence with the number of the changes.
        :raises BadRequest: the changes are wrong; the error names the field.
        :raises SeriesConflict: not all occurrences can be changed, and the mode requires it.
        """
        now = self._core.clock()
        if changes.scope == domain.THIS:
            return self._change_one(context, series_id, changes)
        planned = self._planned(series_id, changes, now)
        if planned.splits:
            create.refuse_many(self._core, planned.before.project_id)
        if planned.after.mode == domain.ALL_OR_NOTHING:
            create.refuse_unfit(self._previews(context, planned))
        self._write(planned, now)
        self._horizon.work(now, context, planned.after.id)
        LOG.info('Series %s: changed from occurrence %s on%s', series_id, planned.number,
                 f', now series {planned.after.id}' if planned.splits else '')
        return self._read.get(planned.after.id)

    def preview(self, context, series_id, changes):
        """Return the SeriesPreview of SeriesChanges: what each changed occurrence would get.

        :raises SeriesNotFound: see `change`, also for the other errors.
        """
        if changes.scope == domain.THIS:
            after, occurrence = self._one(series_id, changes)
            return domain.SeriesPreview(after, (self._leases.preview_change(
                context, after, occurrence, changes),))
        planned = self._planned(series_id, changes, self._core.clock())
        return domain.SeriesPreview(planned.after, tuple(self._previews(context, planned)))

    def _change_one(self, context, series_id, changes):
        """Change the lease of one occurrence alone; return the Series with its occurrences."""
        _, occurrence = self._one(series_id, changes)
        self._leases.change_alone(context, occurrence, changes)
        return self._read.get(series_id)

    def _one(self, series_id, changes):
        """Return (the Series as one occurrence sees it after the changes, the Occurrence).

        :raises Conflict: the occurrence has no lease.
        """
        with self._core.database.reader() as connection:
            before = stored.get(connection, series_id)
            known = {each.number: each for each in series_occurrences.of_series(
                connection, [series_id])[series_id]}
        refuse_over(before)
        refuse_unknown(before, changes.number)
        occurrence = known.get(changes.number)
        if occurrence is None or occurrence.status != domain.BOOKED or not occurrence.lease_id:
            raise errors.Conflict(reason=(
                f'Occurrence {changes.number} of series {series_id} has no lease that could be '
                'changed: change it later, or change the series.'))
        local = series_times.local_of(occurrence.start, before.time_zone)
        if changes.time is not None:
            local = datetime.datetime.combine(local, datetime.time.fromisoformat(changes.time))
        start = series_times.moment_at(local, before.time_zone)
        seconds = changes.seconds or int((occurrence.end - occurrence.start).total_seconds())
        return dataclasses.replace(
            before, name=changes.name or before.name,
            **self._requests(before, changes)), dataclasses.replace(
                occurrence, start=start, end=start + datetime.timedelta(seconds=seconds))

    def _previews(self, context, planned):
        previews, owner = [], None
        for occurrence in time_limit.TimeLimit(self._core).within(planned.occurrences):
            if occurrence.status == domain.BOOKED:
                previews.append(self._leases.preview_change(context, planned.after, occurrence))
            else:
                owner = owner or owner_context.acting(self._core, planned.after, context)
                previews.append(self._leases.preview(owner, planned.after, occurrence)[0])
        return previews

    def _planned(self, series_id, changes, now):
        """Return the PlannedChange of SeriesChanges."""
        with self._core.database.reader() as connection:
            before = stored.get(connection, series_id)
            known = series_occurrences.of_series(connection, [series_id])[series_id]
        refuse_over(before)
        number = 1 if changes.scope == domain.ALL else changes.number
        refuse_unknown(before, number)
        timing = before.timing if number == 1 else series_times.beginning_with(
            before.timing, number)
        after = self._changed(before, timing, changes)
        if number > 1:
            after = dataclasses.replace(after, id=uuidutils.generate_uuid(), created_at=now)
        spans = dict(enumerate(series_times.spans(after.timing), number))
        return PlannedChange(before, after, number, tuple(
            dataclasses.replace(each, series_id=after.id, number=each.number - number + 1,
                                start=spans[each.number].start, end=spans[each.number].end)
            for each in known if each.number in spans and not each.changed
            and min(each.start, spans[each.number].start) > now
            and each.status in (domain.BOOKED, domain.PLANNED, domain.FAILED)))

    def _changed(self, before, timing, changes):
        """Return the Series with the fields of SeriesChanges.

        :raises BadField: the new times overlap, or the reservations are not those of the series.
        """
        conf = self._core.conf.series
        start = timing.start if changes.time is None else datetime.datetime.combine(
            timing.start, datetime.time.fromisoformat(changes.time))
        checked = series_times.timing(
            timing.rule, start, changes.seconds or timing.seconds, timing.time_zone,
            series_times.SeriesLimits(conf.max_years, conf.max_occurrences))
        return dataclasses.replace(
            before, start=checked.start.isoformat(), seconds=checked.seconds, rule=checked.rule,
            name=changes.name or before.name, **self._requests(before, changes))

    def _requests(self, before, changes):
        """Return the new columns of the reservations of a series."""
        if changes.reservations is None:
            return {}
        types = [part.resource_type for part in changes.reservations]
        if types != [item['resource_type'] for item in before.request]:
            raise errors.BadField(field='reservations', reason=(
                'a change of a series must have the same resource types in the same order: '
                f'{", ".join(item["resource_type"] for item in before.request)}; make another '
                'series instead.'))
        apart = [create.secrets_apart(self._core, part.resource_type,
                                      {**item['request'], **part.request})
                 for part, item in zip(changes.reservations, before.request, strict=True)]
        return {
            'request': tuple({**item, 'request': dict(each.request)}
                             for item, each in zip(before.request, apart, strict=True)),
            'secrets': records.Secrets({**before.secrets, **{
                str(position): {**before.secrets.get(str(position), {}), **each.secrets}
                for position, each in enumerate(apart) if each.secrets}}),
            'hidden_criteria': changes.hidden_criteria or before.hidden_criteria,
            'resources': None}

    @cores.again_after_a_race
    def _write(self, planned, now):
        """Write a PlannedChange; the changed occurrences become due."""
        before, after = planned.before, planned.after
        with self._core.database.writer() as connection:
            current = stored.get(connection, before.id, locked=True)
            if current.generation != before.generation:
                raise errors.Conflict(reason=(
                    f'Series {before.id} was changed by another request at the same time: read it '
                    'again.'))
            if planned.splits:
                stored.add(connection, after)
                series_occurrences.move(connection, before.id, planned.number, after.id)
                stored.change(connection, current, now, extend_at=None, rule=(
                    series_times.ended_before(before.timing, planned.number).rule))
            else:
                stored.change(connection, current, now, **{
                    name: getattr(after, name) for name in (
                        'name', 'start', 'seconds', 'rule', 'request', 'secrets', 'resources',
                        'hidden_criteria')})
            series_occurrences.replan(connection, planned.occurrences, now)


def refuse_over(series):
    """Refuse to change a series that does not go on.

    :raises SeriesNotFound: its creation failed, or is not finished.
    :raises SeriesOver: it has ended or is cancelled.
    """
    if series.status in domain.HIDDEN:
        raise errors.SeriesNotFound(series_id=series.id)
    if series.status != domain.ACTIVE:
        raise errors.SeriesOver(series_id=series.id, status=series.status)


def refuse_unknown(series, number):
    """Refuse a number that no occurrence of a series has.

    :raises OccurrenceNotFound: there is no such occurrence.
    """
    last = len(series_times.spans(series.timing))
    if not 1 <= number <= last:
        raise errors.OccurrenceNotFound(series_id=series.id, number=number, last=last)
