# SPDX-License-Identifier: Apache-2.0
"""Decide which resources fall asleep to save energy, and which wake up."""
import collections
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import math

AWAKE, FALLING, ASLEEP, WAKING, FAILED = STATES = (
    'awake', 'falling_asleep', 'asleep', 'waking', 'failed')
#: The states in which a resource cannot be used, but can be woken.
SLEEPING = (FALLING, ASLEEP, WAKING)
#: The recorded changes of a resource: it fell asleep, it was woken while it was falling asleep, it
#: woke up, it failed to wake up.
SLEPT, INTERRUPTED, WOKE, FAILED_TO_WAKE = ('slept', 'interrupted', 'woke', 'failed_to_wake')

_PERCENTILE = 0.95


@dataclasses.dataclass(frozen=True)
class Power:
    """The power state of one resource.

    :ivar state: one of STATES.
    :ivar since: when the state began; None: the resource has been awake since it was enrolled.
    """

    resource_id: int
    state: str = AWAKE
    since: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True)
class NextAllocation:
    """The next allocations of a resource.

    :ivar taken_at: the next start of any allocation, also of maintenance; None: there is none.
    :ivar needed_at: the next start of an allocation of a lease; None: there is none.
    """

    taken_at: datetime.datetime | None = None
    needed_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True)
class SleepRules:
    """The rules of an administrator.

    :ivar lead: the time between the end of a wake-up and the start of the lease.
    :ivar min_awake: the minimum time between a wake-up and the next sleep.
    :ivar min_asleep: the minimum time of a sleep.
    :ivar cycles_per_day: how often a resource may fall asleep in 24 hours.
    :ivar spare: the number of free resources of each group that stay awake.
    :ivar spare_share: the share of each group that stays awake and free, from 0 to 1. The larger
        one of both numbers counts.
    """

    lead: datetime.timedelta
    min_awake: datetime.timedelta
    min_asleep: datetime.timedelta
    cycles_per_day: int
    spare: int = 0
    spare_share: float = 0.0


@dataclasses.dataclass(frozen=True)
class Sleeper:
    """The facts about a resource that decide whether it sleeps.

    :ivar machine: the name of its machine. All resources of one machine sleep and wake together.
    :ivar group: the group within which spare resources are counted.
    :ivar is_free: whether no lease has it now, and nothing else prevents its sleep.
    :ivar needed_at: the next start of a lease on it; None: there is none.
    :ivar cycles: how often it fell asleep in the last 24 hours.
    :ivar wake: the expected duration of its wake-up.
    """

    id: int
    state: str
    since: datetime.datetime | None
    machine: str
    group: str
    is_free: bool
    needed_at: datetime.datetime | None
    cycles: int
    wake: datetime.timedelta

    def due_at(self, rules: SleepRules) -> datetime.datetime | None:
        """Return when the resource must begin to wake up; None: no lease needs it."""
        if self.needed_at is None:
            return None
        return self.needed_at - self.wake - rules.lead

    def is_due(self, rules: SleepRules, now: datetime.datetime) -> bool:
        """Return whether the resource must be awake or wake up now, because a lease needs it."""
        due = self.due_at(rules)
        return due is not None and due <= now


@dataclasses.dataclass(frozen=True)
class SleepPlan:
    """The ids of the resources that wake up, and of those that fall asleep, both in order."""

    wake: tuple[int, ...]
    sleep: tuple[int, ...]


def plan(sleepers: Sequence[Sleeper], rules: SleepRules, now: datetime.datetime) -> SleepPlan:
    """Decide which resources wake up and which fall asleep at `now`.

    Resources that leases need wake up. Further resources wake up until each group has enough spare
    resources that are awake or waking. A machine falls asleep only if all of its resources may
    sleep and enough spare resources of each group stay awake on other machines. Waking resources
    do not count for this condition, because a wake-up can fail.
    """
    groups, machines = collections.defaultdict(list), collections.defaultdict(list)
    for sleeper in sleepers:
        groups[sleeper.group].append(sleeper)
        machines[sleeper.machine].append(sleeper)
    return SleepPlan(tuple(_waking(groups, machines, rules, now)), tuple(_falling(
        machines.values(), _beyond_spare(groups, (AWAKE,), rules, now), rules, now)))


