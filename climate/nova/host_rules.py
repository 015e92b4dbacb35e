# SPDX-License-Identifier: Apache-2.0
"""The rules by which a server may be placed on a host, without any I/O.

A host is reserved while it is in the freepool or in the aggregate of a reservation. A reserved host
accepts only servers of its reservation. A server that names a reservation is placed only on hosts
of this reservation. If Climate was queried, its answer lists these hosts, or says that the servers
of the reservation are ordinary servers now. Otherwise the aggregates decide.
"""
import collections.abc
import dataclasses

#: Extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'

#: Metadata key that marks the aggregate of a reservation of hosts; its value is the reservation.
MARK = 'climate:reservation'

#: The value of a metadata key by which Climate shares an aggregate with a project. Climate's
#: answers decide about such a share; the key of an operator has another value.
SHARED = 'climate:share'

#: Prefix of the metadata keys with the reservations of the lease that has the hosts, too, in the
#: aggregate of a sub-lease. Its hosts take no new servers of these reservations.
PARENT = 'climate:parent:'

_RESERVED = 'reserved for others'
_ELSEWHERE = 'not in the reservation'
_OTHERS = 'its reservation is for another server'
_TOO_LARGE = 'larger than the capacity that its reservation holds'
_FOREIGN = 'its reservation is not for this project, or not active'


@dataclasses.dataclass(frozen=True)
class AggregateNames:
    """The names that Climate uses in Nova. They must equal those in Climate's group [nova]."""

    freepool: str = 'freepool'
    owner_key: str = 'climate:owner'
    zone_prefix: str = 'climate_'


@dataclasses.dataclass(frozen=True)
class NovaAggregate:
    """An aggregate of a host, with the same attributes as Nova's own object.

    :ivar availability_zone: the zone of the aggregate, or None.
    :ivar metadata: {key: text}.
    """

    name: str
    availability_zone: str | None
    metadata: dict


@dataclasses.dataclass(frozen=True)
class PlacementRequest:
    """The facts of a request to place a server that concern reservations.

    :ivar reservations: ids of the reservations that the request names; None if it names none.
    :ivar by_flavor: whether the flavor names the reservation, not a hint.
    :ivar of_flavor: ids of reservations that the flavor names in addition to the hint.
    :ivar server_id: the server to place; None if it is not known.
    :ivar exists: whether the server is moved or unshelved, not booted.
    :ivar size: the resources that the server needs, {resource class: units}; None if not known.
    """

    reservations: list | None
    project_id: str | None
    by_flavor: bool = False
    of_flavor: tuple = ()
    server_id: str | None = None
    exists: bool = False
    size: dict | None = None


@dataclasses.dataclass(frozen=True)
class ReservationAnswer:
    """The answer of Climate about a reservation to a project.

    :ivar active: whether the owner may use the reservation now.
    :ivar usable: whether the project of the request may use the reservation now.
    :ivar reason: why the reservation is not usable; None if it is usable.
    :ivar hosts: the service hosts of the reservation now.
    :ivar ordinary: whether its servers may be placed as if they named no reservation.
    :ivar server_id: the only server that may use the reservation; None: any server.
    :ivar capacity: the resources that the server may use of a host, {resource class: units};
        None: Climate does not limit them.
    :ivar reservation_id: the id of the reservation, if the request named the lease instead; None:
        not known.
    """

    active: bool
    usable: bool
    reason: str | None = None
    hosts: collections.abc.Set = frozenset()
    ordinary: bool = False
    server_id: str | None = None
    capacity: dict | None = None
    reservation_id: str | None = None


