# SPDX-License-Identifier: Apache-2.0
"""Series, which are leases that repeat: create, list, get, change and cancel."""
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import typing

from climate.client import http
from climate.client import idempotency
from climate.client import name_lookup
from climate.client import times


class AllSeries(http.Noun):
    """The series that the caller may see."""

    def create(self, name: str, *, reservations: Sequence[Mapping[str, typing.Any]],
               start: str | datetime.datetime, duration: times.Span, repeat: str,
               time_zone: str = 'UTC', mode: str | None = None, same_resources: bool = False,
               idempotency_key: str | None = None, dry_run: bool = False) -> http.Record:
        """Create a series, and return it with its ``occurrences``.

        A request without a response is repeated with the same key, which makes no second series.

        :param start: the local time in `time_zone` from which the rule counts; a time with an
            offset is converted.
        :param repeat: "every monday until 2030-07-31", or an RRULE.
        :param time_zone: the name of the zone whose local time the series keeps.
        :param mode: "all_or_nothing", or "what_fits"; None: the default of the service.
        :param same_resources: whether each lease gets the resources of the first one.
        :param idempotency_key: a key of your own; None: a new one.
        :param dry_run: only return what each occurrence would get.
        :raises Conflict: not all occurrences can be booked, and the mode requires it.
        """
        body: dict[str, typing.Any] = {
            'name': name, 'reservations': [*reservations], 'repeat': repeat,
            'start': start.isoformat() if isinstance(start, datetime.datetime) else start,
            'duration': int(times.span(duration).total_seconds()), 'time_zone': time_zone}
        if mode is not None:
            body['mode'] = mode
        if same_resources:
            body['same_resources'] = True
        return self._http.record(self._http.call_until_answered(
            'POST', '/series', body=body, query={'dry_run': 'true'} if dry_run else None,
            headers=idempotency.headers(idempotency_key)), 'series')

    def list(self, *, all_projects: bool = False, status: str | None = None
             ) -> Iterator[http.Record]:
        """List series, the oldest first, without their occurrences."""
        query = {'all_projects': 'true' if all_projects else None, 'status': status}
        return self._http.pages('/series', 'series', {
            name: value for name, value in query.items() if value is not None})

    def get(self, series_id: str) -> http.Record:
        """Get a series, with its ``occurrences``."""
        return self._http.record(self._http.call('GET', _path(series_id)), 'series')

    def find(self, name_or_id: str) -> http.Record:
        """Find the series with this id, or with an id that begins so, or with exactly this name.

        A series that is over counts only if no other series has the name.

        :raises NotFound: no series has the id or the name.
        :raises Ambiguous: several series have the name.
        """
        if name_lookup.is_id(name_or_id):
            return self.get(name_or_id)
        listed = list(self.list())
        named = [series for series in listed if series['name'] == name_or_id]
        if not named and name_lookup.may_be_begin_of_id(name_or_id):
            named = [series for series in listed if series['id'].startswith(name_or_id.lower())]
        going_on = [series for series in named if series['status'] == 'active']
        return self.get(name_lookup.only(
            'series', name_or_id, going_on or named, lambda series: str(series['id']))['id'])

    def change(self, series_id: str, scope: str, occurrence: int | None = None, *,
               dry_run: bool = False, **changes: typing.Any) -> http.Record:
        """Change one occurrence ("this"), it and those after it ("following"), or "all".

        A change of the following occurrences makes a new series, which is returned.

        :param occurrence: the number of the occurrence; None for all.
        :param changes: name, time, duration, reservations.
        :param dry_run: only return what each changed occurrence would get.
        """
        query = {**_scope(scope, occurrence), **({'dry_run': 'true'} if dry_run else {})}
        return self._http.record(self._http.call(
            'PUT', _path(series_id), body=changes, query=query), 'series')

    def cancel(self, series_id: str, scope: str = 'all', occurrence: int | None = None) -> None:
        """Cancel one occurrence, it and those after it, or all; see `change`."""
        self._http.call('DELETE', _path(series_id), query=_scope(scope, occurrence))


def _scope(scope: str, occurrence: int | None) -> dict[str, str]:
    return {'scope': scope, **({} if occurrence is None else {'occurrence': str(occurrence)})}


def _path(series_id: str) -> str:
    return f'/series/{http.quoted(series_id)}'
