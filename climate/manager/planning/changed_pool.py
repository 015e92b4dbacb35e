# SPDX-License-Identifier: Apache-2.0
"""The changed pool of a what-if question: resources that are added, removed, or out for a time."""
import collections
import dataclasses
import datetime

from climate import errors
from climate.domain import interval
from climate.domain import lease_times

#: The longest time that a question can be about.
LONGEST = datetime.timedelta(days=366)
_MOST_ADDED = 10_000
# Longer than any lease.
_FOR_GOOD = datetime.timedelta(days=200 * 366)


class ChangedPool:
    """The resources of a pool after the changes of a Question.

    :ivar before: the present number of resources; `after`: the number at the end.
    :ivar capacities: {id: {class: units}} of the resources that are there now or are added.
    :ivar names: {id: name} of the same.
    :ivar twins: {id of an added resource: id of the one that it is like}.
    :ivar outages: {id: [Interval]} in which a resource is out or gone.
    """

    def __init__(self, resources, question, window):
        """Look up the resources that the question names.

        :param resources: {id: Resource} of those that can be reserved now.
        :param window: the Interval that the question is about.
        :raises BadField: there is no such resource, or a time is not possible.
        """
        self._known = {**{each.name: key for key, each in resources.items()},
                       **{str(key): key for key in resources}}
        self._pool, self._window = question.pool, window
        self.before = len(resources)
        self.capacities = {key: each.capacity for key, each in resources.items()}
        self.names = {key: each.name for key, each in resources.items()}
        self.twins = {}
        self.outages = collections.defaultdict(list)
        self._add(question.add)
        gone = {self._id('remove', text) for text in question.remove}
        for place, outage in enumerate(question.out):
            self._take_out(f'out.{place}', outage, gone)
        # A removed resource stays removed after the time of the question.
        for key in gone:
            self.outages[key] = [dataclasses.replace(window, end=window.end + _FOR_GOOD)]
        self.after = self.before + len(self.twins) - len(gone)

    def hits(self, rows):
        """Return whether one of the allocations of a lease is on a resource while it is out."""
        for row in rows:
            for span in self.outages.get(row.resource_id, ()):
                if row.start < span.end and span.start < row.end:
                    return True
        return False

    def capacity_before(self, step):
        """Return the resource-hours of the present pool in an Interval."""
        return self.before * _hours(step.start, step.end)

    def capacity_after(self, step):
        """Return the resource-hours of the changed pool in an Interval."""
        total = (self.before + len(self.twins)) * _hours(step.start, step.end)
        for spans in self.outages.values():
            for start, end in _united(spans):
                total -= max(0.0, _hours(max(start, step.start), min(end, step.end)))
        # Remove the errors of binary fractions, so that 0 is 0.
        return round(total, 6)

    def _add(self, added):
        if sum(each.count for each in added) > _MOST_ADDED:
            raise errors.BadField(field='add', reason=(
                f'at most {_MOST_ADDED} resources can be added.'))
        following = max(self.capacities, default=0) + 1
        for place, each in enumerate(added):
            like = self._id(f'add.{place}.like', each.like)
            for _ in range(each.count):
                self.twins[following] = like
                self.capacities[following] = self.capacities[like]
                self.names[following] = f'new-{len(self.twins)}'
                following += 1

    def _take_out(self, field, outage, gone):
        span = lease_times.window(outage.start, outage.end, LONGEST, f'{field}.end')
        if not span.overlaps(self._window):
            raise errors.BadField(field=field, reason=(
                f'it is outside of the time of the question, {self._window}.'))
        for text in outage.resources:
            key = self._id(f'{field}.resources', text)
            if key in gone:
                raise errors.BadField(field=f'{field}.resources', reason=(
                    f'{self._pool} {text} is removed as well: name it once.'))
            self.outages[key].append(interval.Interval(max(span.start, self._window.start),
                                                       span.end))

    def _id(self, field, text):
        if text not in self._known:
            raise errors.BadField(field=field, reason=(
                f'no {self._pool} that can be reserved has the id or the name "{text[:80]}".'))
        return self._known[text]


def _hours(start, end):
    return (end - start).total_seconds() / 3600


def _united(spans):
    """Return the disjoint pairs (start, end) that Intervals cover together."""
    pairs = []
    for span in sorted(spans):
        if pairs and span.start <= pairs[-1][1]:
            pairs[-1] = pairs[-1][0], max(pairs[-1][1], span.end)
        else:
            pairs.append((span.start, span.end))
    return pairs
