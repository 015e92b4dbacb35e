# SPDX-License-Identifier: Apache-2.0
"""The sub-leases of a lease: give hosts of it to another project, and list what was given."""
from collections.abc import Sequence

from climate.client import http
from climate.client import times


class SubLeases(http.Noun):
    """The sub-leases of the leases of the caller's project."""

    def create(self, lease_id: str, name: str, project: str, *, hosts: int | None = None,
               resources: Sequence[str] = (), start: times.Moment | None = None,
               end: times.Moment | None = None, dry_run: bool = False) -> http.Record:
        """Create a sub-lease, which is a lease of the other project; return the lease.

        :param project: the id or the name of the project.
        :param hosts: the number of hosts; or name them in `resources`.
        :param start: None: the start of the lease, or now.
        :param end: None: the end of the lease.
        :raises Conflict: too few hosts of the lease are free, or it cannot have sub-leases.
        """
        body = {'name': name, 'project': project, **times.wire(start=start, end=end)}
        body |= {'resources': list(resources)} if resources else {'hosts': hosts}
        return self._http.record(self._http.call(
            'POST', _path(lease_id), query={'dry_run': 'true'} if dry_run else None,
            body={key: value for key, value in body.items() if value is not None}), 'lease')

    def list(self, lease_id: str) -> Sequence[http.Record]:
        """List the sub-leases of a lease that are not over."""
        return [*self._http.pages(_path(lease_id), 'sub_leases')]

    def free_hosts(self, lease_id: str, *, start: times.Moment | None = None,
                   end: times.Moment | None = None) -> Sequence[http.Record]:
        """List the hosts of a lease that are free for a sub-lease for all of a time."""
        query = {key: value for key, value in times.wire(start=start, end=end).items()
                 if value is not None}
        response = self._http.call('GET', f'/leases/{http.quoted(lease_id)}/availability',
                                   query=query)
        return [http.Record(each) for each in self._http.document(response, 'hosts')['hosts']]


def _path(lease_id: str) -> str:
    return f'/leases/{http.quoted(lease_id)}/sub-leases'
