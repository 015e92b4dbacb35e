# SPDX-License-Identifier: Apache-2.0
"""Facets of a pool: the values of its properties, with the resources that have each value."""
import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any

from climate.domain import records
from climate.domain import requirement
from climate.domain import values

PROPERTY, CAPACITY, FACT = 'property', 'capacity', 'fact'
_KINDS = (PROPERTY, CAPACITY, FACT)
#: The greatest number of values that a facet lists.
MOST_VALUES = 50
# The greatest number of values that a message lists.
_MOST_IN_WORDS = 8
# Longer texts, such as descriptions of processors in JSON, are no choices.
_LONGEST_VALUE = 80

Rows = Mapping[int, Mapping[str, Any]]
_Counts = dict[str, 'collections.Counter[tuple[Any, bool, bool]]']


@dataclasses.dataclass(frozen=True)
class FacetQuery:
    """A query for the facets of a pool.

    :ivar start: None: now.
    :ivar end: None: `duration_seconds` after the start, or an hour if that is None, too.
    :ivar criteria: JSON text; only resources that meet them are counted.
    :ivar reservation: resources on which one copy of this reservation fits count as free, and its
        criteria count, too; None: resources that are entirely free.
    :ivar hidden: whether criteria may name resources and use private properties.
    """

    pool: str
    start: records.Moment | None = None
    end: records.Moment | None = None
    duration_seconds: int | None = None
    criteria: str = ''
    reservation: records.ReservationRequest | None = None
    hidden: bool = False


@dataclasses.dataclass(frozen=True)
class FacetValue:
    """A value: `matching` resources have it and meet the other criteria, `free` are free too."""

    value: str
    matching: int
    free: int


@dataclasses.dataclass(frozen=True)
class Facet:
    """The values of one property, at most MOST_VALUES of them.

    :ivar kind: PROPERTY (set by operators), CAPACITY, or FACT (reported by the cloud).
    :ivar more: whether there are more values.
    """

    name: str
    kind: str
    values: tuple[FacetValue, ...]
    more: bool = False


@dataclasses.dataclass(frozen=True)
class FacetAnswer:
    """The facets of a pool; `total`, `matching` and `free` count its resources by all criteria."""

    start: records.Moment
    end: records.Moment
    total: int
    matching: int
    free: int
    facets: tuple[Facet, ...]


def counted(wanted: requirement.Requirement, rows: Rows, free: Collection[int],
            kinds: Mapping[str, str]) -> tuple[int, int, tuple[Facet, ...]]:
    """Return (matching resources, free ones of them, the Facets by kind and name).

    A criterion about a single property does not count for the facet of this property, so that its
    facet shows how many resources each other choice would have.

    :param rows: {resource id: {name: value}}, as ``requirement.matches`` takes them.
    :param kinds: {name of a facet: its kind}; capacities keep their order.
    """
    parts = [(part, requirement.names(part)) for part in requirement.criteria(wanted)]
    counts: _Counts = {name: collections.Counter() for name in kinds}
    matching = matching_free = 0
    for key, row in rows.items():
        failing = {names for part, names in parts if not requirement.matches(part, row)}
        is_free = key in free
        matching += not failing
        matching_free += is_free and not failing
        for name, value in row.items():
            if name in counts and value is not None:
                counts[name][value, failing <= {frozenset({name})}, is_free] += 1
    facets = [Facet(name, kinds[name], *_listed(found)) for name in kinds
              if (found := _values(counts[name]))]
    return matching, matching_free, tuple(sorted(facets, key=lambda facet: (
        _KINDS.index(facet.kind), '' if facet.kind == CAPACITY else facet.name)))


def existing(name: str, rows: Rows) -> list[str]:
    """Return the values of a property, in order.

    :param rows: as for `counted`.
    """
    return [each.value for each in _values(collections.Counter(
        (row[name], True, False) for row in rows.values() if row.get(name) is not None))]


def in_words(existing_values: Mapping[str, Sequence[str]]) -> str:
    """Return sentences such as "gpu has the values A100, H100.", each after a space.

    :param existing_values: {name: values}.
    """
    return ''.join(f' {name} has the value{"s" if len(found) > 1 else ""} {_listing(found)}.'
                   for name, found in existing_values.items())


def _listing(found: Sequence[str]) -> str:
    shown = [values.readable(text) for text in found[:_MOST_IN_WORDS]]
    return ', '.join([*shown, '…'] if len(found) > len(shown) else shown)


def _values(counts: 'collections.Counter[tuple[Any, bool, bool]]') -> list[FacetValue]:
    """Return the FacetValues of one facet. Equal values, such as 1 and 1.0, are one value.

    :param counts: the number of resources by (value, whether it matches, whether it is free).
    """
    found: dict[values.Typed, FacetValue] = {}
    for (value, matches, is_free), count in counts.items():
        for member in values.members(value):
            key = values.typed(member)
            before = found.get(key) or FacetValue(str(member), 0, 0)
            found[key] = dataclasses.replace(
                before, matching=before.matching + matches * count,
                free=before.free + (matches and is_free) * count)
    return _in_order(each for each in found.values() if len(each.value) <= _LONGEST_VALUE)


def _in_order(found: Iterable[FacetValue]) -> list[FacetValue]:
    """Return FacetValues in the order of numbers, and then of text."""
    def key(each: FacetValue) -> tuple[bool, Any, str]:
        number = values.number(each.value)
        return number is None, 0 if number is None else number, each.value
    return sorted(found, key=key)


def _listed(found: Sequence[FacetValue]) -> tuple[tuple[FacetValue, ...], bool]:
    """Return (the values that are listed, whether there are more): the most frequent ones."""
    if len(found) <= MOST_VALUES:
        return tuple(found), False
    frequent = sorted(found, key=lambda each: -each.matching)[:MOST_VALUES]
    return tuple(_in_order(frequent)), True
