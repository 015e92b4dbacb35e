# SPDX-License-Identifier: Apache-2.0
"""Which host is promised to which reservation: list and get."""
from collections.abc import Iterator

from climate.client import http


class Allocations:
    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def list(self, *, lease_id: str | None = None, reservation_id: str | None = None
             ) -> Iterator[http.Record]:
        """Hosts, each with its ``reservations``; without a filter only those not yet over."""
        return self._http.pages('/os-hosts/allocations', 'allocations',
                                _filters(lease_id, reservation_id))

    def get(self, host_id: str, *, lease_id: str | None = None,
            reservation_id: str | None = None) -> http.Record:
        """One host with its ``reservations``."""
        response = self._http.call('GET', f'/os-hosts/{http.quoted(str(host_id))}/allocation',
                                   query=_filters(lease_id, reservation_id))
        return self._http.record(response, 'allocation')


def _filters(lease_id: str | None, reservation_id: str | None) -> dict[str, str]:
    asked = {'lease_id': lease_id, 'reservation_id': reservation_id}
    return {name: value for name, value in asked.items() if value}
