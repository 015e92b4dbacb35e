# SPDX-License-Identifier: Apache-2.0
"""Whether a server may be placed on a host, as a pure decision.

A host is fenced while it is in the freepool or in the aggregate of a reservation. A fenced host
takes servers of its reservation only, and a server that names a reservation goes nowhere else.
Where Climate was asked about the reservation, its answer says which hosts those are, or that its
servers are ordinary ones now; otherwise the aggregates do.
"""
import collections.abc
import dataclasses

#: Extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'

_FENCED = 'reserved for others'
_ELSEWHERE = 'not in the reservation'
_OTHERS = 'its reservation is for another server'
_TOO_LARGE = 'too large for the room that its reservation holds'
_FOREIGN = 'its reservation is not for this project, or not active'


@dataclasses.dataclass(frozen=True)
class Options:
    """The names that Climate gives to things in Nova; the same as in its own [nova]."""

    freepool: str = 'freepool'
    owner_key: str = 'climate:owner'
    zone_prefix: str = 'climate_'


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """One of the aggregates of a host; Nova's own have the same attributes.

    :ivar availability_zone: its zone or None.
    :ivar metadata: {key: text}.
    """

    name: str
    availability_zone: str | None
    metadata: dict


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request to place a server says of reservations.

    :ivar reservations: ids of reservations that it names; None for an ordinary request.
    :ivar by_flavor: its flavor names the reservation, not a hint.
    :ivar of_flavor: ids of reservations that its flavor names beside the hint.
    :ivar server_id: the server that is placed; None where it is not known.
    :ivar exists: it is moved or woken, not booted.
    :ivar size: what it takes of a host, {class of Placement: units}; None where that is not known.
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
    """What Climate says of a reservation to a project.

    :ivar active: whoever it belongs to may use it now.
    :ivar usable: the project that was named may.
    :ivar reason: why not, in words; None where it is usable.
    :ivar hosts: the names of the compute services that belong to it now.
    :ivar ordinary: its servers may be placed as if they named no reservation.
    :ivar server_id: the one server that it is for; None: any.
    :ivar room: what the server may take of a host, {class of Placement: units}; None: it is not
        said. The rest of the host is others'.
    """

    active: bool
    usable: bool
    reason: str | None = None
    hosts: collections.abc.Set = frozenset()
    ordinary: bool = False
    server_id: str | None = None
    room: dict | None = None


class Judge:
    """Decides about the hosts of one request.

    :ivar doubtful: a host was let through that is not, as Nova sees it, in an aggregate which the
        project may use: either Nova's picture is old, or the answer is.
    """

    def __init__(self, wish, options, answers=None):
        """Nothing is decided yet.

        :param answers: {reservation id: Answer}; None where Climate was not asked.
        """
        self.doubtful = False
        self._wish = wish
        self._options = options
        self._answers = answers

    def refusals(self, places):
        """Why the server may not be placed on each host, in words; None where it may.

        A cloud has ten thousand hosts and each request goes through them all, hence the care.

        :param places: [(name of the compute service, its aggregates)].
        """
        if self._wish.reservations is not None and self._answers is not None:
            return self._by_answers(places)
        if self._wish.by_flavor:
            # The flavor needs a resource class that only hosts of its reservation have.
            return [None] * len(places)
        fences = self._fences(places)
        if self._wish.reservations is None:
            return [None if fences.keys().isdisjoint(map(id, aggregates)) else _FENCED
                    for _, aggregates in places]
        verdicts = {key: None if self._opens(each) else _FOREIGN
                    for key, each in fences.items() if each.name in self._wish.reservations}
        return [next((verdicts[id(each)] for each in aggregates if id(each) in verdicts),
                     _ELSEWHERE) for _, aggregates in places]

    def _by_answers(self, places):
        known = self._answers_for_it()
        answers = list(known.values())
        idle = [answer for answer in answers if not answer.active]
        active = [item for item in known.items() if item[1].active]
        elsewhere = (idle[-1].reason or _FOREIGN) if idle and not active else _ELSEWHERE
        fences = None
        if any(answer.ordinary for answer in answers):
            fences, elsewhere = self._fences(places), _FENCED
        refusals = []
        for host, aggregates in places:
            reason = elsewhere
            if fences is not None and fences.keys().isdisjoint(map(id, aggregates)):
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
        """The answers, where those about reservations of other servers open no host to this one.

        Servers that are booted together name the reservations of all of them. Some of those may be
        over; but where one is its own, that one alone says whether the server is an ordinary one.
        """
        mine = self._wish.server_id
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

    def _fences(self, places):
        """The fences among the aggregates of all hosts, by their identity."""
        # Hosts share their aggregates, so each is looked at once.
        return {key: each for key, each in {
            id(each): each for _, aggregates in places for each in aggregates}.items()
            if self._is_fence(each)}

    def _inside(self, reservation_id, answer, aggregates):
        """Why not on a host that is in an active reservation."""
        if self._exceeds(answer.room):
            return _TOO_LARGE
        pool = next((each for each in aggregates if each.name == reservation_id), None)
        if answer.usable:
            self.doubtful = self.doubtful or pool is None or not self._opens(pool)
            return None
        if pool is not None and self._is_shared(pool):
            return None
        return answer.reason or _FOREIGN

    def _exceeds(self, room):
        """True where the server, perhaps as it is to be resized, needs more than the room."""
        size = self._wish.size
        return room is not None and size is not None and any(
            units > room.get(each, 0) for each, units in size.items())

    def _is_fence(self, aggregate):
        if aggregate.name == self._options.freepool:
            return True
        prefix = self._options.zone_prefix
        return bool(prefix) and (aggregate.availability_zone or '').startswith(prefix)

    def _opens(self, aggregate):
        """The owner may use it, and each project with which it is shared."""
        project_id = self._wish.project_id
        owner = aggregate.metadata.get(self._options.owner_key)
        return (bool(project_id) and owner == project_id) or self._is_shared(aggregate)

    def _is_shared(self, aggregate):
        """A project with a key of its own in the metadata may use it, whatever the value."""
        project_id = self._wish.project_id
        return bool(project_id) and bool(aggregate.metadata.get(project_id))


def hinted(value):
    """The reservations that a scheduler hint names, as a list; None without the hint."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [str(value)]


def passes(reservations, project_id, aggregates, options, flavor_reserved=False):
    """Whether a server may be placed on the host with these aggregates, by them alone.

    :param reservations: the ids in the hint `reservation`; None if the request has no such hint.
    :param flavor_reserved: the flavor has the extra spec FLAVOR_KEY.
    """
    return refusal(reservations, project_id, aggregates, options, flavor_reserved) is None


def refusal(reservations, project_id, aggregates, options, flavor_reserved=False):
    """As `passes`, but in words why not; None if the server may be placed there."""
    by_flavor = reservations is None and flavor_reserved
    wish = Wish([] if by_flavor else reservations, project_id, by_flavor)
    return Judge(wish, options).refusals([(None, aggregates)])[0]
