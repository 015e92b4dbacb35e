# SPDX-License-Identifier: Apache-2.0
"""Usage by group: the query, the sums of each group, and the report.

Each counted second belongs to exactly one group. So the groups add up to the total.
"""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
from typing import Any

from climate.domain import usage_figures as figures

Moment = datetime.datetime
#: The words for grouping usage, besides properties.
GROUPS = ('project', 'user', 'type', 'pool', 'day')
#: "property:NAME" groups by the values of a property.
PROPERTY = 'property:'


@dataclasses.dataclass(frozen=True)
class UsageQuery:
    """A query for usage: the days from `start` up to `end`, and the groups.

    :ivar start: the beginning of a day (UTC); `end` too.
    :ivar group_by: words of GROUPS, or "property:NAME".
    :ivar project_id: None: all projects.
    :ivar hidden: whether usage may be grouped by private properties and facts.
    """

    start: Moment
    end: Moment
    group_by: tuple[str, ...] = ()
    project_id: str | None = None
    hidden: bool = False


@dataclasses.dataclass(frozen=True)
class UsageGroup:
    """The usage of one group.

    :ivar keys: {word of `group_by`: value}; None: the value is not known.
    :ivar seconds: {figure: resource-seconds}.
    :ivar units: {class: {figure: unit-seconds}}.
    :ivar reasons: {code of a reason: refused resource-seconds}.
    """

    keys: Mapping[str, str | None]
    seconds: Mapping[str, int]
    units: Mapping[str, Mapping[str, int]]
    reasons: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class UsageReport:
    """The answer to a UsageQuery: its groups in order, and the total of all of them.

    :ivar counted_to: the moment up to which the figures occupied and idle are counted.
    """

    start: Moment
    end: Moment
    counted_to: Moment
    group_by: tuple[str, ...]
    groups: tuple[UsageGroup, ...]
    total: UsageGroup


def grouped(counted: Iterable[tuple[figures.UsageKey, figures.Seconds]], group_by: Sequence[str],
            properties: Mapping[int, Mapping[str, str]] | None = None) -> list[UsageGroup]:
    """Return the UsageGroups of counted seconds, sorted by their keys.

    :param properties: {resource id: {name: text}}, for grouping by properties.
    """
    sums: dict[tuple[str | None, ...], _Sum] = {}
    for key, seconds in counted:
        sums.setdefault(_group(key, group_by, properties or {}), _Sum()).add(key, seconds)
    return [group.finished(dict(zip(group_by, values, strict=True)))
            for values, group in sorted(sums.items(), key=_in_order)]


class _Sum:
    """A collector of the usage of one group."""

    def __init__(self) -> None:
        self._by_amount: dict[str, figures.Seconds] = {}
        self._reasons: dict[str, int] = {}

    def add(self, key: figures.UsageKey, seconds: figures.Seconds) -> None:
        self._by_amount[key.amount] = self._by_amount.get(key.amount, figures.Seconds()) + seconds
        if key.reason:
            self._reasons[key.reason] = self._reasons.get(key.reason, 0) + seconds.refused

    def finished(self, keys: Mapping[str, str | None]) -> UsageGroup:
        units: dict[str, dict[str, int]] = {}
        total = figures.Seconds()
        for amount, seconds in self._by_amount.items():
            total += seconds
            for name, count in figures.units_of(amount).items():
                of_class = units.setdefault(name, dict.fromkeys(figures.FIGURES, 0))
                for figure in figures.FIGURES:
                    of_class[figure] += count * getattr(seconds, figure)
        return UsageGroup(keys, dataclasses.asdict(total), dict(sorted(units.items())),
                          dict(sorted(self._reasons.items())))


def _group(key: figures.UsageKey, group_by: Sequence[str],
           properties: Mapping[int, Mapping[str, str]]) -> tuple[str | None, ...]:
    values: list[str | None] = []
    for word in group_by:
        if word == 'day':
            values.append(None if key.day is None else f'{figures.moment(key.day):%Y-%m-%d}')
        elif word.startswith(PROPERTY):
            of_resource = properties.get(key.resource_id or 0, {})
            values.append(of_resource.get(word.removeprefix(PROPERTY)))
        else:
            values.append({'project': key.project_id, 'user': key.user_id,
                           'type': key.resource_type, 'pool': key.pool}[word])
    return tuple(values)


def _in_order(item: tuple[tuple[str | None, ...], Any]) -> list[tuple[bool, str]]:
    return [(value is None, value or '') for value in item[0]]


#: The usage of a group in which nothing was counted.
NOTHING = _Sum().finished({})
