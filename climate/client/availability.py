# SPDX-License-Identifier: Apache-2.0
"""When reservations could be had: asked, and held."""
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

import requests

from climate.client import http
from climate.client import times

_PATH = '/availability'


class Availability:
    """What is free, and when."""

    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def find(self, reservations: Sequence[Mapping[str, typing.Any]], *, duration: times.Span,
             earliest: times.Moment | None = None, latest: times.Moment | None = None,
             limit: int | None = None) -> http.Record:
        """The ``offers`` for reservations as a lease has them; nothing is held.

        Where there are none, ``reasons`` say why, and ``alternatives`` what could be had.

        :param earliest: all of the duration lies after it; None: it may begin at once.
        :param latest: and before this; None: it begins within 30 days.
        :param limit: most offers.
        """
        query = _asked(duration, earliest, latest, limit)
        return self._answer(self._http.call('GET', _PATH, query={
            'reservations': json.dumps([*reservations]), **query}))

    def hold(self, reservations: Sequence[Mapping[str, typing.Any]], *, duration: times.Span,
             earliest: times.Moment | None = None, latest: times.Moment | None = None,
             limit: int | None = None, count: int = 1) -> http.Record:
        """The same; the first `count` offers are held: they have an ``id`` and ``held_until``.

        :raises Conflict: the project holds as many as it may.
        """
        query = _asked(duration, earliest, latest, limit)
        return self._answer(self._http.call('POST', _PATH, body={
            'reservations': [*reservations], 'hold': count, **query}))

    def _answer(self, response: requests.Response) -> http.Record:
        return http.Record(self._http.document(response, 'offers'))


def _asked(duration: times.Span, earliest: times.Moment | None, latest: times.Moment | None,
           limit: int | None) -> dict[str, typing.Any]:
    now = times.utcnow()
    found: dict[str, typing.Any] = {'duration': int(times.span(duration).total_seconds())}
    for name, value in (('earliest', earliest), ('latest', latest)):
        if value is not None:
            found[name] = times.on_the_wire(value, now)
    if limit is not None:
        found['limit'] = limit
    return found
