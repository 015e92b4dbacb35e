# SPDX-License-Identifier: Apache-2.0
"""Leases of the service: list, get, find, create, update, extend, end, delete and wait."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import datetime
import itertools
import typing

from climate.client import errors
from climate.client import http
from climate.client import idempotency
from climate.client import name_lookup
from climate.client import status_words
from climate.client import times
from climate.client import waiting

# The service may limit a page to fewer leases.
_LARGEST_PAGE = 1000


class Losses(list[http.Record]):
    """The objects that a request would delete or stop.

    :ivar late_cancel: the price of what the request cancels shortly before the start of the lease,
        with ``amount``, ``currency`` and ``lines``; None: it costs nothing.
    """

    def __init__(self, losses: Iterable[http.Record],
                 late_cancel: Mapping[str, typing.Any] | None = None) -> None:
        super().__init__(losses)
        self.late_cancel = late_cancel


class Leases(http.Noun):
    """The leases that the caller may see."""

    def list(self, *, limit: int | None = None, **filters: typing.Any) -> Iterator[http.Record]:
        """List leases; each page is requested when needed.

        :param limit: the maximum number of leases; None: all.
        :param filters: sort, status (one or several), search, name, owner, project, project_id,
            all_projects, resource_type, resource, resource_id, starts_before, ends_after (both are
            times), deleted, idle; those that are None or False are not sent.
        """
        spans = times.wire(**{name: filters.pop(name, None)
                              for name in ('starts_before', 'ends_after')})
        query = {name: _in_query(value) for name, value in {**filters, **spans}.items()
                 if value is not None and value is not False}
        if limit is not None:
            query['limit'] = min(limit, _LARGEST_PAGE)
        return itertools.islice(self._http.pages('/leases', 'leases', query), limit)

    def living_first(self, *, limit: int | None = None, **filters: typing.Any
                     ) -> Iterator[http.Record]:
        """List leases as `list` does, and those that are over after all others."""
        seen: set[str] = set()
        over = tuple(sorted(status_words.PAST - {status_words.DELETED}))
        for status in (status_words.LIVING, over):
            for lease in self.list(limit=limit, status=status, **filters):
                # A lease that ends between the two requests is in both responses.
                if lease['id'] not in seen and (limit is None or len(seen) < limit):
                    seen.add(lease['id'])
                    yield lease

    def get(self, lease_id: str) -> http.Record:
        """Get a lease, with its ``etag``."""
        return self._http.record(self._http.call('GET', _path(lease_id)), 'lease')

    def find(self, name_or_id: str) -> http.Record:
        """Find the lease with this id, or the only one with exactly this name.

        If no lease has the name, its first letters of an id are enough, at least eight.

        Leases that are over count only if no other lease has the name. Leases of other projects
        count, for administrators, only if the project has none of that name.

        :raises NotFound: no lease has the id or the name.
        :raises Ambiguous: several leases have the name.
        """
        if name_lookup.is_id(name_or_id):
            return self.get(name_or_id)
        named = self._named(name_or_id)
        if not named:
            # Most callers may not see other projects.
            with contextlib.suppress(errors.Forbidden):
                named = self._named(name_or_id, all_projects=True)
        if not named and name_lookup.may_be_begin_of_id(name_or_id):
            named = [lease for lease in self.list(search=name_or_id)
                     if lease['id'].startswith(name_or_id.lower())]
        alive = [lease for lease in named if lease['status'] not in status_words.PAST]
        return self.get(name_lookup.only('lease', name_or_id, alive or named, _shown)['id'])

    def _named(self, name: str, **filters: typing.Any) -> Sequence[http.Record]:
        return [lease for lease in self.list(name=name, **filters) if lease['name'] == name]

    def create(self, name: str, *,
               reservations: Sequence[Mapping[str, typing.Any]] | None = None,
               start: times.Moment | None = None, end: times.Moment | None = None,
               duration: times.Span | None = None, before_end: times.Moment | None = None,
               events: Sequence[Mapping[str, typing.Any]] = (),
               acquire: Mapping[str, typing.Any] | None = None, offer: str | None = None,
               idempotency_key: str | None = None, idle_exempt: bool = False,
               while_free: times.Span | None = None, dry_run: bool = False) -> http.Record:
        """Create a lease.

        Give `duration` or `end`, or both; the default of `start` then follows: now, or `end` minus
        `duration`. A request without a response is repeated with the same key, which makes no
        second lease.

        :param acquire: how the lease gets its resources: a ``type`` and the fields of this type;
            None: immediately, or scheduled for a later start.
        :param offer: the id of a held offer, which decides the resources and the dates.
        :param idempotency_key: a key of your own; None: a new one.
        :param idle_exempt: never treat the lease as idle; few callers may set it.
        :param while_free: extend the lease by steps of this duration while nobody else needs its
            resources.
        :param dry_run: only return the lease that would be created.
        :raises Conflict: too few resources are free; see ``details``.
        :raises NotFound: the offer does not exist, or is over.
        """
        if reservations is None and offer is None:
            raise errors.BadValue('Nothing to reserve: give reservations=[…], or offer=ID.')
        body: dict[str, typing.Any] = {
            'name': name,
            **_wire_times(start=start, end=end, duration=duration, before_end=before_end)}
        if reservations is not None:
            body['reservations'] = [*reservations]
        if offer is not None:
            body['offer'] = offer
        if idle_exempt:
            body['idle_exempt'] = True
        body |= _wire_steps(while_free)
        if events:
            body['events'] = [{**event, **_wire_times(time=event['time'])} for event in events]
        if acquire is not None:
            body['acquire'] = {**acquire, **_wire_times(**{
                name: acquire[name] for name in ('not_after',) if name in acquire})}
        response = self._http.call_until_answered(
            'POST', '/leases', body=body, query=_dry(dry_run),
            headers=idempotency.headers(idempotency_key))
        return self._http.record(response, 'lease')

    def update(self, lease_id: str, *, name: str | None = None,
               start: times.Moment | None = None, end: times.Moment | None = None,
               duration: times.Span | None = None, before_end: times.Moment | None = None,
               reservations: Sequence[Mapping[str, typing.Any]] | None = None,
               idle_exempt: bool | None = None, while_free: times.Span | None = None,
               if_match: str | None = None, dry_run: bool = False) -> http.Record:
        """Change a lease; arguments that are None change nothing.

        :param reservations: each with its ``id`` and the fields that change.
        :param idle_exempt: whether the lease is never treated as idle.
        :param while_free: the duration of the steps by which the lease is extended; 0 ends them.
        :param if_match: an ``etag``; the lease is changed only if it still has it.
        :param dry_run: only return the lease as it would be.
        :returns: the lease after the change.
        :raises StalePrecondition: the lease has another ``etag``.
        """
        body = self._changes(name=name, start=start, end=end, duration=duration,
                             before_end=before_end, reservations=reservations,
                             idle_exempt=idle_exempt, while_free=while_free)
        response = self._http.call(
            'PUT', _path(lease_id), body=body, query=_dry(dry_run),
            headers={'If-Match': if_match} if if_match else None)
        return self._http.record(response, 'lease')

    @staticmethod
    def _changes(*, name: str | None = None, start: times.Moment | None = None,
                 end: times.Moment | None = None, duration: times.Span | None = None,
                 before_end: times.Moment | None = None,
                 reservations: Sequence[Mapping[str, typing.Any]] | None = None,
                 idle_exempt: bool | None = None,
                 while_free: times.Span | None = None) -> dict[str, typing.Any]:
        """Return the body of a change."""
        body = {**_wire_times(start=start, end=end, duration=duration, before_end=before_end),
                **_wire_steps(while_free)}
        if name is not None:
            body['name'] = name
        if idle_exempt is not None:
            body['idle_exempt'] = idle_exempt
        if reservations is not None:
            body['reservations'] = [*reservations]
        return body

    def lost_by_update(self, lease_id: str, **changes: typing.Any
                       ) -> 'Losses | None':
        """List what `update` with these changes would delete or stop; change nothing.

        :returns: records with ``kind``, ``id``, ``name``, ``project_id``, ``fate``, ``saved``,
            ``resource`` and ``at``; None: the service does not know.
        """
        return self._losses('PUT', _path(lease_id), self._changes(**changes))

    def lost_by_delete(self, lease_id: str) -> 'Losses | None':
        """List what `delete` would delete or stop, as `lost_by_update`; change nothing."""
        return self._losses('DELETE', _path(lease_id))

    def lost_by_swap(self, lease_id: str, resource: str, *, reservation: str | None = None
                     ) -> 'Losses | None':
        """List what `swap` would delete or stop, as `lost_by_update`; change nothing.

        :raises Conflict: the lease does not run, or nothing else is free.
        """
        return self._losses('POST', f'{_path(lease_id)}/swap', _swap(resource, reservation))

    def _losses(self, method: str, path: str, body: Mapping[str, typing.Any] | None = None
                ) -> 'Losses | None':
        response = self._http.call(method, path, body=body, query=_dry(True))
        document = self._http.document(response, 'losses')
        losses = document['losses']
        return None if losses is None else Losses(map(http.Record, losses),
                                                  document.get('late_cancel'))

    def extend(self, lease_id: str, *, by: times.Span | None = None,
               to: times.Moment | None = None) -> http.Record:
        """Extend a lease `by` a duration, or `to` a moment.

        :returns: the lease after the change.
        :raises BadValue: the new end is not later than the present one.
        :raises StalePrecondition: others changed the lease at the same time in three attempts.
        """
        if to is None and by is None:
            raise errors.BadValue('No new end: give by="30m", or to="2030-05-01 08:00".')
        for attempt in itertools.count(1):
            lease = self.get(lease_id)
            end = _later(times.moment(lease['end'], times.utcnow()), by, to)
            try:
                return self.update(lease_id, end=end, if_match=lease.etag)
            except errors.StalePrecondition:
                if attempt == 3:
                    raise
        raise AssertionError('not reached')

    def latest_end(self, lease_id: str) -> http.Record:
        """Ask how far a lease can be extended.

        :returns: a record with ``end``, ``limited`` (False: nothing prevents a later end),
            ``reason`` and ``obstacles``.
        :raises Conflict: the lease cannot be changed now.
        """
        return self._http.record(
            self._http.call('GET', f'{_path(lease_id)}/latest_end'), 'latest_end')

    def resources(self, lease_id: str) -> Sequence[http.Record]:
        """List the resources of a lease, with their names if policy allows it, and their health."""
        return [*self._http.pages(f'{_path(lease_id)}/resources', 'resources')]

    def end(self, lease_id: str) -> http.Record:
        """End a lease now, and return it."""
        return self.update(lease_id, end='now')

    def give_back(self, lease_id: str, *, hosts: int | None = None) -> http.Record:
        """Give a future lease back for leases that wait for resources; return the lease.

        :param hosts: the number of hosts; None: the whole lease.
        :raises Conflict: the lease has begun, or waits for resources itself.
        """
        return self._http.record(self._http.call(
            'POST', f'{_path(lease_id)}/give-back', body=_given_back(hosts)), 'lease')

    def lost_by_give_back(self, lease_id: str, *, hosts: int | None = None) -> 'Losses | None':
        """List what `give_back` would cost, as `lost_by_update`; change nothing."""
        return self._losses('POST', f'{_path(lease_id)}/give-back', _given_back(hosts))

    def swap(self, lease_id: str, resource: str, *, reservation: str | None = None) -> http.Record:
        """Swap a broken resource of a running lease for another one, and return the lease.

        The new resource is handed over at once, while the lease is "updating".

        :param resource: the name or id of a host, or of another resource, of the lease.
        :param reservation: the id of the reservation that has it, if several have.
        :raises Conflict: the lease does not run, or nothing else is free.
        """
        return self._http.record(self._http.call(
            'POST', f'{_path(lease_id)}/swap', body=_swap(resource, reservation)), 'lease')

    def history(self, lease_id: str) -> Sequence[http.Record]:
        """List the history of a lease in order: records with ``at``, ``who``, ``what``, ``why``."""
        return [*self._http.pages(f'{_path(lease_id)}/history', 'history')]

    def request(self, lease_id: str) -> http.Record:
        """Get the request that creates the same lease again.

        It has ``name``, ``duration`` in seconds, ``reservations``, and ``while_free`` in seconds if
        the lease goes on in steps.
        """
        return self._http.record(self._http.call('GET', f'{_path(lease_id)}/request'), 'request')

    def delete(self, lease_id: str) -> None:
        """Delete a lease; the cloud may still release its resources after this returns."""
        self._http.call('DELETE', _path(lease_id))

    def wait(self, lease_id: str, status: str | Collection[str] = 'active', *,
             timeout: float = 600, report: waiting.Report | None = None) -> http.Record | None:
        """Wait until a lease has a status.

        :param status: one status of REST 1.1 or "deleted", or several of them.
        :param timeout: seconds.
        :param report: called after every poll with the lease and the seconds waited.
        :returns: the lease; None if it was awaited to be deleted, and is.
        :raises LeaseFailed: the lease failed, ended or was deleted; the message has the reason.
        :raises WaitTimedOut: the lease did not reach the status in time.
        """
        statuses = {status} if isinstance(status, str) else set(status)
        return waiting.wait(lambda: self.get(lease_id), statuses, timeout=timeout,
                            clock=self._http.clock, report=report)


def _later(end: datetime.datetime, by: times.Span | None, to: times.Moment | None
           ) -> datetime.datetime:
    """Compute the new end of a lease that ends at `end`.

    :raises BadValue: the new end is not later.
    """
    try:
        new = end + times.span(by) if by is not None else times.moment(to or '', times.utcnow())
    except OverflowError:
        raise errors.BadValue(f'--by: "{by}" is too long.') from None
    if new <= end:
        raise errors.BadValue(f'The new end must be later than {times.for_people(times.iso(end))}, '
                              'when the lease ends now. To shorten it: climate lease set --end.')
    return new


def _given_back(hosts: int | None) -> dict[str, int]:
    return {} if hosts is None else {'hosts': hosts}


def _swap(resource: str, reservation: str | None) -> dict[str, str]:
    named = {} if reservation is None else {'reservation': reservation}
    return {'resource': resource, **named}


def _path(lease_id: str) -> str:
    return f'/leases/{http.quoted(lease_id)}'


def _shown(lease: http.Record) -> str:
    return f'{lease["id"]} ({lease.get("status")})'


def _in_query(value: typing.Any) -> typing.Any:
    if isinstance(value, (list, tuple)):
        return ','.join(value)
    return 'true' if value is True else value


def _dry(dry_run: bool) -> dict[str, str] | None:
    return {'dry_run': 'true'} if dry_run else None


def _wire_times(duration: times.Span | None = None, **moments: times.Moment | None
                ) -> dict[str, typing.Any]:
    body = times.wire(**moments)
    if duration is not None:
        body['duration'] = int(times.span(duration).total_seconds())
    return body


def _wire_steps(step: times.Span | None) -> dict[str, int]:
    if step is None:
        return {}
    return {'while_free': 0 if step == 0 else int(times.span(step).total_seconds())}
