# SPDX-License-Identifier: Apache-2.0
"""The decision whether a server may be placed on a host, without any I/O.

A host is reserved while it is in the freepool or in the aggregate of a reservation. A reserved host
takes only servers of its reservation, and a server that names a reservation goes nowhere else. If
Climate was asked about the reservation, its answer lists those hosts, or says that its servers are
ordinary ones now. Otherwise the aggregates decide.
"""
import collections.abc
import dataclasses

#: Extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'

#: Metadata key that marks the aggregate of a reservation of hosts; its value is the reservation.
MARK = 'climate:reservation'

_RESERVED = 'reserved for others'
_ELSEWHERE = 'not in the reservation'
_OTHERS = 'its reservation is for another server'
_TOO_LARGE = 'larger than the capacity that its reservation holds'
_FOREIGN = 'its reservation is not for this project, or not active'


@dataclasses.dataclass(frozen=True)
class Options:
    """The names that Climate uses in Nova; they must equal those in its own group [nova]."""

    freepool: str = 'freepool'
    owner_key: str = 'climate:owner'
    zone_prefix: str = 'climate_'


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """An aggregate of a host, with the same attributes as Nova's own object.

    :ivar availability_zone: its zone or None.
    :ivar metadata: {key: text}.
    """

    name: str
    availability_zone: str | None
    metadata: dict


@dataclasses.dataclass(frozen=True)
class Request:
    """What a request to place a server says about reservations.

    :ivar reservations: ids of the reservations that it names; None for an ordinary request.
    :ivar by_flavor: the flavor names the reservation, not a hint.
    :ivar of_flavor: ids of reservations that the flavor names in addition to the hint.
    :ivar server_id: the server to place; None if it is not known.
    :ivar exists: the server is moved or unshelved, not booted.
    :ivar size: the resources it takes of a host, {resource class: units}; None if not known.
    """

    reservations: list | None
    project_id: str | None
    by_flavor: bool = False
    of_flavor: tuple = ()
    server_id: str | None = None
    exists: bool = False
    size: dict | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Climate answers about a reservation to a project.

    :ivar active: the reservation may be used now by its owner.
    :ivar usable: the reservation may be used now by the project of the request.
    :ivar reason: why it is not usable, in words; None if it is.
    :ivar hosts: the service hosts that belong to it now.
    :ivar ordinary: its servers may be placed as if they named no reservation.
    :ivar server_id: the only server that it is for; None: any server.
    :ivar capacity: the resources that the server may take of a host, {resource class: units};
        None: Climate does not limit it.
    :ivar reservation_id: the reservation, which may be named by its lease; None: not known.
    """

    active: bool
    usable: bool
    reason: str | None = None
    hosts: collections.abc.Set = frozenset()
    ordinary: bool = False
    server_id: str | None = None
    capacity: dict | None = None
    reservation_id: str | None = None


class Judge:
    """Decides which hosts may take the server of one request.

    :ivar doubtful: a host passed that is, as Nova sees it, in no aggregate which the project may
        use: either Nova's view of the aggregates is outdated, or the answer is.
    """

    def __init__(self, request, options, answers=None):
        """Prepare the decision.

        :param answers: {reservation id: Answer}; None if Climate was not asked.
        """
        self.doubtful = False
        self._request = request
        self._options = options
        self._answers = answers

    def refusals(self, places):
        """Return for each host why the server may not be placed there, in words; None: it may.

        Each request goes through all hosts of the cloud, ten thousand perhaps: this must be fast.

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
        verdicts = {key: None if self._opens(each) else _FOREIGN
                    for key, each in reserved.items() if each.name in self._request.reservations}
        return [next((verdicts[id(each)] for each in aggregates if id(each) in verdicts),
                     _ELSEWHERE) for _, aggregates in places]

    def _by_answers(self, places):
        known = self._answers_for_it()
        answers = list(known.values())
        idle = [answer for answer in answers if not answer.active]
        active = [item for item in known.items() if item[1].active]
        elsewhere = (idle[-1].reason or _FOREIGN) if idle and not active else _ELSEWHERE
        reserved = None
        if any(answer.ordinary for answer in answers):
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
        """Return the answers as they count for this server.

        Servers that are booted together name the reservations of all of them. A reservation of
        another server opens no host to this one. If one of the reservations is the server's own,
        that one alone says whether the server is an ordinary one now.
        """
        mine = self._request.server_id
        has_own = mine is not None and any(
            answer.server_id == mine for answer in self._answers.values())
        found = {}
        for each, answer in self._answers.items():
            if answer.server_id not in (None, mine):
                answer = dataclasses.replace(answer, active=False, usable=False, reason=_OTHERS)
            if has_own and answer.server_id != mine:
                answer = dataclasses.replace(answer, ordinary=False)
            found[each] = answer
        return found

    def _reserved_aggregates(self, places):
        """Return the freepool and the aggregates of reservations, as {id(aggregate): aggregate}."""
        # Hosts share aggregate objects, so each object is checked once.
        return {key: each for key, each in {
            id(each): each for _, aggregates in places for each in aggregates}.items()
            if self._is_reserved(each)}

    def _inside(self, reservation_id, answer, aggregates):
        """Return why a host of an active reservation refuses the server; None: it takes it."""
        if self._exceeds(answer.capacity):
            return _TOO_LARGE
        pool = next((each for each in aggregates if each.name == reservation_id), None)
        if answer.usable:
            self.doubtful = self.doubtful or pool is None or not self._opens(pool)
            return None
        if pool is not None and self._is_shared(pool):
            return None
        return answer.reason or _FOREIGN

    def _exceeds(self, capacity):
        """Return whether the server, in the size it is to get, needs more than the capacity."""
        size = self._request.size
        return capacity is not None and size is not None and any(
            units > capacity.get(each, 0) for each, units in size.items())

    def _is_reserved(self, aggregate):
        if aggregate.name == self._options.freepool or aggregate.metadata.get(MARK):
            return True
        prefix = self._options.zone_prefix
        return bool(prefix) and (aggregate.availability_zone or '').startswith(prefix)

    def _opens(self, aggregate):
        """Return whether the project owns the aggregate, or it is shared with the project."""
        project_id = self._request.project_id
        owner = aggregate.metadata.get(self._options.owner_key)
        return (bool(project_id) and owner == project_id) or self._is_shared(aggregate)

    def _is_shared(self, aggregate):
        """Return whether the project's id is a metadata key of the aggregate, with any value."""
        project_id = self._request.project_id
        return bool(project_id) and bool(aggregate.metadata.get(project_id))


def passes(reservations, project_id, aggregates, options, flavor_reserved=False):
    """Return whether a server may be placed on a host, judged by its aggregates alone.

    :param reservations: the ids in the hint `reservation`; None: the request has no such hint.
    :param flavor_reserved: whether the flavor has the extra spec FLAVOR_KEY.
    """
    return refusal(reservations, project_id, aggregates, options, flavor_reserved) is None


def refusal(reservations, project_id, aggregates, options, flavor_reserved=False):
    """Return why a server may not be placed on a host, in words; None: it may.

    The parameters are those of `passes`.
    """
    by_flavor = reservations is None and flavor_reserved
    request = Request([] if by_flavor else reservations, project_id, by_flavor)
    return Judge(request, options).refusals([(None, aggregates)])[0]
