# SPDX-License-Identifier: Apache-2.0
"""Leases of the service: list, get, find, create, update, extend, end, delete and wait."""
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import itertools
import typing
import uuid

from climate.client import errors
from climate.client import find
from climate.client import http
from climate.client import statuses
from climate.client import times
from climate.client import waiting

# More than this in one page the service need not give.
_LARGEST_PAGE = 1000


class Leases:
    """The leases that the caller may see."""

    def __init__(self, transport: http.Http) -> None:
        self._http = transport

    def list(self, *, limit: int | None = None, **filters: typing.Any) -> Iterator[http.Record]:
        """Leases, page after page.

        :param limit: stop after so many; None: all.
        :param filters: sort, status, name, project_id, all_projects, starts_before, ends_after,
            resource_id, deleted; None and False are not sent.
        """
        query = {name: 'true' if value is True else value
                 for name, value in filters.items() if value is not None and value is not False}
        if limit is not None:
            query['limit'] = min(limit, _LARGEST_PAGE)
        return itertools.islice(self._http.pages('/leases', 'leases', query), limit)

    def get(self, lease_id: str) -> http.Record:
        """One lease, with its ``etag``."""
        return self._http.record(self._http.call('GET', _path(lease_id)), 'lease')

    def find(self, name_or_id: str) -> http.Record:
        """The lease with that id, or the only one with exactly that name.

        Leases that are over count only where no other has the name.

        :raises NotFound: there is none.
        :raises Ambiguous: several leases have the name.
        """
        if find.is_id(name_or_id):
            return self.get(name_or_id)
        named = [lease for lease in self.list(name=name_or_id) if lease['name'] == name_or_id]
        alive = [lease for lease in named if lease['status'] not in statuses.PAST]
        return self.get(find.only('lease', name_or_id, alive or named, _shown)['id'])

    def create(self, name: str, *,
               reservations: Sequence[Mapping[str, typing.Any]] | None = None,
               start: times.Moment | None = None, end: times.Moment | None = None,
               duration: times.Span | None = None, before_end: times.Moment | None = None,
               events: Sequence[Mapping[str, typing.Any]] = (),
               acquire: Mapping[str, typing.Any] | None = None, offer: str | None = None,
               idempotency_key: str | None = None, dry_run: bool = False) -> http.Record:
        """A new lease; of `start`, `end` and `duration` two are enough, and start is now if alone.

        A lost answer is asked for again with the same key, which makes no second lease.

        :param acquire: how it gets its resources: its ``type`` and what belongs to that; None:
            at once, or set aside for a later start.
        :param offer: the id of an offer that is held, which says what is reserved and when.
        :param idempotency_key: a key of your own; a new one is made if None.
        :param dry_run: only say what would be given.
        :raises Conflict: there is no room; ``details`` says what there is.
        :raises NotFound: there is no such offer, or not any more.
        """
        if reservations is None and offer is None:
            raise errors.BadValue('Say what to reserve: reservations=[…], or offer=ID.')
        body: dict[str, typing.Any] = {
            'name': name,
            **_wire_times(start=start, end=end, duration=duration, before_end=before_end)}
        if reservations is not None:
            body['reservations'] = [*reservations]
        if offer is not None:
            body['offer'] = offer
        if events:
            body['events'] = [{**event, **_wire_times(time=event['time'])} for event in events]
        if acquire is not None:
            body['acquire'] = {**acquire, **_wire_times(**{
                name: acquire[name] for name in ('not_after',) if name in acquire})}
        response = self._http.call_until_answered(
            'POST', '/leases', body=body, query=_dry(dry_run),
            headers={'Idempotency-Key': _key(idempotency_key)})
        return self._http.record(response, 'lease')

    def update(self, lease_id: str, *, name: str | None = None,
               start: times.Moment | None = None, end: times.Moment | None = None,
               duration: times.Span | None = None, before_end: times.Moment | None = None,
               reservations: Sequence[Mapping[str, typing.Any]] | None = None,
               if_match: str | None = None, dry_run: bool = False) -> http.Record:
        """The lease after the change; what is None stays as it is.

        :param reservations: each with its ``id`` and what changes of it.
        :param if_match: an ``etag``: only if the lease is still the one that had it.
        :raises StalePrecondition: it is not.
        """
        body = _wire_times(start=start, end=end, duration=duration, before_end=before_end)
        if name is not None:
            body['name'] = name
        if reservations is not None:
            body['reservations'] = [*reservations]
        response = self._http.call(
            'PUT', _path(lease_id), body=body, query=_dry(dry_run),
            headers={'If-Match': if_match} if if_match else None)
        return self._http.record(response, 'lease')

    def extend(self, lease_id: str, *, by: times.Span | None = None,
               to: times.Moment | None = None) -> http.Record:
        """The lease with a later end: `by` longer than now, or `to` a moment.

        :raises BadValue: it would end earlier than it does.
        :raises StalePrecondition: somebody changes the lease at the same time, again and again.
        """
        if to is None and by is None:
            raise errors.BadValue('Say how far to extend: by="30m", or to="2030-05-01 08:00".')
        for attempt in itertools.count(1):
            lease = self.get(lease_id)
            end = _later(times.moment(lease['end'], times.utcnow()), by, to)
            try:
                return self.update(lease_id, end=end, if_match=lease.etag)
            except errors.StalePrecondition:
                if attempt == 3:
                    raise
        raise AssertionError('not reached')

    def end(self, lease_id: str) -> http.Record:
        """The lease, which ends now."""
        return self.update(lease_id, end='now')

    def history(self, lease_id: str) -> Sequence[http.Record]:
        """What happened to a lease, in order: each with ``at``, ``who``, ``what`` and ``why``."""
        return [*self._http.pages(f'{_path(lease_id)}/history', 'history')]

    def delete(self, lease_id: str) -> None:
        """Done when this comes back, unless the cloud still has something to give back."""
        self._http.call('DELETE', _path(lease_id))

    def wait(self, lease_id: str, status: str | Collection[str] = 'active', *,
             timeout: float = 600, report: waiting.Report | None = None) -> http.Record | None:
        """The lease as soon as it has (one of) that status; None when it was awaited to be gone.

        :param status: words of 1.1, or "deleted".
        :param timeout: seconds.
        :param report: called with the lease and the seconds waited after every look.
        :raises LeaseFailed: it failed, or ended, or is gone; the message has the reason.
        :raises WaitTimedOut: it is not there yet.
        """
        wanted = {status} if isinstance(status, str) else set(status)
        return waiting.wait(lambda: self.get(lease_id), wanted, timeout=timeout,
                            clock=self._http.clock, report=report)


