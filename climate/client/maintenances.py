# SPDX-License-Identifier: Apache-2.0
"""Maintenances of hosts and other resources: list, get, create and delete."""
from collections.abc import Iterator
from collections.abc import Sequence
import typing

from climate.client import errors
from climate.client import http
from climate.client import name_lookup
from climate.client import times


class Maintenances(http.Noun):
    """The maintenances that are planned or under way; only operators may see them."""

    def list(self) -> Iterator[http.Record]:
        """List the maintenances that are not over, by start; each page is requested when needed."""
        return self._http.pages('/maintenances', 'maintenances')

    def full_id(self, text: str) -> str:
        """Return the id of the maintenance whose id begins with a text, or else the text."""
        return name_lookup.full_id('maintenance', text, self.list)

    def get(self, maintenance_id: str) -> http.Record:
        """Get a maintenance, with the ``leases`` that it affects.

        :raises NotFound: there is none, or it is over.
        """
        return self._http.record(self._http.call('GET', _path(maintenance_id)), 'maintenance')

    def create(self, reason: str, *, start: times.Moment, end: times.Moment,
               hosts: Sequence[str] = (), resources: Sequence[str] = (),
               criteria: typing.Any = None, pool: str | None = None, running: str = 'left',
               notice: times.Span | None = None, rrule: str | None = None,
               dry_run: bool = False) -> http.Record:
        """Plan a maintenance, and return it with the ``leases`` that it affects.

        Give one of `hosts`, `resources` and `criteria`.

        :param reason: owners of leases read it.
        :param criteria: criteria as in a lease: all resources of `pool` that meet them.
        :param pool: the pool of `resources` and `criteria`; None: hosts.
        :param running: what happens to leases that run: "left", "swap" or "end".
        :param notice: the time between the notification of an owner and the early end of a lease.
        :param rrule: the rule of its recurrence, such as "FREQ=WEEKLY".
        :param dry_run: only return what would happen to leases.
        :raises BadValue: none of these three is given.
        """
        body: dict[str, typing.Any] = {
            'reason': reason, 'running': running, **times.wire(start=start, end=end)}
        named = {'hosts': [*hosts], 'resources': [*resources], 'criteria': criteria}
        body.update({name: value for name, value in named.items() if value})
        if not any(named.values()):
            raise errors.BadValue(
                'Nothing to maintain: give hosts=[…], resources=[…] or criteria=….')
        if pool is not None:
            body['pool'] = pool
        if notice is not None:
            body['notice'] = int(times.span(notice).total_seconds())
        if rrule is not None:
            body['rrule'] = rrule
        response = self._http.call('POST', '/maintenances', body=body,
                                   query={'dry_run': 'true'} if dry_run else None)
        return self._http.record(response, 'maintenance')

    def delete(self, maintenance_id: str) -> None:
        """Delete a maintenance: leases may have its resources again."""
        self._http.call('DELETE', _path(maintenance_id))


def _path(maintenance_id: str) -> str:
    return f'/maintenances/{http.quoted(maintenance_id)}'
