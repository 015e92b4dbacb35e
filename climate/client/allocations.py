# SPDX-License-Identifier: Apache-2.0
"""Allocations of resources to reservations: list and get."""
from collections.abc import Iterator

from climate.client import http


class Allocations:
    """The allocations of one pool.

    :param place: the path of the pool.
    """

    def __init__(self, transport: http.Http, place: str) -> None:
        self._http = transport
        self._place = place

    def list(self, *, lease_id: str | None = None, reservation_id: str | None = None
             ) -> Iterator[http.Record]:
        """List resources, each with its ``reservations``; without a filter, only those not over."""
        return self._http.pages(f'{self._place}/allocations', 'allocations',
                                _filters(lease_id, reservation_id))

    def get(self, resource_id: str, *, lease_id: str | None = None,
            reservation_id: str | None = None) -> http.Record:
        """Get one resource with its ``reservations``."""
        response = self._http.call(
            'GET', f'{self._place}/{http.quoted(str(resource_id))}/allocation',
            query=_filters(lease_id, reservation_id))
        return self._http.record(response, 'allocation')


def _filters(lease_id: str | None, reservation_id: str | None) -> dict[str, str]:
    filters = {'lease_id': lease_id, 'reservation_id': reservation_id}
    return {name: value for name, value in filters.items() if value}
