# SPDX-License-Identifier: Apache-2.0
"""The lease of one occurrence: preview it, create it, change it, delete it.

The id of a lease follows from the series and the number of the occurrence. So a creation can be
repeated after a crash, and nothing is booked twice.
"""
import contextlib
import dataclasses
import datetime
import uuid

from climate import errors
from climate.db import leases
from climate.db import resources
from climate.db import series as stored
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.domain.series import series_records as domain
from climate.manager.leases import create
from climate.manager.leases import delete
from climate.manager.leases import update

_GONE = texts.same('Its lease was deleted alone.')


class OccurrenceLeases:
    """Works on the leases of occurrences by the use cases of ordinary leases."""

    def __init__(self, core):
        self._core = core
        self._create = create.Create(core)
        self._update = update.Update(core)
        self._delete = delete.Delete(core)

    def preview(self, context, series, occurrence):
        """Preview the lease of an occurrence that has none; write nothing.

        :returns: (the OccurrencePreview, the names of its resources as `names_of` returns them).
        :raises BadRequest: the request of the series is wrong.
        """
        try:
            lease = self._create.create(context, str(uuid.uuid4()), self._request(
                series, occurrence, dry_run=True), _origin(series))
        except errors.BadRequest:
            raise
        except errors.ClimateError as error:
            return refused(occurrence, error), None
        names = self.names_of(lease)
        return _fitting(occurrence, names), names

    def preview_change(self, context, series, occurrence, alone=None):
        """Return the OccurrencePreview of a change of an occurrence with a lease.

        :param alone: the SeriesChanges of this occurrence alone; None: the whole series changes.
        :raises BadRequest: the request of the series is wrong.
        """
        try:
            lease = self._lease_of(occurrence)
            if lease is None:
                return domain.OccurrencePreview(
                    occurrence.number, occurrence.start, occurrence.end, fits=False,
                    problem=_GONE.operator, owner_problem=_GONE.owner)
            changed = self._update.update(context, lease.id, dataclasses.replace(
                _changes(series, occurrence, lease) if alone is None
                else _changes_alone(alone, occurrence, lease), dry_run=True))
        except errors.BadRequest:
            raise
        except errors.ClimateError as error:
            return refused(occurrence, error)
        return _fitting(occurrence, self.names_of(changed))

    def names_of(self, lease):
        """Return {position: {need: names of resources}} of the reservations of a Lease."""
        with self._core.database.reader() as connection:
            by_id = {resource.id: resource.name for resource in resources.with_ids(
                connection, {key for each in lease.reservations for key in each.resource_ids})}
        return {str(position): {need: sorted({by_id[key] for key in ids})
                                for need, ids in reservation.allocated.items()}
                for position, reservation in enumerate(lease.reservations)}

    def book(self, context, series, occurrence):
        """Create the lease of an occurrence, unless an earlier try created it."""
        lease = self._create.create(
            context, occurrence.lease_id, self._request(series, occurrence),
            _origin(series, occurrence.status == domain.FAILED))
        if (lease.start, lease.end) != (occurrence.start, occurrence.end):
            # The series was changed after the earlier try.
            self.change(context, series, occurrence)
        if series.same_resources and series.resources is None:
            self._remember(series, lease)

    def change(self, context, series, occurrence):
        """Change the lease of an occurrence as its series says, unless it has begun or is gone."""
        lease = self._lease_of(occurrence)
        if lease is not None and lease.state == lifecycle.PENDING:
            self._update.update(context, lease.id, _changes(series, occurrence, lease))

    def change_alone(self, context, occurrence, changes):
        """Change the lease of one occurrence as its owner does, who then manages it alone.

        :param occurrence: the Occurrence with its times after the SeriesChanges.
        :raises LeaseNotFound: the lease was deleted.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, occurrence.lease_id)
        self._update.update(context, lease.id, _changes_alone(changes, occurrence, lease))

    def delete(self, context, lease_id):
        """Delete the lease of an occurrence; do nothing if there is none."""
        with contextlib.suppress(errors.LeaseNotFound):
            self._delete.delete(context, lease_id)

    def _lease_of(self, occurrence):
        """Return the Lease of an occurrence; None: it is gone."""
        with self._core.database.reader() as connection:
            try:
                lease = leases.get(connection, occurrence.lease_id)
            except errors.LeaseNotFound:
                return None
        return None if lease.deleted_at is not None else lease

    def _remember(self, series, lease):
        """Store the resources of the first lease of a series, which all others get, too."""
        with self._core.database.writer() as connection:
            stored.remember_resources(connection, series.id, self.names_of(lease))

    def _request(self, series, occurrence, dry_run=False):
        return records.LeaseRequest(
            name=series.name, start=occurrence.start, end=occurrence.end,
            reservations=reservation_requests(series), dry_run=dry_run,
            hidden_criteria=series.hidden_criteria)


def reservation_requests(series):
    """Return the ReservationRequests of a lease of a Series."""
    return tuple(records.ReservationRequest(
        resource_type=item['resource_type'],
        request={**item['request'], **series.secrets.get(str(position), {})},
        label=item.get('label'),
        depends_on=None if item.get('depends_on') is None else tuple(item['depends_on']))
        for position, item in enumerate(series.request))


def _changes(series, occurrence, lease):
    """Return the LeaseChanges that give a lease the name, times and requests of its series.

    :raises BadTransition: the reservations of the lease are not those of the series.
    """
    wanted = reservation_requests(series)
    if [each.resource_type for each in wanted] != [
            each.resource_type for each in lease.reservations]:
        raise errors.BadTransition(
            f'Lease {lease.id} has other reservations than its series: change it alone.')
    return records.LeaseChanges(
        name=series.name, start=occurrence.start, end=occurrence.end,
        reservations=tuple(
            records.ReservationRequest(each.resource_type, each.request, id=stored_one.id)
            for each, stored_one in zip(wanted, lease.reservations, strict=True)),
        hidden_criteria=series.hidden_criteria, of_series=True)


def _changes_alone(changes, occurrence, lease):
    """Return the LeaseChanges of one occurrence; fields that SeriesChanges leave out stay.

    The owner may have changed these fields of the lease before.
    """
    moves = changes.time is not None
    return records.LeaseChanges(
        name=changes.name, start=occurrence.start if moves else None,
        end=occurrence.end if moves or changes.seconds else None,
        reservations=() if changes.reservations is None else tuple(
            records.ReservationRequest(part.resource_type, part.request, id=known.id)
            for part, known in zip(changes.reservations, lease.reservations, strict=True)),
        hidden_criteria=changes.hidden_criteria)


def _origin(series, has_waited=False):
    return create.Origin(series.id, series.trust_id, series.resources, has_waited)


def lease_id(series_id, number):
    """Return the id of the lease of an occurrence of a series."""
    return str(uuid.uuid5(uuid.UUID(series_id), str(number)))


def _fitting(occurrence, names):
    """Return the OccurrencePreview of an occurrence that gets resources with some names."""
    return domain.OccurrencePreview(
        occurrence.number, occurrence.start, occurrence.end, fits=True,
        resources=tuple(tuple(name for need in sorted(names[position])
                              for name in names[position][need])
                        for position in sorted(names, key=int)))


def refused(occurrence, error):
    """Return the OccurrencePreview of an occurrence that is refused with an error."""
    # The exact moment would show members when leases of other projects end.
    nearest = error.owner_details.get('nearest') if isinstance(error, errors.NotEnough) else None
    return domain.OccurrencePreview(
        occurrence.number, occurrence.start, occurrence.end, fits=False, problem=error.message,
        owner_problem=error.owner_message,
        nearest=datetime.datetime.fromisoformat(nearest) if nearest else None)
