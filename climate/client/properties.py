# SPDX-License-Identifier: Apache-2.0
"""Properties of resources, which criteria can use: list, update and unset."""
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator

from climate.client import http


class Properties:
    """The properties of one pool.

    :param place: the path of the pool.
    :param change: a function that changes a resource of the pool, as ``Resources.update`` does.
    """

    def __init__(self, transport: http.Http, place: str,
                 change: Callable[..., http.Record]) -> None:
        self._http = transport
        self._place = f'{place}/properties'
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

    def update(self, name: str, *, private: bool) -> http.Record:
        """Make a property private (for administrators only) or public, and return it."""
        response = self._http.call('PATCH', f'{self._place}/{http.quoted(name)}',
                                   body={'private': private})
        return self._http.record(response, 'resource_property')

    def unset(self, name: str, resource_ids: Iterable[str]) -> None:
        """Remove a property from resources."""
        for resource_id in resource_ids:
            self._change(resource_id, unset=[name])