def _waking(groups: Mapping[str, Sequence[Sleeper]], machines: Mapping[str, Sequence[Sleeper]],
            rules: SleepRules, now: datetime.datetime) -> list[int]:
    """Return the ids of the resources that wake up: for leases first, then as spare ones."""
    wake = []
    for name in sorted(groups):
        wake += sorted((sleeper for sleeper in groups[name] if sleeper.state in (ASLEEP, FALLING)
                        and sleeper.is_due(rules, now)), key=_urgency)
    woken = {sleeper.machine for sleeper in wake}
    beyond = _beyond_spare(groups, (AWAKE, WAKING), rules, now)
    for name in woken:
        beyond = _counted(_joining(machines[name], rules, now), beyond, 1)
    for name in sorted(groups):
        asleep = (sleeper for sleeper in groups[name] if sleeper.state == ASLEEP
                  and sleeper.is_free and _has_been(sleeper, rules.min_asleep, now))
        for sleeper in sorted(asleep, key=_urgency):
            if beyond[name] < 0 and sleeper.machine not in woken:
                wake.append(sleeper)
                woken.add(sleeper.machine)
                beyond = _counted(_joining(machines[sleeper.machine], rules, now), beyond, 1)
    return [sleeper.id for sleeper in wake]


def _joining(machine: Sequence[Sleeper], rules: SleepRules,
             now: datetime.datetime) -> list[Sleeper]:
    """Return the resources that become spare when their machine wakes."""
    return [sleeper for sleeper in machine
            if sleeper.state in (ASLEEP, FALLING) and not sleeper.is_due(rules, now)]


def _beyond_spare(groups: Mapping[str, Sequence[Sleeper]], states: Sequence[str], rules: SleepRules,
                  now: datetime.datetime) -> dict[str, int]:
    """Return {group: free resources in `states` minus required spare ones}; < 0: too few."""
    return {name: sum(sleeper.state in states and sleeper.is_free
                      and not sleeper.is_due(rules, now) for sleeper in group)
            - max(rules.spare, math.ceil(rules.spare_share * len(group) - 1e-9))
            for name, group in groups.items()}


def _falling(machines: Iterable[Sequence[Sleeper]], beyond: Mapping[str, int], rules: SleepRules,
             now: datetime.datetime) -> list[int]:
    """Return the ids of the resources that fall asleep, machine by machine."""
    free = [machine for machine in machines
            if all(may_sleep(sleeper, rules, now) for sleeper in machine)]
    ids = []
    for machine in sorted(free, key=lambda sleepers: min(map(_urgency, sleepers)), reverse=True):
        beyond_after = _counted(machine, beyond, -1)
        if min(beyond_after[sleeper.group] for sleeper in machine) >= 0:
            beyond = beyond_after
            ids += [sleeper.id for sleeper in machine]
    return ids


def _counted(machine: Sequence[Sleeper], counts: Mapping[str, int], step: int) -> dict[str, int]:
    """Return {group: count}, with `step` added for each free resource of a machine."""
    changed = dict(counts)
    for sleeper in machine:
        if sleeper.is_free:
            changed[sleeper.group] += step
    return changed


def may_sleep(sleeper: Sleeper, rules: SleepRules, now: datetime.datetime) -> bool:
    """Return whether a resource may fall asleep at `now`, regardless of other resources."""
    due = sleeper.due_at(rules)
    return (sleeper.state == AWAKE and sleeper.is_free
            and (due is None or due >= now + rules.min_asleep)
            and _has_been(sleeper, rules.min_awake, now)
            and sleeper.cycles < rules.cycles_per_day)


def wake_time(seconds: Sequence[float], first: datetime.timedelta, margin: float
              ) -> datetime.timedelta:
    """Return the expected duration of a wake-up.

    :param seconds: the durations of earlier wake-ups, in any order.
    :param first: the result without earlier wake-ups.
    :param margin: the share that is added to the 95th percentile, such as 0.2.
    """
    if not seconds:
        return first
    ranked = sorted(seconds)
    longest = ranked[math.ceil(_PERCENTILE * len(ranked)) - 1]
    return datetime.timedelta(seconds=longest * (1 + margin))


def _has_been(sleeper: Sleeper, least: datetime.timedelta, now: datetime.datetime) -> bool:
    return sleeper.since is None or sleeper.since + least <= now


def _urgency(sleeper: Sleeper) -> tuple[bool, float, int, int]:
    """Return a sort key: the earliest need comes first, then the most cycles."""
    needed = sleeper.needed_at
    return (needed is None, 0 if needed is None else needed.timestamp(), -sleeper.cycles,
            -sleeper.id)
