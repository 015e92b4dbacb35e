# SPDX-License-Identifier: Apache-2.0
"""The decision which leases are idle, when they are reclaimed, and how much of them."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime

from climate.domain import records
from climate.domain import use_sampling

# A lease is judged only if it was sampled for this share of the time. Otherwise it does not count
# as idle.
_KNOWN_SHARE = 0.75


@dataclasses.dataclass(frozen=True)
class IdleRules:
    """The rules of one cloud.

    :ivar percent: a lease is idle if less than this share is in use; 0: only if nothing runs.
    :ivar watched: the time over which use is measured.
    :ivar grace: the time from the notification of the owner until a lease is reclaimed.
    """

    percent: float
    watched: datetime.timedelta
    grace: datetime.timedelta

    def watched_since(self, now: datetime.datetime) -> datetime.datetime:
        """Return the beginning of the first hour that counts at `now`."""
        return use_sampling.hour_of(now) - self.watched


@dataclasses.dataclass(frozen=True)
class IdleVerdict:
    """The use of a lease.

    :ivar is_idle: whether it counts as idle.
    :ivar percent_used: the share of its resources that was used.
    :ivar unused: the keys of the samples in which nothing ran.
    """

    is_idle: bool
    percent_used: float
    unused: frozenset[use_sampling.Key]


#: Too little is known of the lease.
UNKNOWN = IdleVerdict(False, 100.0, frozenset())


def judge(samples: Mapping[use_sampling.Key, use_sampling.Sample], rules: IdleRules) -> IdleVerdict:
    """Return the IdleVerdict of a lease.

    :param samples: the sums of the samples of all its present resources, over the watched time.
    """
    needed = rules.watched.total_seconds() * _KNOWN_SHARE
    if not samples or any(sample.seconds < needed for sample in samples.values()):
        return UNKNOWN
    whole = use_sampling.total(samples.values())
    percent = 100 * whole.used_seconds / whole.seconds
    unused = frozenset(key for key, sample in samples.items()
                       if sample.idle_seconds == sample.seconds)
    return IdleVerdict(len(unused) == len(samples) or percent < rules.percent, percent, unused)


@dataclasses.dataclass(frozen=True)
class IdleMarks:
    """The moments of an idle lease.

    :ivar since: since when it is idle; None: it is not.
    :ivar reclaim_at: when it will be reclaimed; None: it will not.
    """

    since: datetime.datetime | None = None
    reclaim_at: datetime.datetime | None = None


def marks_of(lease: records.Lease) -> IdleMarks:
    """Return the IdleMarks that a lease has."""
    return IdleMarks(lease.idle_since, lease.reclaim_at)


def marked(before: IdleMarks, verdict: IdleVerdict, takes: bool, rules: IdleRules,
           now: datetime.datetime) -> IdleMarks:
    """Return the IdleMarks of a lease after an IdleVerdict.

    :param takes: whether something can be reclaimed from it.
    """
    if not verdict.is_idle:
        return IdleMarks()
    return IdleMarks(before.since or rules.watched_since(now),
                     (before.reclaim_at or now + rules.grace) if takes else None)


def unused_since(start: datetime.datetime, used: Mapping[datetime.datetime,
                                                         datetime.datetime | None],
                 watched: datetime.datetime) -> datetime.datetime:
    """Return since when nothing has run on a lease on which nothing ran since `watched`.

    Hours without samples do not count as idle: the result is not before the last of them.

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
    """The resources that are reclaimed from a lease.

    :ivar ends: whether all of it is reclaimed, so that the lease ends.
    :ivar resource_ids: {reservation id: the ids of the resources that it loses}.
    """

    ends: bool
    resource_ids: Mapping[str, tuple[int, ...]]

    def without(self, used: Mapping[str, Collection[int]]) -> 'Reclamation | None':
        """Return the Reclamation without resources in use; None: nothing is left.

        :param used: {reservation id: the ids of the resources that are in use}.
        """
        if self.ends:
            return None if any(used.values()) else self
        left = {key: tuple(resource_id for resource_id in ids
                           if resource_id not in used.get(key, ()))
                for key, ids in self.resource_ids.items()}
        left = {key: ids for key, ids in left.items() if ids}
        return dataclasses.replace(self, resource_ids=left) if left else None


def surplus(allocated: Iterable[int], least: int, unused: Collection[int]) -> tuple[int, ...]:
    """Return the ids of the unused resources that a reservation can lose, the last ones.

    :param allocated: the ids of its resources.
    :param least: the number of resources that it must keep.
    """
    ids = sorted(set(allocated))
    most = max(0, len(ids) - least)
    return tuple([each for each in ids if each in unused][::-1][:most][::-1])
