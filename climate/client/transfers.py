# SPDX-License-Identifier: Apache-2.0
"""The transfers of leases: offer a lease, and show, accept, decline or withdraw offers."""
from collections.abc import Mapping
from collections.abc import Sequence

from climate.client import errors
from climate.client import http
from climate.client import name_lookup
from climate.client import times

_OFFERED = 'offered'
_KEY_HEADER = 'X-Transfer-Key'


class Transfers(http.Noun):
    """The offers of leases, of the own project and to it."""

    def offer(self, lease_id: str, *, project: str | None = None, hosts: int | None = None,
              expires_at: times.Moment | None = None, on_withdrawal: str | None = None,
              notice: times.Span | None = None) -> http.Record:
        """Offer a lease to another project.

        :param project: the id or the name of the project; None: the result has a one-time ``key``.
        :param hosts: the number of hosts of a future lease; None: the whole lease.
        :param expires_at: when the offer expires; None: as the service says.
        :param on_withdrawal: keep, stop or delete, for running servers of the own project.
        :param notice: the time between the transfer and the stop or the deletion.
        :raises Conflict: the lease cannot be transferred, or has an open offer.
        """
        receiver = {'key': True} if project is None else {'project_id': project}
        body = {name: value for name, value in {
            **receiver, 'hosts': hosts, 'on_withdrawal': on_withdrawal,
            'notice': None if notice is None else int(times.span(notice).total_seconds()),
            **times.wire(expires_at=expires_at)}.items() if value is not None}
        return self._http.record(self._http.call('POST', _of_lease(lease_id), body=body),
                                 'transfer')

    def list(self) -> Sequence[http.Record]:
        """List the open offers to the caller's project, the oldest first."""
        return [*self._http.pages('/transfers', 'transfers')]

    def of_lease(self, lease_id: str) -> Sequence[http.Record]:
        """List all transfers of a lease, the oldest first."""
        return [*self._http.pages(_of_lease(lease_id), 'transfers')]

    def full_id(self, text: str) -> str:
        """Return the id of the offer to the project that begins with a text, or else the text."""
        return name_lookup.full_id('transfer', text, self.list)

    def get(self, transfer_id: str, key: str | None = None) -> http.Record:
        """Show an offer, with the ``lease`` that the caller would get, or the ``problem``."""
        return self._http.record(self._http.call(
            'GET', _path(transfer_id), headers={} if key is None else {_KEY_HEADER: key}),
            'transfer')

    def accept(self, transfer_id: str, key: str | None = None, *, dry_run: bool = False,
               etag: str | None = None) -> http.Record:
        """Accept an offer; return the lease of the caller.

        :param etag: the ``etag`` of `get`: refuse if the lease has changed since.
        :raises Conflict: the offer was decided or has expired, or the lease cannot be transferred.
        """
        return self._http.record(self._http.call(
            'POST', f'{_path(transfer_id)}/accept', body=_with_key(key),
            query={'dry_run': 'true'} if dry_run else None,
            headers={} if etag is None else {'If-Match': etag}), 'lease')

    def decline(self, transfer_id: str, key: str | None = None) -> http.Record:
        """Decline an offer; return the transfer."""
        return self._http.record(self._http.call(
            'POST', f'{_path(transfer_id)}/decline', body=_with_key(key)), 'transfer')

    def open_id(self, lease_id: str) -> str:
        """Return the id of the open offer of a lease.

        :raises BadValue: the lease has no open offer.
        """
        for transfer in self.of_lease(lease_id):
            if transfer['status'] == _OFFERED:
                return str(transfer['id'])
        raise errors.BadValue('The lease has no open offer, so there is nothing to withdraw.')

    def withdraw(self, lease_id: str, transfer_id: str) -> http.Record:
        """Withdraw an offer of a lease; return the transfer."""
        return self._http.record(self._http.call(
            'DELETE', f'{_of_lease(lease_id)}/{http.quoted(transfer_id)}'), 'transfer')


def _with_key(key: str | None) -> Mapping[str, str]:
    return {} if key is None else {'key': key}


def _of_lease(lease_id: str) -> str:
    return f'/leases/{http.quoted(lease_id)}/transfers'


def _path(transfer_id: str) -> str:
    return f'/transfers/{http.quoted(transfer_id)}'
