# SPDX-License-Identifier: Apache-2.0
"""Energy: get the report of resources that sleep, and of the energy that this saves."""
from climate.client import http
from climate.client import times


class Energy(http.Noun):
    """Reports which resources sleep, how long they slept, and how much energy that saved."""

    _PATH = '/energy'

    def report(self, *, start: times.Moment | None = None, end: times.Moment | None = None,
               pool: str | None = None) -> http.Record:
        """Get the sleep of each enrolled resource between two moments, and in total.

        :param start: None: 30 days before the end.
        :param end: None: now.
        :param pool: None: all pools whose resources can sleep.
        :returns: a record with ``resources`` and ``total``, with ``hours_asleep`` and
            ``kwh_saved``, which is None if the power that a resource draws is unknown.
        """
        query = times.wire(start=start, end=end)
        if pool is not None:
            query['pool'] = pool
        return self._http.record(self._http.call('GET', self._PATH, query=query), 'energy')
