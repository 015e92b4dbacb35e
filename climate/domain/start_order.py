# SPDX-License-Identifier: Apache-2.0
"""The order in which the reservations of a lease start and end.

A reservation starts after its dependencies, which it names by their labels. Reservations end in the
reverse order.
"""
import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import typing

from climate import errors
from climate.domain import records

_Key = typing.TypeVar('_Key')
# The maximum number of labels in a message.
_LONGEST = 10


@dataclasses.dataclass(frozen=True)
class StartOrder:
    """The order in which a method of plugins is called for the reservations of a lease.

    :ivar before: {reservation id: the Reservations for which the call must succeed first}.
    """

    before: Mapping[str, Sequence[records.Reservation]]

    @functools.cached_property
    def awaited(self) -> frozenset[str]:
        """The ids of the Reservations that come before others."""
        return frozenset(each.id for earlier in self.before.values() for each in earlier)

    def sorted(self, reservations: Sequence[records.Reservation]
               ) -> Sequence[records.Reservation]:
        """Return the reservations by level; within a level they keep their order."""
        if not self.before:
            return reservations
        known = {each.id: each for each in reservations}
        # Reservations that are not in `reservations` still affect the order of the others.
        before = {key: [each.id for each in self.before.get(key, ())]
                  for key in [*known, *self.before, *self.awaited]}
        return [known[key] for level in levels(before) for key in level if key in known]

    def waits_for(self, reservation: records.Reservation,
                  done: Collection[str]) -> list[records.Reservation]:
        """Return the Reservations that come before `reservation`, without the ids in `done`."""
        return [each for each in self.before.get(reservation.id, ()) if each.id not in done]


def any_order(reservations: Sequence[records.Reservation]) -> StartOrder:
    """Return the StartOrder in which no reservation waits for another."""
    return StartOrder({})


def of_start(reservations: Sequence[records.Reservation]) -> StartOrder:
    """Return the StartOrder in which each reservation comes after its dependencies."""
    if not any(each.depends_on for each in reservations):
        return StartOrder({})
    known = {each.label: each for each in reservations if each.label is not None}
    return StartOrder({each.id: tuple(known[label] for label in each.depends_on)
                       for each in reservations if each.depends_on})


def of_end(reservations: Sequence[records.Reservation]) -> StartOrder:
    """Return the StartOrder in which each reservation comes after its dependents."""
    known = {each.id: each for each in reservations}
    before = collections.defaultdict(list)
    for key, depends_on in of_start(reservations).before.items():
        for dependency in depends_on:
            before[dependency.id].append(known[key])
    return StartOrder(dict(before))


def levels(before: Mapping[_Key, Collection[_Key]]) -> list[list[_Key]]:
    """Return the keys in levels. A key is in the first level after the keys that come before it.

    :param before: {key: the keys that come before it}; keys without an entry are ignored.
    :returns: the levels, each in the order of `before`, without keys in or after a circle.
    """
    sorted_levels: list[list[_Key]] = []
    placed: set[_Key] = set()
    remaining = {key: set(earlier) & before.keys() for key, earlier in before.items()}
    while level := [key for key, earlier in remaining.items() if earlier <= placed]:
        sorted_levels.append(level)
        placed.update(level)
        remaining = {key: earlier for key, earlier in remaining.items() if key not in placed}
    return sorted_levels


def refuse_bad(requests: Iterable[records.ReservationRequest]) -> None:
    """Refuse the requests of a lease if their labels give no order.

    :raises BadField: two labels are equal, a label is unknown, or labels form a circle.
    """
    requests = list(requests)
    known: dict[str, records.ReservationRequest] = {}
    for request in requests:
        if request.label in known:
            raise errors.BadField(field='reservations.label', reason=(
                f'two reservations have the label "{request.label}"; give each a label of its '
                'own.'))
        if request.label:
            known[request.label] = request
    for request in requests:
        _refuse_unknown(request, known)
    before = {label: request.depends_on or () for label, request in known.items()}
    placed = {label for level in levels(before) for label in level}
    if len(placed) < len(before):
        circle = _circle({label: earlier for label, earlier in before.items()
                          if label not in placed})
        raise errors.BadField(field='reservations.depends_on', reason=(
            f'these depend on each other in a circle: {circle}. Take one of these names out.'))


def _refuse_unknown(request: records.ReservationRequest, known: Collection[str]) -> None:
    for label in request.depends_on or ():
        if label == request.label:
            raise errors.BadField(field='reservations.depends_on', reason=(
                f'"{label}" depends on itself; leave its own label out.'))
        if label not in known:
            raise errors.BadField(field='reservations.depends_on', reason=(
                f'no reservation of the lease has the label "{label}"; '
                + (f'known are: {", ".join([*known][:_LONGEST])}.' if known else
                   'give the other one that label.')))


def _circle(before: Mapping[str, Collection[str]]) -> str:
    """Return one circle of labels as text, such as "a -> b -> a".

    :param before: {label: its dependencies}; each label is in a circle or leads to one.
    """
    path = [next(iter(before))]
    while True:
        following = next(label for label in before[path[-1]] if label in before)
        if following in path:
            path = [*path[path.index(following):], following]
            break
        path.append(following)
    if len(path) > _LONGEST:
        path = [*path[:_LONGEST - 1], '…', path[-1]]
    return ' -> '.join(path)
