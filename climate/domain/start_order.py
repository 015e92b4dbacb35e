# SPDX-License-Identifier: Apache-2.0
"""The start order of the reservations of a lease: after the reservations that they depend on.

A reservation names its dependencies by their labels. Reservations end in the reverse order.
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
# The greatest number of labels in a message.
_LONGEST = 10


@dataclasses.dataclass(frozen=True)
class StartOrder:
    """The order in which a method is called for the reservations of a lease.

    :ivar before: {reservation id: the Reservations for which the call must succeed before}.
    """

    before: Mapping[str, Sequence[records.Reservation]]

    @functools.cached_property
    def awaited(self) -> frozenset[str]:
        """The ids of the Reservations that others come after."""
        return frozenset(each.id for some in self.before.values() for each in some)

    def sorted(self, reservations: Sequence[records.Reservation]
               ) -> Sequence[records.Reservation]:
        """Return the reservations by level; within a level they keep their order."""
        if not self.before:
            return reservations
        known = {each.id: each for each in reservations}
        # Reservations that are not called still keep others apart.
        before = {key: [each.id for each in self.before.get(key, ())]
                  for key in [*known, *self.before, *self.awaited]}
        return [known[key] for level in levels(before) for key in level if key in known]

    def waits_for(self, reservation: records.Reservation,
                  done: Collection[str]) -> list[records.Reservation]:
        """Return the Reservations that come before this one and whose ids are not in `done`."""
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
    """Return the StartOrder in which each reservation comes after the ones that depend on it."""
    known = {each.id: each for each in reservations}
    before = collections.defaultdict(list)
    for key, depends_on in of_start(reservations).before.items():
        for each in depends_on:
            before[each.id].append(known[key])
    return StartOrder(dict(before))


def levels(before: Mapping[_Key, Collection[_Key]]) -> list[list[_Key]]:
    """Return the keys in levels; each is in the first level after all keys that it names.

    :param before: {key: the keys that come before it}; keys that are not in it do not count.
    :returns: the levels, each in the order of `before`; keys in or behind a circle are in none.
    """
    found: list[list[_Key]] = []
    placed: set[_Key] = set()
    left = {key: {each for each in some if each in before} for key, some in before.items()}
    while True:
        level = [key for key, some in left.items() if some <= placed]
        if not level:
            return found
        found.append(level)
        placed.update(level)
        left = {key: some for key, some in left.items() if key not in placed}


def refuse_bad(asked: Iterable[records.ReservationRequest]) -> None:
    """Refuse the requests of a lease if their labels give no order.

    :raises BadField: two labels are equal, a label is unknown, or labels form a circle.
    """
    asked = list(asked)
    known: dict[str, records.ReservationRequest] = {}
    for each in asked:
        if each.label in known:
            raise errors.BadField(field='reservations.label', reason=(
                f'two reservations have the label "{each.label}"; give each a label of its own.'))
        if each.label:
            known[each.label] = each
    for each in asked:
        _refuse_unknown(each, known)
    before = {label: each.depends_on or () for label, each in known.items()}
    placed = {label for level in levels(before) for label in level}
    if len(placed) < len(before):
        circle = _circle({label: some for label, some in before.items() if label not in placed})
        raise errors.BadField(field='reservations.depends_on', reason=(
            f'these depend on each other in a circle: {circle}. Take one of these names out.'))


def _refuse_unknown(asked: records.ReservationRequest, known: Collection[str]) -> None:
    for label in asked.depends_on or ():
        if label == asked.label:
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
