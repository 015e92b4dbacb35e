# SPDX-License-Identifier: Apache-2.0
"""Hosts that can be leased: list, get, find, create, update and delete."""
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import itertools
import typing

from climate.client import errors
from climate.client import find
from climate.client import http


class Hosts:
    """The hosts an administrator enrolled. Properties are text, beside the host's own fields."""

    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def list(self, *, limit: int | None = None) -> Iterator[http.Record]:
        """Hosts, page after page; at most `limit` if that is given."""
        query = None if limit is None else {'limit': min(limit, 1000)}
        return itertools.islice(self._http.pages('/os-hosts', 'hosts', query), limit)

    def get(self, host_id: str) -> http.Record:
        """One host by its number."""
        return self._http.record(self._http.call('GET', _path(host_id)), 'host')

    def find(self, name_or_id: str) -> http.Record:
        """The host with that number, or the only one with exactly that hypervisor hostname.

        :raises NotFound: there is none.
        :raises Ambiguous: several hosts have the name.
        """
        if name_or_id.isdecimal():
            return self.get(name_or_id)
        named = (host for host in self.list() if host.get('hypervisor_hostname') == name_or_id)
        return find.only('host', name_or_id, named, lambda host: str(host['id']))

    def create(self, name: str, properties: Mapping[str, str] | None = None) -> http.Record:
        """The host, enrolled; `name` is its hypervisor hostname."""
        response = self._http.call('POST', '/os-hosts', body={**(properties or {}), 'name': name})
        return self._http.record(response, 'host')

    def update(self, host_id: str, properties: Mapping[str, str] | None = None, *,
               unset: Collection[str] = (), reservable: bool | None = None) -> http.Record:
        """The host after `properties` were set and those in `unset` were removed.

        :param reservable: False takes the host out of use, True back into it.
        """
        body: dict[str, typing.Any] = {**(properties or {}), **dict.fromkeys(unset)}
        if reservable is not None:
            body['reservable'] = reservable
        if not body:
            raise errors.BadValue('Nothing to change: give properties to set or to unset, or '
                                  'whether it is reservable.')
        return self._http.record(self._http.call('PUT', _path(host_id), body=body), 'host')

    def delete(self, host_id: str) -> None:
        """The host is an ordinary one again.

        :raises Conflict: it is leased.
        """
        self._http.call('DELETE', _path(host_id))


def _path(host_id: str) -> str:
    return f'/os-hosts/{http.quoted(str(host_id))}'
