# SPDX-License-Identifier: Apache-2.0
"""Resources of a pool: list, get, find, create, update and delete."""
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import itertools
import typing

from climate.client import allocations
from climate.client import errors
from climate.client import http
from climate.client import name_lookup
from climate.client import properties
from climate.client import times

Fields = Mapping[str, typing.Any]


class Resources:
    """The resources that are enrolled in one pool.

    :ivar noun: the noun for one resource in messages.
    :ivar properties: the properties of the resources.
    :ivar allocations: the allocations of the resources to reservations.
    """

    #: The keys of one resource and of a list of resources in responses.
    one, many = 'resource', 'resources'
    #: The field that has the name of a resource.
    name_field = 'name'

    def __init__(self, transport: http.Http, pool: str) -> None:
        self._http = transport
        self.noun = pool
        self._place = self._path_of(pool)
        self.properties = properties.Properties(transport, self._place, self.update)
        self.allocations = allocations.Allocations(transport, self._place)

    def list(self, *, limit: int | None = None, marker: str | None = None,
             search: str | None = None, criteria: str | None = None,
             state: bool = False) -> Iterator[http.Record]:
        """List the resources; each page is requested when needed.

        :param limit: the maximum number of resources; None: all.
        :param marker: the list begins after the resource with this id; None: with the first one.
        :param search: a part of the names, in small or capital letters.
        :param criteria: criteria as in a lease, as JSON text.
        :param state: each resource also has its ``state`` and the ``leases`` that have it now;
            only administrators may see them.
        """
        filters = {'limit': limit and min(limit, 1000), 'marker': marker, 'search': search,
                   'criteria': criteria, 'state': 'true' if state else None}
        query = {name: value for name, value in filters.items() if value is not None}
        return itertools.islice(self._http.pages(self._place, self.many, query or None), limit)

    def calendar(self, *, start: times.Moment | None = None, end: times.Moment | None = None
                 ) -> Iterator[http.Record]:
        """List spans of time, each with the number of resources that are ``free``, of ``total``.

        :param start: the earliest moment; None: now.
        :param end: the latest moment; None: 30 days later.
        """
        return self._http.pages(f'{self._place}/calendar', 'calendar',
                                times.wire(start=start, end=end))

    def get(self, resource_id: str) -> http.Record:
        """Get a resource by its id, a number."""
        return self._http.record(self._http.call('GET', self._path(resource_id)), self.one)

    def find(self, name_or_id: str) -> http.Record:
        """Find the resource with this id, or the only one with exactly this name.

        :raises NotFound: no resource has the id or the name.
        :raises Ambiguous: several resources have the name.
        """
        if name_or_id.isdecimal():
            return self.get(name_or_id)
        # A pool may have the usual name of a resource in a field that is called like the pool.
        named = (resource for resource in self.list()
                 if name_or_id in (resource.get(self.name_field), resource.get(self.noun)))
        return name_lookup.only(self.noun, name_or_id, named,
                                lambda resource: str(resource['id']))

    def create(self, name: str | None = None, properties: Fields | None = None,
               fields: Fields | None = None) -> http.Record:
        """Enrol a resource, and return it.

        :param name: the name in the cloud; None if the pool uses other `fields`.
        :param fields: further fields that the pool requires.
        """
        body = self._new(name, dict(properties or {}), dict(fields or {}))
        return self._http.record(self._http.call('POST', self._place, body=body), self.one)

    def create_range(self, name: str, properties: Fields | None = None,
                     fields: Fields | None = None) -> Sequence[http.Record]:
        """Enrol all resources of a range, or none, and return them in order.

        :param name: a range in the form of the pool, such as "172.24.4.210-172.24.4.220"; also
            one resource. The other parameters are those of `create`.
        """
        body = self._new(name, dict(properties or {}), dict(fields or {}))
        response = self._http.call('POST', self._place, body=body)
        if self.many in response.json():
            resources = self._http.document(response, self.many)[self.many]
            return [http.Record(resource) for resource in resources]
        return [self._http.record(response, self.one)]

    def update(self, resource_id: str, properties: Fields | None = None, *,
               unset: Collection[str] = (), reservable: bool | None = None,
               out_of_order: str | None = None, in_order: bool = False) -> http.Record:
        """Change a resource, and return it.

        :param properties: properties to set.
        :param unset: names of properties to remove.
        :param reservable: whether new leases can get the resource; None changes nothing.
        :param out_of_order: why the resource is out of service; None changes nothing.
        :param in_order: True: it is healthy again, and not in quarantine.
        :raises BadValue: there is nothing to change.
        """
        body = self._changes({**(properties or {}), **dict.fromkeys(unset)})
        if reservable is not None:
            body['reservable'] = reservable
        if out_of_order or in_order:
            body['out_of_order'] = out_of_order or None
        if not body:
            raise errors.BadValue('Nothing to change: give properties to set or to unset, or '
                                  'whether it is reservable.')
        response = self._http.call('PUT', self._path(resource_id), body=body)
        return self._http.record(response, self.one)

    def wake(self, resource_id: str) -> http.Record:
        """Wake a resource that sleeps, and return it; it takes a while until it is awake."""
        return self._set_power(resource_id, 'awake')

    def sleep(self, resource_id: str) -> http.Record:
        """Put a resource to sleep, and return it.

        :raises Conflict: it cannot sleep, or a lease has it or needs it soon.
        """
        return self._set_power(resource_id, 'asleep')

    def _set_power(self, resource_id: str, state: str) -> http.Record:
        response = self._http.call('POST', f'{self._path(resource_id)}/power',
                                   body={'state': state})
        return self._http.record(response, self.one)

    def delete(self, resource_id: str) -> None:
        """Remove a resource from the pool; the cloud keeps it.

        :raises Conflict: the resource is leased.
        """
        self._http.call('DELETE', self._path(resource_id))

    def _path(self, resource_id: str) -> str:
        return f'{self._place}/{http.quoted(str(resource_id))}'

    @staticmethod
    def _path_of(pool: str) -> str:
        return f'/resources/{http.quoted(pool)}'

    @staticmethod
    def _new(name: str | None, properties: dict[str, typing.Any],
             fields: dict[str, typing.Any]) -> dict[str, typing.Any]:
        """Make the body that enrols a resource."""
        named = {} if name is None else {'name': name}
        return {**fields, **named, **({'properties': properties} if properties else {})}

    @staticmethod
    def _changes(properties: dict[str, typing.Any]) -> dict[str, typing.Any]:
        """Make the body that sets properties; the value None removes a property."""
        return {'properties': properties} if properties else {}