def _later(end: datetime.datetime, by: times.Span | None, to: times.Moment | None
           ) -> datetime.datetime:
    """The end that a lease gets instead of `end`.

    :raises BadValue: it is not later.
    """
    try:
        new = end + times.span(by) if by is not None else times.moment(to or '', times.utcnow())
    except OverflowError:
        raise errors.BadValue(f'--by: "{by}" is too long.') from None
    if new <= end:
        raise errors.BadValue(f'The new end must be later than {end:%Y-%m-%d %H:%M:%S} UTC, when '
                              'the lease ends now. To shorten it: climate lease set --end.')
    return new


def _key(given: str | None) -> str:
    if given is None:
        return str(uuid.uuid4())
    if not (given.isascii() and given.isprintable() and given):
        raise errors.BadValue(f'--key: "{given}" is no key: write printable ASCII characters.')
    return given


def _path(lease_id: str) -> str:
    return f'/leases/{http.quoted(lease_id)}'


def _shown(lease: http.Record) -> str:
    return f'{lease["id"]} ({lease.get("status")})'


def _dry(dry_run: bool) -> dict[str, str] | None:
    return {'dry_run': 'true'} if dry_run else None


def _wire_times(duration: times.Span | None = None, **moments: times.Moment | None
                ) -> dict[str, typing.Any]:
    now = times.utcnow()
    found: dict[str, typing.Any] = {name: times.on_the_wire(value, now)
                                    for name, value in moments.items() if value is not None}
    if duration is not None:
        found['duration'] = int(times.span(duration).total_seconds())
    return found
