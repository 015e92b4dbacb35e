# SPDX-License-Identifier: Apache-2.0
"""Rations: the amounts that a choice may take of resources which a limit counts."""
import collections
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses


@dataclasses.dataclass(frozen=True)
class Ration:
    """The units that all reservations of a lease together may take of some resources.

    :ivar name: the name of the limit. Rations of several demands with one name are one ration.
    :ivar most: the greatest number of units.
    :ivar units: {resource id: units of one copy}. Other resources are free of it.
    """

    name: str
    most: int
    units: Mapping[int, int]


class Allowance:
    """The rest of some rations while a choice takes resources."""

    def __init__(self, rations: Iterable[Ration]):
        self._rations = tuple(rations)
        self._left = {ration.name: ration.most for ration in self._rations}

    def copies(self, resource_id: int, wanted: int) -> int:
        """Return how many of the wanted copies on a resource are allowed."""
        return max(0, min([wanted, *(
            self._left[ration.name] // units for ration in self._rations
            if (units := ration.units.get(resource_id, 0)) > 0)]))

    def take(self, resource_id: int, copies: int) -> None:
        """Take copies, even more than are allowed."""
        for ration in self._rations:
            self._left[ration.name] -= ration.units.get(resource_id, 0) * copies

    def cost(self, resource_id: int) -> tuple[int, int]:
        """Return a key that sorts resources: first those that take little of the rations."""
        units = [ration.units[resource_id] for ration in self._rations
                 if ration.units.get(resource_id, 0) > 0]
        return len(units), sum(units)


Choice = tuple[Iterable[Ration], Mapping[int, int]]


def used(choices: Iterable[Choice]) -> collections.Counter[str]:
    """Return {name: units} that choices take of their rations.

    :param choices: pairs (Rations, {resource id: copies}).
    """
    amounts: collections.Counter[str] = collections.Counter()
    for rations, copies in choices:
        for ration in rations:
            amounts[ration.name] += sum(ration.units.get(resource_id, 0) * number
                                        for resource_id, number in copies.items())
    return amounts
