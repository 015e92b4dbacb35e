# SPDX-License-Identifier: Apache-2.0
"""The shares of a lease: share it, list its shares, withdraw one, and leave a lease."""
from collections.abc import Sequence

from climate.client import errors
from climate.client import http
from climate.client import name_lookup
from climate.client import times


class Shares(http.Noun):
    """The shares of the leases that the caller may see."""

    def create(self, lease_id: str, role: str, *, project: str | None = None,
               user: str | None = None, until: times.Moment | None = None,
               on_withdrawal: str | None = None, notice: times.Span | None = None) -> http.Record:
        """Share a lease with another project or user.

        :param role: viewer, user or manager.
        :param project: the id or the name of the project; or give `user`.
        :param until: when the share ends; None: with the lease.
        :param on_withdrawal: keep, stop or delete, for running servers of the project.
        :param notice: the time between the end of the share and the stop or the deletion.
        :raises Conflict: the project or user has a share already, or the lease is over.
        """
        body = {name: value for name, value in {
            'project_id': project, 'user_id': user, 'role': role, 'on_withdrawal': on_withdrawal,
            'notice': None if notice is None else int(times.span(notice).total_seconds()),
            **times.wire(until=until)}.items() if value is not None}
        return self._http.record(self._http.call('POST', _path(lease_id), body=body), 'share')

    def list(self, lease_id: str) -> Sequence[http.Record]:
        """List the open shares of a lease; a receiver sees only its own."""
        return [*self._http.pages(_path(lease_id), 'shares')]

    def full_id(self, lease_id: str, text: str) -> str:
        """Return the id of the share whose id begins with a text, or whose receiver it names."""
        listed = self.list(lease_id)
        named = [share['id'] for share in listed
                 if text in (share['name'], share['project_id'], share['user_id'])]
        return named[0] if len(named) == 1 else name_lookup.full_id(
            'share', text, lambda: iter(listed))

    def own(self, lease_id: str) -> http.Record:
        """Return the share by which the caller sees a lease.

        :raises BadValue: the lease is not shared with the caller.
        """
        lease = self._http.record(
            self._http.call('GET', f'/leases/{http.quoted(lease_id)}'), 'lease')
        if not lease.get('shared'):
            raise errors.BadValue(f'Lease {lease["name"]} is not shared with you, so you cannot '
                                  'leave it.')
        return http.Record(lease['shared'])

    def delete(self, lease_id: str, share_id: str, *, dry_run: bool = False) -> http.Record:
        """Withdraw a share, or leave a lease by the own share.

        :returns: a record with ``share`` and ``servers``: the running servers of the other project
            with their ``fate``; None if the cloud cannot list them now.
        """
        response = self._http.call('DELETE', f'{_path(lease_id)}/{http.quoted(share_id)}',
                                   query={'dry_run': 'true'} if dry_run else None)
        return http.Record(self._http.document(response, 'share'))


def _path(lease_id: str) -> str:
    return f'/leases/{http.quoted(lease_id)}/shares'
