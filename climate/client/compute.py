# SPDX-License-Identifier: Apache-2.0
"""Names and status of servers, from the compute service."""
from collections.abc import Collection
import re

from climate.client import http
from climate.client import name_lookup

_HOST = 'OS-EXT-SRV-ATTR:host'


class Compute(http.Noun):
    """The servers of the compute service; methods raise ServiceMissing if the cloud has none."""

    def find(self, name_or_id: str) -> http.Record:
        """Find the server with this id, or the only one with this name.

        :returns: a record with ``id`` and ``name``.
        :raises NotFound: no server has the id or the name.
        :raises Ambiguous: several servers have the name.
        """
        if name_lookup.is_id(name_or_id):
            path = f'/servers/{http.quoted(name_or_id)}'
            return self._http.record(self._http.call('GET', path), 'server')
        # Nova takes the name as a regular expression, and some databases ignore case.
        query = {'name': f'^{re.escape(name_or_id)}$'}
        named = [server for server in self._http.pages('/servers', 'servers', query)
                 if server['name'] == name_or_id]
        return name_lookup.only('server', name_or_id, named, lambda server: str(server['id']))

    def look_up(self, server_ids: Collection[str], *, all_projects: bool = False
                ) -> dict[str, http.Record]:
        """Look up servers by id.

        :returns: {id: record with ``name``, ``status`` and ``host``} of the servers that exist;
            ``host`` is None if Nova hides it, as it does from all but administrators.
        """
        # Only administrators can filter by id in Nova, so pages are read until all servers are
        # found.
        query = {'all_tenants': '1'} if all_projects else None
        missing, servers = set(server_ids), {}
        pages = self._http.pages('/servers/detail', 'servers', query)
        while missing and (server := next(pages, None)) is not None:
            if server['id'] in missing:
                missing.remove(server['id'])
                servers[server['id']] = http.Record(
                    name=server['name'], status=server['status'], host=server.get(_HOST))
        return servers
