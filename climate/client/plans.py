# SPDX-License-Identifier: Apache-2.0
"""Plans: what if a pool or the demand changed, and the forecast of the demand."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from climate.client import http
from climate.client import times


class Plans:
    """Asks for plans; by default only administrators may."""

    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def what_if(self, *, pool: str = 'host', start: times.Moment | None = None,
                end: times.Moment | None = None,
                add: Iterable[Mapping[str, typing.Any]] = (), remove: Iterable[str] = (),
                out: Iterable[Mapping[str, typing.Any]] = (), demand_factor: float = 1,
                limit: int | None = None) -> http.Record:
        """Ask what would become of the leases of a pool; nothing is written.

        :param start: the first moment that is looked at; None: now.
        :param end: the end; None: 30 days later.
        :param add: resources that are added: {"count": 10, "like": id or name}.
        :param remove: ids or names of resources that are gone from the start on.
        :param out: resources that cannot be used for a time: {"resources": [id or name],
            "start": a moment, "end": a moment}.
        :param demand_factor: 1.5: half as many leases more.
        :param limit: how many leases to list; None: 1000.
        :returns: a record with ``leases``, ``changes`` and ``utilisation``.
        """
        now = times.utcnow()
        body: dict[str, typing.Any] = {
            'pool': pool, 'add': [dict(each) for each in add], 'remove': [*remove],
            'out': [{**each, **_moments(each, now)} for each in out],
            'demand_factor': demand_factor, **_moments({'start': start, 'end': end}, now)}
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
        query = {'pool': pool, **_moments({'end': end}, times.utcnow())}
        if criteria is not None:
            query['criteria'] = json.dumps(criteria)
        return self._http.record(self._http.call('GET', '/forecast', query=query), 'forecast')


def _moments(given: Mapping[str, typing.Any], now: typing.Any) -> dict[str, str]:
    return {name: times.on_the_wire(given[name], now) for name in ('start', 'end')
            if given.get(name) is not None}
