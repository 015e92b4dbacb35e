# SPDX-License-Identifier: Apache-2.0
"""Errors of series."""
from climate.errors import base
from climate.errors import services


class SeriesNotFound(base.NotFound):
    code = 'series_not_found'
    template = 'Series {series_id} was not found.'


class OccurrenceNotFound(base.NotFound):
    code = 'occurrence_not_found'
    template = ('Series {series_id} has no occurrence {number}: its occurrences have the numbers 1 '
                'to {last}.')


class SeriesOver(base.Conflict):
    code = 'series_over'
    template = 'Series {series_id} is {status}: it cannot be changed. Make another series.'


class SeriesInProgress(services.Overloaded):
    """An earlier request with the same Idempotency-Key is not finished."""

    code = 'series_in_progress'
    template = ('The series of the Idempotency-Key "{key}" is still being created: send the '
                'request again in {retry_after} seconds.')


class SeriesConflict(base.Conflict):
    """Some occurrences of a series cannot be booked or changed.

    ``details``: ``occurrences``, the list of {"number", "start", "problem", "nearest"} of those
    that cannot; the starts are ISO text.
    """

    code = 'series_conflict'
    template = ('{count} of {total} occurrences are not possible; the first is number {number} on '
                '{start}: {reason} Choose other times, or mode "what_fits".')


class TooManySeries(base.LimitReached):
    code = 'too_many_series'
    limit = 'series_per_project'
    template = ('Your project has {most} series that go on, the maximum: delete one, or ask your '
                'operator.')
