# SPDX-License-Identifier: Apache-2.0
"""Availability of reservations: find times at which they fit, and hold offers."""
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

import requests

from climate.client import http
from climate.client import times

_PATH = '/availability'


class Availability(http.Noun):
    """Finds times at which reservations fit."""

    def find(self, reservations: Sequence[Mapping[str, typing.Any]], *, duration: times.Span,
             earliest: times.Moment | None = None, latest: times.Moment | None = None,
             limit: int | None = None) -> http.Record:
        """Find offers without holding them.

        :param reservations: in the form that ``leases.create`` takes.
        :param earliest: the earliest start; None: now.
        :param latest: the latest end; None: the start is within 30 days.
        :param limit: the maximum number of offers.
        :returns: a record with ``offers``; if there are none, ``reasons`` explain that, and
            ``alternatives`` list requests that would fit.
        """
        query = _query(duration, earliest, latest, limit)
        return self._answer(self._http.call('GET', _PATH, query={
            'reservations': json.dumps([*reservations]), **query}))

    def hold(self, reservations: Sequence[Mapping[str, typing.Any]], *, duration: times.Span,
             earliest: times.Moment | None = None, latest: times.Moment | None = None,
             limit: int | None = None, count: int = 1) -> http.Record:
        """Find offers as `find` does, and hold the first `count` of them.

        :returns: as for `find`; a held offer has an ``id`` and ``held_until``.
        :raises Conflict: the project holds the maximum number of offers already.
        """
        query = _query(duration, earliest, latest, limit)
        return self._answer(self._http.call('POST', _PATH, body={
            'reservations': [*reservations], 'hold': count, **query}))

    def _answer(self, response: requests.Response) -> http.Record:
        return http.Record(self._http.document(response, 'offers'))


def _query(duration: times.Span, earliest: times.Moment | None, latest: times.Moment | None,
           limit: int | None) -> dict[str, typing.Any]:
    query = {'duration': int(times.span(duration).total_seconds()),
             **times.wire(earliest=earliest, latest=latest)}
    if limit is not None:
        query['limit'] = limit
    return query
