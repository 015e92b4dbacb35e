# SPDX-License-Identifier: Apache-2.0
"""The bars of a timeline as numpy columns, because there may be a hundred thousand."""
import dataclasses

import numpy as np

from climate.domain import timeline

_KINDS = {kind: index for index, kind in enumerate(timeline.KINDS)}
_SEVERAL = _KINDS[timeline.SEVERAL]
# {index of a kind: its layer}. Only bars of one layer are merged.
_LAYERS = np.array([_KINDS[kind] if kind in timeline.ABSENCES else -1 for kind in timeline.KINDS])


@dataclasses.dataclass(frozen=True)
class Bars:
    """Columns with one element for each use of a resource, sorted by resource and start.

    :ivar starts: seconds since 1970.
    :ivar ends: seconds since 1970.
    :ivar kinds: indexes into ``timeline.KINDS``.
    :ivar statuses: numbers of the status words of the leases; -1: the caller may not see the lease.
    :ivar leases: numbers of the leases; -1: the caller may not see the lease.
    :ivar open_ended: whether the end is unknown. `ends` has the end of the timeline then.
    """

    resource_ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    kinds: np.ndarray
    statuses: np.ndarray
    leases: np.ndarray
    open_ended: np.ndarray

    def __len__(self):
        return len(self.starts)

    def chosen(self, places):
        """Return the Bars at these places, in this order."""
        return Bars(*(getattr(self, field.name)[places] for field in dataclasses.fields(self)))


def of(rows):
    """Return the Bars of rows in the order of the fields of Bars, with the kinds as words."""
    columns = list(zip(*rows, strict=True)) or [()] * 7
    columns[3] = [_KINDS[kind] for kind in columns[3]]
    return Bars(*(np.array(column, np.int64) for column in columns[:-1]),
                np.array(columns[-1], bool))


def together(one, other):
    """Return the Bars of both, sorted by resource and start."""
    both = Bars(*(np.concatenate([getattr(one, field.name), getattr(other, field.name)])
                  for field in dataclasses.fields(Bars)))
    return both.chosen(np.lexsort((both.starts, both.resource_ids)))


def merged(bars, resolution):
    """Merge consecutive bars of a resource if they last less than a resolution in total.

    The gaps between the bars count too. So a picture with one pixel for each resolution shows the
    same. Absences merge only with absences of the same kind.

    :param resolution: the resolution in seconds.
    """
    if resolution == 0 or not len(bars):
        return bars
    layers = _LAYERS[bars.kinds]
    order = np.lexsort((bars.starts, layers, bars.resource_ids))
    ordered = bars.chosen(order)
    heads = _heads(ordered, layers[order], resolution)
    if len(heads) == len(bars):
        return bars
    same = np.ones(len(heads), bool)
    for column in (ordered.kinds, ordered.leases):
        same &= np.minimum.reduceat(column, heads) == np.maximum.reduceat(column, heads)
    first = ordered.chosen(heads)
    result = Bars(
        first.resource_ids, first.starts, np.maximum.reduceat(ordered.ends, heads),
        np.where(same, first.kinds, _SEVERAL), np.where(same, first.statuses, -1),
        np.where(same, first.leases, -1), first.open_ended)
    return result.chosen(np.argsort(order[heads]))


def _heads(bars, layers, resolution):
    """Return the places of the bars that are not merged with the bar before.

    :param bars: Bars, sorted by resource, layer and start.
    """
    apart = bars.open_ended[1:] | bars.open_ended[:-1] | (layers[1:] != layers[:-1]) | (
        bars.resource_ids[1:] != bars.resource_ids[:-1])
    lengths = np.maximum(bars.ends[1:], bars.ends[:-1]) - bars.starts[:-1]
    apart = np.concatenate([[True], apart])
    # Most bars of a large timeline are merged with none, which the loop need not find out.
    may_begin = np.concatenate([[False], (lengths < resolution)]) & ~apart
    heads = np.ones(len(bars), bool)
    starts, ends, apart = bars.starts.tolist(), bars.ends.tolist(), apart.tolist()
    done = 0
    for place in np.flatnonzero(may_begin).tolist():
        if place < done:
            continue
        start, reach = starts[place - 1], ends[place - 1]
        while place < len(starts) and not apart[place] and (
                max(reach, ends[place]) - start < resolution):
            heads[place] = False
            reach = max(reach, ends[place])
            place += 1
        done = place + 1
    return np.flatnonzero(heads)


def named(bars, resolution, all_named=timeline.ALL_NAMED):
    """Return the numbers of the leases that are named, in the order of their bars.

    :param all_named: if there are more bars, only leases with a bar of at least
        ``timeline.NAMED_RESOLUTIONS`` resolutions are named.
    """
    least = timeline.NAMED_RESOLUTIONS * resolution if len(bars) > all_named else 0
    return _in_order(bars.leases[(bars.leases >= 0) & (bars.ends - bars.starts >= least)])


def columns(bars, lanes, leases, words, epoch):
    """Return the columns of a ``timeline.Timeline``, and its words, as {name: values}.

    :param lanes: the ids of the resources, in their order.
    :param leases: the numbers of the named leases, in their order.
    :param words: all status words, by their numbers.
    :param epoch: the second from which starts and ends are counted.
    """
    ends = (bars.ends - epoch).tolist()
    for place in np.flatnonzero(bars.open_ended).tolist():
        ends[place] = None
    statuses = _in_order(bars.statuses[bars.statuses >= 0])
    return {
        'lanes': tuple(_places(lanes, bars.resource_ids).tolist()),
        'starts': tuple((bars.starts - epoch).tolist()), 'ends': tuple(ends),
        'kinds': tuple(bars.kinds.tolist()),
        'statuses': tuple(_places(statuses, bars.statuses).tolist()),
        'of_leases': tuple(_places(leases, bars.leases).tolist()),
        'words': tuple(words[number] for number in statuses)}


def _in_order(numbers):
    """Return each number once, in the order of their first occurrence."""
    distinct, first = np.unique(numbers, return_index=True)
    return distinct[np.argsort(first)].tolist()


def _places(known, numbers):
    """Return the index in a list of each number; -1: the list does not have it."""
    known = np.array(known, np.int64)
    if not len(known):
        return np.full(len(numbers), -1)
    order = np.argsort(known)
    places = order[np.searchsorted(known, numbers, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places] == numbers, places, -1)
