# SPDX-License-Identifier: Apache-2.0
"""The decision which leases are idle, when they are taken back, and how much of them."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime

from climate.domain import records
from climate.domain import use_sampling

# A lease is judged only if it was sampled for this share of the time. What is not known is not
# idle.
_KNOWN_SHARE = 0.75


@dataclasses.dataclass(frozen=True)
class IdleRules:
    """The rules of one cloud.

    :ivar percent: less than this share in use is idle; 0: only if nothing runs.
    :ivar watched: over what time.
    :ivar grace: how long after its owner was told a lease is taken back.
    """

    percent: float
    watched: datetime.timedelta
    grace: datetime.timedelta

    def watched_since(self, now: datetime.datetime) -> datetime.datetime:
        """Return the beginning of the first hour that counts at `now`."""
        return use_sampling.hour_of(now) - self.watched


@dataclasses.dataclass(frozen=True)
class IdleVerdict:
    """How idle a lease is.

    :ivar is_idle: whether it counts as idle.
    :ivar percent_used: how much of what it holds was used.
    :ivar unused: the keys of the samples of that on which nothing ran at all.
    """

    is_idle: bool
    percent_used: float
    unused: frozenset[use_sampling.Key]


#: Too little is known of the lease.
UNKNOWN = IdleVerdict(False, 100.0, frozenset())


def judge(samples: Mapping[use_sampling.Key, use_sampling.Sample], rules: IdleRules) -> IdleVerdict:
    """Return the IdleVerdict of a lease.

    :param samples: the sum of the samples of all that it holds now, over the time that counts.
    """
    needed = rules.watched.total_seconds() * _KNOWN_SHARE
    if not samples or any(each.seconds < needed for each in samples.values()):
        return UNKNOWN
    whole = use_sampling.total(samples.values())
    percent = 100 * whole.used_seconds / whole.seconds
    unused = frozenset(key for key, each in samples.items() if each.idle_seconds == each.seconds)
    return IdleVerdict(len(unused) == len(samples) or percent < rules.percent, percent, unused)


@dataclasses.dataclass(frozen=True)
class IdleMarks:
    """What a lease says about being idle.

    :ivar since: since when it is idle; None: it is not.
    :ivar reclaim_at: when it is to be taken back; None: it is not.
    """

    since: datetime.datetime | None = None
    reclaim_at: datetime.datetime | None = None


def marks_of(lease: records.Lease) -> IdleMarks:
    """Return the IdleMarks that a lease has."""
    return IdleMarks(lease.idle_since, lease.reclaim_at)


def marked(before: IdleMarks, verdict: IdleVerdict, takes: bool, rules: IdleRules,
           now: datetime.datetime) -> IdleMarks:
    """Return the IdleMarks of a lease after a IdleVerdict.

    :param takes: whether something could be taken from it.
    """
    if not verdict.is_idle:
        return IdleMarks()
    return IdleMarks(before.since or rules.watched_since(now),
                 (before.reclaim_at or now + rules.grace) if takes else None)


def unused_since(start: datetime.datetime, used: Mapping[datetime.datetime,
                                                         datetime.datetime | None],
                 watched: datetime.datetime) -> datetime.datetime:
    """Return since when nothing has run on a lease on which nothing ran since `watched`.

    Hours without samples do not count as idle: the time goes back to the first of them at most.

    :param start: when the lease started.
    :param used: {hour that was sampled: until when something ran in it; None: nothing ran}.
    :param watched: the beginning of an hour, not before the start.
    """
    since = watched
    while since > start:
        hour = use_sampling.hour_of(since - datetime.timedelta(microseconds=1))
        if hour not in used:
            break
        until = used[hour]
        if until is not None:
            return max(start, until)
        since = hour
    return max(start, since)


def week_of(now: datetime.datetime) -> datetime.datetime:
    """Return the beginning of the week of a moment: Monday, 0 o'clock UTC."""
    day = use_sampling.hour_of(now).replace(hour=0)
    return day - datetime.timedelta(days=day.weekday())


@dataclasses.dataclass(frozen=True)
class Reclamation:
    """What is taken back of a lease.

    :ivar ends: whether all of it is taken: the lease ends.
    :ivar resource_ids: {reservation id: the ids of the resources that are taken from it}.
    """

    ends: bool
    resource_ids: Mapping[str, tuple[int, ...]]

    def without(self, used: Mapping[str, Collection[int]]) -> 'Reclamation | None':
        """Return what is left of it; None: nothing.

        :param used: {reservation id: the ids of the resources on which there is something}.
        """
        if self.ends:
            return None if any(used.values()) else self
        left = {key: tuple(each for each in ids if each not in used.get(key, ()))
                for key, ids in self.resource_ids.items()}
        left = {key: ids for key, ids in left.items() if ids}
        return dataclasses.replace(self, resource_ids=left) if left else None


def surplus(allocated: Iterable[int], least: int, unused: Collection[int]) -> tuple[int, ...]:
    """Return the ids of the unused resources that a reservation can lose, the last ones.

    :param allocated: the ids of its resources.
    :param least: how many it keeps at least.
    """
    ids = sorted(set(allocated))
    most = max(0, len(ids) - least)
    return tuple([each for each in ids if each in unused][::-1][:most][::-1])
