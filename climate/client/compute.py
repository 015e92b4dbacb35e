# SPDX-License-Identifier: Apache-2.0
"""What Nova says of servers: their names, and how they stand."""
from collections.abc import Collection
import re

from climate.client import find
from climate.client import http

_HOST = 'OS-EXT-SRV-ATTR:host'


class Compute:
    """The servers of the compute service, which need not be there: then ServiceMissing."""

    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def find(self, name_or_id: str) -> http.Record:
        """``id`` and ``name`` of the server with that id, or of the only one with that name.

        :raises NotFound: there is none.
        :raises Ambiguous: several servers have the name.
        """
        if find.is_id(name_or_id):
            path = f'/servers/{http.quoted(name_or_id)}'
            return self._http.record(self._http.call('GET', path), 'server')
        # Nova reads the name as an expression, and some databases pass over its capitals.
        query = {'name': f'^{re.escape(name_or_id)}$'}
        named = [server for server in self._http.pages('/servers', 'servers', query)
                 if server['name'] == name_or_id]
        return find.only('server', name_or_id, named, lambda server: str(server['id']))

    def look_up(self, server_ids: Collection[str], *, all_projects: bool = False
                ) -> dict[str, http.Record]:
        """``name``, ``status`` and ``host`` of those servers that exist, by id.

        ``host`` is None where Nova does not show it: it does to administrators only.
        """
        # Nova filters by id for administrators only, so that all pages are read until the last
        # server is found.
        query = {'all_tenants': '1'} if all_projects else None
        missing, found = set(server_ids), {}
        pages = self._http.pages('/servers/detail', 'servers', query)
        while missing and (server := next(pages, None)) is not None:
            if server['id'] in missing:
                missing.remove(server['id'])
                found[server['id']] = http.Record(
                    name=server['name'], status=server['status'], host=server.get(_HOST))
        return found
