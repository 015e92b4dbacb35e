# SPDX-License-Identifier: Apache-2.0
"""Read series, with their occurrences and the names of their owners."""
import dataclasses

from climate import errors
from climate.db import leases
from climate.db import series as stored
from climate.db import series_occurrences
from climate.domain.series import series_records as domain
from climate.manager import owner_names


class ReadSeries:
    """The use cases of GET /v1/series."""

    def __init__(self, core):
        self._core = core

    def get(self, series_id):
        """Return a Series with the Occurrences that have rows.

        :raises SeriesNotFound: no series has that id, or its creation failed or is not finished.
        """
        with self._core.database.reader() as connection:
            series = stored.get(connection, series_id)
            if series.status in domain.HIDDEN:
                raise errors.SeriesNotFound(series_id=series_id)
            known = series_occurrences.of_series(connection, [series_id])[series_id]
            gone = leases.deleted_early(connection, {each.lease_id for each in known})
            [named] = owner_names.named(connection, [series])
        return dataclasses.replace(named, occurrences=tuple(
            _shown(occurrence, gone) for occurrence in known))

    def find(self, query):
        """Return the Series that a SeriesQuery selects, without occurrences.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.
        """
        with self._core.database.reader() as connection:
            return owner_names.named(connection, stored.find(connection, query))


def _shown(occurrence, gone):
    """Return an Occurrence as responses show it: cancelled if its lease was deleted alone."""
    if occurrence.status == domain.BOOKED and occurrence.lease_id in gone:
        return dataclasses.replace(occurrence, status=domain.OFF)
    return occurrence
