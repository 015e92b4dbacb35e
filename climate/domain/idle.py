# SPDX-License-Identifier: Apache-2.0
"""Decide which leases are idle, when they are reclaimed, and which of their resources."""
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime

from climate.domain import records
from climate.domain import use_sampling

# A lease counts as idle only if it was sampled for this share of the time.
_KNOWN_SHARE = 0.75


@dataclasses.dataclass(frozen=True)
class IdleRules:
    """The rules of a cloud.

    :ivar percent: a lease is idle if less than this share is in use; 0: only if nothing runs.
    :ivar watched: the time over which use is measured.
    :ivar grace: the time from the notification of the owner until a lease is reclaimed.
    """

    percent: float
    watched: datetime.timedelta
    grace: datetime.timedelta

    def watched_since(self, now: datetime.datetime) -> datetime.datetime:
        """Return the beginning of the time over which use is measured at `now`."""
        return use_sampling.hour_of(now) - self.watched


@dataclasses.dataclass(frozen=True)
class IdleVerdict:
    """The use of a lease, and whether it is idle.

    :ivar percent_used: the share of its resources that was used.
    :ivar unused: the keys of the resources on which nothing ran.
    """

    is_idle: bool
    percent_used: float
    unused: frozenset[use_sampling.Key]


#: The IdleVerdict of a lease with too few samples.
UNKNOWN = IdleVerdict(False, 100.0, frozenset())


def judge(samples: Mapping[use_sampling.Key, use_sampling.Sample], rules: IdleRules) -> IdleVerdict:
    """Return the IdleVerdict of a lease.

    :param samples: the sums of the samples of all present resources, over the watched time.
    """
    needed = rules.watched.total_seconds() * _KNOWN_SHARE
    if not samples or any(sample.seconds < needed for sample in samples.values()):
        return UNKNOWN
    total = sum(samples.values(), use_sampling.NO_SAMPLE)
    percent = 100 * total.used_seconds / total.seconds
    unused = frozenset(key for key, sample in samples.items()
                       if sample.idle_seconds == sample.seconds)
    return IdleVerdict(len(unused) == len(samples) or percent < rules.percent, percent, unused)


@dataclasses.dataclass(frozen=True)
class IdleMarks:
    """The moments of an idle lease.

    :ivar since: since when the lease is idle; None: it is not.
    :ivar reclaim_at: when the lease will be reclaimed; None: it will not.
    """

    since: datetime.datetime | None = None
    reclaim_at: datetime.datetime | None = None


def marks_of(lease: records.Lease) -> IdleMarks:
    """Return the present IdleMarks of a lease."""
    return IdleMarks(lease.idle_since, lease.reclaim_at)


def marked(before: IdleMarks, verdict: IdleVerdict, takes: bool, rules: IdleRules,
           now: datetime.datetime) -> IdleMarks:
    """Return the IdleMarks of a lease after an IdleVerdict.

    :param takes: whether something can be reclaimed from the lease.
    """
    if not verdict.is_idle:
        return IdleMarks()
    return IdleMarks(before.since or rules.watched_since(now),
                     (before.reclaim_at or now + rules.grace) if takes else None)


def unused_since(start: datetime.datetime, used: Mapping[datetime.datetime,
                                                         datetime.datetime | None],
                 watched: datetime.datetime) -> datetime.datetime:
    """Return since when nothing has run on a lease.

    The result is not before the last hour without samples, because it does not count as idle.

    :param start: when the lease started.
    :param used: {sampled hour: until when something ran in this hour; None: nothing ran}.
    :param watched: the beginning of an hour, not before the start, since which nothing ran.
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

    :ivar ends: whether all resources are reclaimed, so that the lease ends.
    :ivar resource_ids: {reservation id: the ids of the reclaimed resources}.
    """

    ends: bool
    resource_ids: Mapping[str, tuple[int, ...]]

    def without(self, used: Mapping[str, Collection[int]]) -> 'Reclamation | None':
        """Return the Reclamation without resources in use; None: all of them are in use.

        :param used: {reservation id: the ids of the resources that are in use}.
        """
        if self.ends:
            return None if any(used.values()) else self
        unused = {key: ids for key, all_ids in self.resource_ids.items()
                  if (ids := tuple(resource_id for resource_id in all_ids
                                   if resource_id not in used.get(key, ())))}
        return dataclasses.replace(self, resource_ids=unused) if unused else None


def surplus(allocated: Iterable[int], least: int, unused: Collection[int]) -> tuple[int, ...]:
    """Return the ids of unused resources that a reservation can lose: the highest ids.

    :param allocated: the ids of the resources of the reservation.
    :param least: the number of resources that the reservation must keep.
    """
    ids = sorted(set(allocated))
    most = max(0, len(ids) - least)
    return tuple([resource_id for resource_id in ids if resource_id in unused][::-1][:most][::-1])
