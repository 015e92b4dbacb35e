# SPDX-License-Identifier: Apache-2.0
"""Properties of resources, which criteria can use: list, update and unset."""
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import json
import typing

from climate.client import http
from climate.client import times


class Properties:
    """The properties of one pool.

    :param place: the path of the pool.
    :param change: a function that changes a resource of the pool, as ``Resources.update`` does.
    """

    def __init__(self, transport: http.Http, place: str,
                 change: Callable[..., http.Record]) -> None:
        self._http = transport
        self._place = f'{place}/properties'
        self._facets = f'{place}/facets'
        self._change = change

    def list(self, *, detail: bool = False, include_private: bool = False
             ) -> Iterator[http.Record]:
        """List properties by name.

        :param detail: also return ``private`` and the ``values`` that resources have.
        :param include_private: also list private properties; for administrators.
        """
        query = {name: 'true' for name, asked in (('detail', detail), ('all', include_private))
                 if asked}
        return self._http.pages(self._place, 'resource_properties', query)

    def facets(self, *, criteria: Sequence[typing.Any] = (), start: times.Moment | None = None,
               duration: times.Span | None = None) -> http.Record:
        """Count the resources by the values of their properties, capacity and facts.

        :param criteria: only count resources that meet them, such as ['==', '$gpu', 'A100'].
        :param start: count those that are free from then on; None: now.
        :param duration: count those that are free for this duration; None: an hour.
        :returns: a record with ``total``, ``matching``, ``free`` and ``facets``: each has a
            ``property``, its ``kind``, and ``values`` with ``value``, ``matching`` and ``free``.
        """
        query: dict[str, typing.Any] = times.wire(start=start)
        if criteria:
            query['criteria'] = json.dumps([*criteria])
        if duration is not None:
            query['duration'] = int(times.span(duration).total_seconds())
        response = self._http.call('GET', self._facets, query=query)
        return http.Record(self._http.document(response, 'facets'))

    def update(self, name: str, *, private: bool) -> http.Record:
        """Make a property private (for administrators only) or public, and return it."""
        response = self._http.call('PATCH', f'{self._place}/{http.quoted(name)}',
                                   body={'private': private})
        return self._http.record(response, 'resource_property')

    def unset(self, name: str, resource_ids: Iterable[str]) -> None:
        """Remove a property from resources."""
        for resource_id in resource_ids:
            self._change(resource_id, unset=[name])
