# SPDX-License-Identifier: Apache-2.0
"""Properties that hosts have and leases may ask for: list, update and unset."""
from collections.abc import Iterable
from collections.abc import Iterator

from climate.client import hosts as hosts_module
from climate.client import http


class Properties:
    def __init__(self, transport: http.Http, hosts: hosts_module.Hosts) -> None:
        self._http = transport
        self._hosts = hosts

    def list(self, *, detail: bool = False, include_private: bool = False
             ) -> Iterator[http.Record]:
        """Properties by name.

        :param detail: with ``private`` and the ``values`` that hosts have.
        :param include_private: the private ones too; for administrators.
        """
        query = {name: 'true' for name, asked in (('detail', detail), ('all', include_private))
                 if asked}
        return self._http.pages('/os-hosts/properties', 'resource_properties', query)

    def update(self, name: str, *, private: bool) -> http.Record:
        """The property, seen by administrators only or by all."""
        response = self._http.call('PATCH', f'/os-hosts/properties/{http.quoted(name)}',
                                   body={'private': private})
        return self._http.record(response, 'resource_property')

    def unset(self, name: str, host_ids: Iterable[str]) -> None:
        """The hosts no longer have the property."""
        for host_id in host_ids:
            self._hosts.update(host_id, unset=[name])
