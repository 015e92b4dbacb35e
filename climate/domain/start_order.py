# SPDX-License-Identifier: Apache-2.0
"""In which order the reservations of a lease start: one that depends on others starts after them.

A reservation names those that it depends on by their labels. They end in the reverse order.
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
# So many labels are shown in a message.
_LONGEST = 10


@dataclasses.dataclass(frozen=True)
class Order:
    """In which order a method is called for reservations of a lease.

    :ivar before: {reservation id: the Reservations whose turn must have gone well before}.
    """

    before: Mapping[str, Sequence[records.Reservation]]

    @functools.cached_property
    def awaited(self) -> frozenset[str]:
        """The ids of the Reservations that any other one comes after."""
        return frozenset(each.id for some in self.before.values() for each in some)

    def sorted(self, reservations: Sequence[records.Reservation]
               ) -> Sequence[records.Reservation]:
        """The reservations level by level; in a level they stay in their order."""
        if not self.before:
            return reservations
        known = {each.id: each for each in reservations}
        # Those that are not called are between others all the same.
        before = {key: [each.id for each in self.before.get(key, ())]
                  for key in [*known, *self.before, *self.awaited]}
        return [known[key] for level in levels(before) for key in level if key in known]

    def waits_for(self, reservation: records.Reservation,
                  done: Collection[str]) -> list[records.Reservation]:
        """Those whose turn comes before that of the reservation, and whose ids are not `done`."""
        return [each for each in self.before.get(reservation.id, ()) if each.id not in done]


def any_order(reservations: Sequence[records.Reservation]) -> Order:
    """The Order in which no reservation waits for another."""
    return Order({})


def of_start(reservations: Sequence[records.Reservation]) -> Order:
    """The Order in which each reservation comes after those that it depends on."""
    if not any(each.depends_on for each in reservations):
        return Order({})
    known = {each.label: each for each in reservations if each.label is not None}
    return Order({each.id: tuple(known[label] for label in each.depends_on)
                  for each in reservations if each.depends_on})


def of_end(reservations: Sequence[records.Reservation]) -> Order:
    """The Order in which each reservation comes after those that depend on it."""
    known = {each.id: each for each in reservations}
    before = collections.defaultdict(list)
    for key, depends_on in of_start(reservations).before.items():
        for each in depends_on:
            before[each.id].append(known[key])
    return Order(dict(before))


def levels(before: Mapping[_Key, Collection[_Key]]) -> list[list[_Key]]:
    """The keys in levels: each stands in the first level after all that it names.

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
    """Refuse requests of one lease whose labels give no order.

    :raises BadField: a label is there twice, or unknown, or reservations depend on each other.
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
    """One circle among labels that each are in one, or behind one: "a -> b -> a"."""
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
