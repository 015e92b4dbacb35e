# SPDX-License-Identifier: Apache-2.0
"""The bars of the allocations and of the absences of a pool, as one caller may see them."""
import dataclasses
import datetime

import numpy as np

from climate import errors
from climate.db import absences
from climate.db import booking_columns
from climate.db import packed_columns
from climate.db import timeline_columns
from climate.db import timeline_rows
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import status_words
from climate.domain import timeline
from climate.domain import usage_figures
from climate.domain import utilisation
from climate.manager.pools import timeline_bars

# {cause of an absence: kind of the bars that show it}
_CAUSES = {
    utilisation.OUT_OF_ORDER: timeline.OUT_OF_ORDER, utilisation.ASLEEP: timeline.ASLEEP,
    utilisation.SICK: timeline.OUT_OF_ORDER, utilisation.MAINTAINED: timeline.MAINTENANCE}
# The kind and the end of the absence during a maintenance that runs now.
_MAINTAINED_NOW = (utilisation.MAINTAINED, None)
# The kinds of the allocations without a lease that the caller sees. The lease is of another
# project, or began or ended to exist during the reading. Blocks are shown as absences.
_UNSEEN = (timeline.OTHERS, timeline.OFFER, timeline.MAINTENANCE, None)
_OTHERS, _OFFER, _WINDOW, _BLOCK = range(len(_UNSEEN))
_SECOND = 10 ** 6


@dataclasses.dataclass(frozen=True)
class FoundBars:
    """The Bars of a pool, sorted by resource and start.

    :ivar words: the status words, by their numbers in the bars.
    :ivar lease_keys: the ids of the leases, by their numbers in the bars.
    :ivar until: the first moment at which the bars differ although the database does not; None:
        there is none.
    """

    bars: timeline_bars.Bars
    words: list
    lease_keys: np.ndarray
    until: datetime.datetime | None

    def lease_id(self, number):
        """Return the id of the lease with a number in the bars."""
        return packed_columns.id_text(self.lease_keys[number])


@dataclasses.dataclass(frozen=True)
class _Looks:
    """The appearance of the allocations of reservations.

    :ivar places: {id of a reservation: index into the arrays}; others have the place _OTHERS.
    :ivar kinds: indexes into ``timeline.KINDS``; -1: not at all.
    :ivar statuses: indexes into `words`; -1: none.
    :ivar leases: indexes into `lease_keys`; -1: none.
    """

    places: dict
    kinds: np.ndarray
    statuses: np.ndarray
    leases: np.ndarray
    words: list
    lease_keys: np.ndarray


def find(connection, query, resource_ids, now):
    """Return the FoundBars of resources of a pool.

    :raises BadField: there are too many bars.
    """
    most = timeline.MOST_BARS + 1
    found = timeline_columns.allocated(connection, query, most)
    count = len(found.resource_ids)
    gone = absences.with_causes(connection, query.start, query.end, query.pool, most - count)
    if count + sum(map(len, gone.values())) > timeline.MOST_BARS:
        raise errors.BadField(field='end', reason=(
            f'there are more than {timeline.MOST_BARS} allocations and absences in this span: ask '
            'for a shorter one.'))
    groups = timeline_columns.lease_groups(connection, query, found, now)
    looks = _looks(connection, query, groups, resource_ids)
    bars, window_ends = _of_allocations(found, looks, resource_ids, now)
    planned = (timeline_rows.maintenance_ends(connection, query.pool, now)
               if _MAINTAINED_NOW in {span[::2] for spans in gone.values() for span in spans}
               else {})
    absent = timeline_bars.of([
        row for key in resource_ids if key in gone
        for row in _absences(key, gone[key], query, key in planned)])
    pending = [group.first_start for group in groups
               if group.state == lifecycle.PENDING and not group.started]
    until = min((moment for moment in (*window_ends, *pending, *planned.values()) if moment > now),
                default=None)
    return FoundBars(timeline_bars.together(bars, absent), looks.words, looks.lease_keys, until)


def _looks(connection, query, groups, resource_ids):
    """Return the _Looks of the reservations of a query."""
    places = dict.fromkeys(map(packed_columns.id_key, map(health.block_of, resource_ids)), _BLOCK)
    places |= dict.fromkeys(map(
        packed_columns.id_key, timeline_columns.offered_ids(connection, query)), _OFFER)
    places |= dict.fromkeys(map(
        packed_columns.id_key, timeline_columns.window_ids(connection, query)), _WINDOW)
    kinds = [np.array([-1 if kind is None else timeline.KINDS.index(kind) for kind in _UNSEEN])]
    none = np.full(len(_UNSEEN), -1)
    statuses, leases, lease_keys, words = [none], [none], [np.zeros(0, 'S36')], []
    total = len(_UNSEEN)
    for group in groups:
        count = len(group.reservation_ids)
        places |= zip(group.reservation_ids.tolist(), range(total, total + count), strict=True)
        kinds.append(np.full(count, timeline.KINDS.index(
            timeline.OWN if group.own else timeline.OTHERS)))
        lease_keys.append(group.lease_ids)
        # Only callers who see everything see a deleted lease.
        visible = query.everybody or (group.own and not group.deleted)
        statuses.append(np.full(count, _number(words, group) if visible else -1))
        leases.append(np.arange(total, total + count) - len(_UNSEEN) if visible
                      else np.full(count, -1))
        total += count
    keys, leases = np.concatenate(lease_keys), np.concatenate(leases)
    # A lease with several reservations gets one number.
    distinct, numbers = np.unique(keys, return_inverse=True)
    numbers = np.concatenate([none, numbers.ravel()])
    return _Looks(places, np.concatenate(kinds), np.concatenate(statuses),
                  np.where(leases < 0, -1, numbers), words, distinct)


def _number(words, group):
    """Return the number of the status word of a LeaseGroup, which is added to the words."""
    start = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    later = start + datetime.timedelta(days=1)
    word = status_words.words(group.state, group.task, *(
        (start, later) if group.started else (later, start)))[1]
    if word not in words:
        words.append(word)
    return words.index(word)


def _of_allocations(found, looks, resource_ids, now):
    """Return (the Bars of Allocated, the ends of the maintenance windows).

    An overdue maintenance is shown as an absence.
    """
    places = np.fromiter((looks.places.get(key, _OTHERS) for key in found.reservation_ids.tolist()),
                         np.int64, len(found.starts))
    is_window = places == _WINDOW
    shown = np.isin(found.resource_ids, resource_ids) & (looks.kinds[places] >= 0) & ~(
        is_window & (found.ends <= booking_columns.microseconds(now)))
    window_ends = [booking_columns.moment(int(end)) for end in np.unique(found.ends[is_window])]
    places = places[shown]
    return timeline_bars.Bars(
        found.resource_ids[shown], found.starts[shown] // _SECOND, found.ends[shown] // _SECOND,
        looks.kinds[places], looks.statuses[places], looks.leases[places],
        np.zeros(len(places), bool)), window_ends


def _absences(resource_id, spans, query, is_maintained):
    """Yield the rows of Bars of the absences of a resource.

    :param spans: [(kind, start, end)]; end None: the absence continues.
    :param is_maintained: whether a maintenance window runs now. Its allocation has the planned end.
    """
    second = usage_figures.second
    for kind, start, end in spans:
        if not (is_maintained and (kind, end) == _MAINTAINED_NOW):
            yield (resource_id, second(start), second(end or query.end), _CAUSES[kind], -1, -1,
                   end is None)
