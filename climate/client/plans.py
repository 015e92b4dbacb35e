# SPDX-License-Identifier: Apache-2.0
"""Plans: what if a pool or the demand changed, and the forecast of the demand."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from climate.client import http
from climate.client import times


class Plans(http.Noun):
    """Answers what-if questions and forecasts; by default for administrators."""

    def what_if(self, *, pool: str = 'host', start: times.Moment | None = None,
                end: times.Moment | None = None,
                add: Iterable[Mapping[str, typing.Any]] = (), remove: Iterable[str] = (),
                out: Iterable[Mapping[str, typing.Any]] = (), demand_factor: float = 1,
                limit: int | None = None) -> http.Record:
        """Ask what would happen to the leases of a pool; nothing is written.

        :param start: the first moment; None: now.
        :param end: the end; None: 30 days later.
        :param add: resources that are added: {"count": 10, "like": id or name}.
        :param remove: ids or names of resources that are removed at the start.
        :param out: resources that cannot be used for a time: {"resources": [id or name],
            "start": a moment, "end": a moment}.
        :param demand_factor: 1.5 means 50 % more leases.
        :param limit: the most leases to list; None: 1000.
        :returns: a record with ``leases``, ``changes`` and ``utilisation``.
        """
        body: dict[str, typing.Any] = {
            'pool': pool, 'add': [dict(item) for item in add], 'remove': [*remove],
            'out': [{**outage, **times.wire(start=outage.get('start'), end=outage.get('end'))}
                    for outage in out],
            'demand_factor': demand_factor, **times.wire(start=start, end=end)}
        if limit is not None:
            body['limit'] = limit
        return self._http.record(self._http.call('POST', '/what-if', body=body), 'what_if')

    def forecast(self, *, pool: str = 'host', end: times.Moment | None = None,
                 criteria: Sequence[typing.Any] | None = None) -> http.Record:
        """Forecast the demand for a pool by hour.

        :param end: at most 28 days ahead; None: in a week.
        :param criteria: criteria as in a lease, such as ["==", "$gpu", "A100"]; None: all.
        :returns: a record with ``hours``, ``capacity``, ``short_at`` and ``may_be_short_at``.
        """
        query = {'pool': pool, **times.wire(end=end)}
        if criteria is not None:
            query['criteria'] = json.dumps(criteria)
        return self._http.record(self._http.call('GET', '/forecast', query=query), 'forecast')