class HostRules:
    """The rules that decide which hosts may take the server of one request.

    :ivar doubtful: whether a host passed although Nova sees it in no aggregate that the project may
        use. Then Nova's view of the aggregates, or the answer, is outdated.
    """

    def __init__(self, request, names, answers=None):
        """Prepare the decision.

        :param names: the AggregateNames.
        :param answers: {reservation id: ReservationAnswer}; None if Climate was not asked.
        """
        self.doubtful = False
        self._request = request
        self._names = names
        self._answers = answers

    def refusals(self, places):
        """Return for each host why it may not take the server; None: it may take the server.

        This must be fast, because each request checks all hosts of the cloud, perhaps ten thousand.

        :param places: [(service host, its aggregates)].
        """
        if self._request.reservations is not None and self._answers is not None:
            return self._by_answers(places)
        if self._request.by_flavor:
            # The flavor needs a resource class that only hosts of its reservation have.
            return [None] * len(places)
        reserved = self._reserved_aggregates(places)
        if self._request.reservations is None:
            return [None if reserved.keys().isdisjoint(map(id, aggregates)) else _RESERVED
                    for _, aggregates in places]
        verdicts = {key: None if self._opens(aggregate) else _FOREIGN
                    for key, aggregate in reserved.items()
                    if aggregate.name in self._request.reservations}
        sub_leased = {key for key, aggregate in reserved.items() if any(
            PARENT + name in aggregate.metadata for name in self._request.reservations)}
        return [self._by_aggregates(verdicts, sub_leased, list(map(id, aggregates)))
                for _, aggregates in places]

    @staticmethod
    def _by_aggregates(verdicts, sub_leased, keys):
        """Return the verdict for a host by the aggregates with these keys.

        :param sub_leased: the keys of aggregates of sub-leases, which come before their parents.
        """
        if not sub_leased.isdisjoint(keys):
            keys = [key for key in keys if key in sub_leased]
        return next((verdicts[key] for key in keys if key in verdicts), _ELSEWHERE)

    def _by_answers(self, places):
        answers = self._answers_for_it()
        inactive = [answer for answer in answers.values() if not answer.active]
        active = [item for item in answers.items() if item[1].active]
        elsewhere = (inactive[-1].reason or _FOREIGN) if inactive and not active else _ELSEWHERE
        reserved = None
        if any(answer.ordinary for answer in answers.values()):
            reserved, elsewhere = self._reserved_aggregates(places), _RESERVED
        refusals = []
        for host, aggregates in places:
            reason = elsewhere
            if reserved is not None and reserved.keys().isdisjoint(map(id, aggregates)):
                reason = None
            else:
                for reservation_id, answer in active:
                    if host in answer.hosts:
                        reason = self._inside(reservation_id, answer, aggregates)
                        if reason is None:
                            break
            refusals.append(reason)
        return refusals

    def _answers_for_it(self):
        """Return the answers, adapted to this server.

        Servers that are booted together name the reservations of all of them. The reservation of
        another server does not allow any host. If one of the reservations is this server's, only
        its answer determines whether the server is ordinary now.
        """
        server_id = self._request.server_id
        has_own = server_id is not None and any(
            answer.server_id == server_id for answer in self._answers.values())
        adapted = {}
        for reservation_id, answer in self._answers.items():
            if answer.server_id not in (None, server_id):
                answer = dataclasses.replace(answer, active=False, usable=False, reason=_OTHERS)
            if has_own and answer.server_id != server_id:
                answer = dataclasses.replace(answer, ordinary=False)
            adapted[reservation_id] = answer
        return adapted

    def _reserved_aggregates(self, places):
        """Return the freepool and the aggregates of reservations, as {id(aggregate): aggregate}."""
        # Hosts share aggregate objects, so each object is checked once.
        distinct = {id(aggregate): aggregate for _, aggregates in places
                    for aggregate in aggregates}
        return {key: aggregate for key, aggregate in distinct.items()
                if self._is_reserved(aggregate)}

    def _inside(self, reservation_id, answer, aggregates):
        """Return why a host of an active reservation refuses the server; None: it does not."""
        if self._exceeds(answer.capacity):
            return _TOO_LARGE
        own = next((aggregate for aggregate in aggregates if aggregate.name == reservation_id),
                   None)
        if answer.usable:
            self.doubtful = self.doubtful or own is None or not self._opens(own)
            return None
        if own is not None and self._is_shared(own, by_operator=True):
            return None
        return answer.reason or _FOREIGN

    def _exceeds(self, capacity):
        """Return whether the server, in its new size, needs more than the capacity."""
        size = self._request.size
        return capacity is not None and size is not None and any(
            units > capacity.get(name, 0) for name, units in size.items())

    def _is_reserved(self, aggregate):
        if aggregate.name == self._names.freepool or aggregate.metadata.get(MARK):
            return True
        prefix = self._names.zone_prefix
        return bool(prefix) and (aggregate.availability_zone or '').startswith(prefix)

    def _opens(self, aggregate):
        """Return whether the aggregate is owned by the project, or shared with it."""
        project_id = self._request.project_id
        owner = aggregate.metadata.get(self._names.owner_key)
        return (bool(project_id) and owner == project_id) or self._is_shared(aggregate)

    def _is_shared(self, aggregate, by_operator=False):
        """Return whether the project's id is a metadata key of the aggregate.

        :param by_operator: whether a key that Climate has set does not count.
        """
        project_id = self._request.project_id
        text = aggregate.metadata.get(project_id) if project_id else None
        return bool(text) and not (by_operator and text == SHARED)
