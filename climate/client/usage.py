# SPDX-License-Identifier: Apache-2.0
"""Usage of projects and utilisation of pools: get reports, as objects and as CSV."""
from collections.abc import Sequence
import typing

from climate.client import http
from climate.client import times


class Usage(http.Noun):
    """Reports the allocated, occupied, idle and refused resource-hours of projects."""

    _PATH = '/usage'

    def report(self, *, start: times.Moment | None = None, end: times.Moment | None = None,
               group_by: Sequence[str] = (), project_id: str | None = None,
               all_projects: bool = False) -> http.Record:
        """Get the usage of whole days (UTC), by group and in total.

        :param start: None: 30 days before the end.
        :param end: None: the end of this day.
        :param group_by: "project", "user", "type", "pool", "day", "property:NAME".
        :param project_id: another project than the own one; for administrators.
        :param all_projects: for administrators.
        :returns: a record with ``groups`` and ``total``; each has for ``allocated``, ``occupied``,
            ``idle`` and ``refused`` the ``resource_hours`` and the ``unit_hours``.
        """
        return self._http.record(self._http.call('GET', self._PATH, query=_usage_query(
            start, end, group_by, project_id, all_projects)), 'usage')

    def csv(self, *, start: times.Moment | None = None, end: times.Moment | None = None,
            group_by: Sequence[str] = (), project_id: str | None = None,
            all_projects: bool = False) -> str:
        """Get the same as `report` does, as CSV text with a row for each group."""
        return self._http.call('GET', self._PATH, query={**_usage_query(
            start, end, group_by, project_id, all_projects), 'format': 'csv'}).text


class Utilisation(http.Noun):
    """Reports how full pools were and will be."""

    _PATH = '/utilisation'

    def report(self, *, start: times.Moment | None = None, end: times.Moment | None = None,
               step: times.Span | None = None, pool: str | None = None) -> http.Record:
        """Get the mean of each figure in steps of time, by pool.

        :param start: None: now.
        :param end: None: 7 days after the start.
        :param step: full hours; None: chosen for at most about 200 steps.
        :param pool: None: all pools.
        :returns: a record with ``pools``, each with its ``steps``.
        """
        return self._http.record(self._http.call('GET', self._PATH, query=_steps_query(
            start, end, step, pool)), 'utilisation')

    def csv(self, *, start: times.Moment | None = None, end: times.Moment | None = None,
            step: times.Span | None = None, pool: str | None = None) -> str:
        """Get the same as `report` does, as CSV text with a row for each pool and step."""
        return self._http.call('GET', self._PATH, query={
            **_steps_query(start, end, step, pool), 'format': 'csv'}).text


def _usage_query(start: times.Moment | None, end: times.Moment | None, group_by: Sequence[str],
                 project_id: str | None, all_projects: bool) -> dict[str, typing.Any]:
    query = times.wire(start=start, end=end)
    if group_by:
        query['group_by'] = ','.join(group_by)
    if project_id is not None:
        query['project_id'] = project_id
    if all_projects:
        query['all_projects'] = 'true'
    return query


def _steps_query(start: times.Moment | None, end: times.Moment | None, step: times.Span | None,
                 pool: str | None) -> dict[str, typing.Any]:
    query = times.wire(start=start, end=end)
    if step is not None:
        query['step'] = int(times.span(step).total_seconds())
    if pool is not None:
        query['pool'] = pool
    return query
