# SPDX-License-Identifier: Apache-2.0
"""The pool of a what-if question: resources are added, removed, or out of service for a time."""
import collections
import dataclasses
import datetime

from climate import errors
from climate.domain import interval
from climate.domain import lease_times

#: The longest window of a question.
LONGEST = datetime.timedelta(days=366)
_MOST_ADDED = 10_000
# Longer than any lease.
_FOR_GOOD = datetime.timedelta(days=200 * 366)


class ChangedPool:
    """The resources of a pool after the changes of a Question.

    :ivar before: the number of resources before the changes; `after`: the number after them.
    :ivar capacities: {id: {class: units}} of the present and the added resources.
    :ivar names: {id: name} of the present and the added resources.
    :ivar twins: {id of an added resource: id of the present resource that it equals}.
    :ivar outages: {id: [Interval]} in which a resource is out of service or removed.
    """

    def __init__(self, resources, question, window):
        """Look up the resources that the question names.

        :param resources: {id: Resource} of the pool, without those that cannot be reserved now.
        :param window: the Interval that the question is about.
        :raises BadField: a resource is unknown, or a time is not possible.
        """
        self.names = {key: resource.name for key, resource in resources.items()}
        self._ids = {**{name: key for key, name in self.names.items()},
                     **{str(key): key for key in resources}}
        self._pool, self._window = question.pool, window
        self.before = len(resources)
        self.capacities = {key: resource.capacity for key, resource in resources.items()}
        self.twins = {}
        self.outages = collections.defaultdict(list)
        self._add(question.add)
        removed = {self._id('remove', text) for text in question.remove}
        for number, outage in enumerate(question.out):
            self._take_out(f'out.{number}', outage, removed)
        # A removed resource stays removed after the window.
        for key in removed:
            self.outages[key] = [dataclasses.replace(window, end=window.end + _FOR_GOOD)]
        self.after = self.before + len(self.twins) - len(removed)

    def hits(self, rows):
        """Return whether an outage affects one of the allocations of a lease."""
        return any(row.start < span.end and span.start < row.end
                   for row in rows for span in self.outages.get(row.resource_id, ()))

    def capacity_before(self, step):
        """Return the resource-hours of the present pool in an Interval."""
        return self.before * _hours(step.start, step.end)

    def capacity_after(self, step):
        """Return the resource-hours of the changed pool in an Interval."""
        total = (self.before + len(self.twins)) * _hours(step.start, step.end)
        for spans in self.outages.values():
            for start, end in _united(spans):
                total -= max(0.0, _hours(max(start, step.start), min(end, step.end)))
        # Remove rounding errors, so that a pool without resources has exactly 0.
        return round(total, 6)

    def _add(self, additions):
        if sum(addition.count for addition in additions) > _MOST_ADDED:
            raise errors.BadField(field='add', reason=(
                f'at most {_MOST_ADDED} resources can be added.'))
        new_id = max(self.capacities, default=0) + 1
        for number, addition in enumerate(additions):
            like = self._id(f'add.{number}.like', addition.like)
            for _ in range(addition.count):
                self.twins[new_id] = like
                self.capacities[new_id] = self.capacities[like]
                self.names[new_id] = f'new-{len(self.twins)}'
                new_id += 1

    def _take_out(self, field, outage, removed):
        span = lease_times.window(outage.start, outage.end, LONGEST, f'{field}.end')
        if not span.overlaps(self._window):
            raise errors.BadField(field=field, reason=(
                f'it is outside of the time of the question, {self._window}.'))
        for text in outage.resources:
            key = self._id(f'{field}.resources', text)
            if key in removed:
                raise errors.BadField(field=f'{field}.resources', reason=(
                    f'{self._pool} {text} is removed as well: name it once.'))
            self.outages[key].append(interval.Interval(max(span.start, self._window.start),
                                                       span.end))

    def _id(self, field, text):
        if text not in self._ids:
            raise errors.BadField(field=field, reason=(
                f'no {self._pool} that can be reserved has the id or the name "{text[:80]}".'))
        return self._ids[text]


def _hours(start, end):
    return (end - start).total_seconds() / 3600


def _united(spans):
    """Return the union of Intervals, as disjoint pairs (start, end)."""
    pairs = []
    for span in sorted(spans):
        if pairs and span.start <= pairs[-1][1]:
            pairs[-1] = pairs[-1][0], max(pairs[-1][1], span.end)
        else:
            pairs.append((span.start, span.end))
    return pairs
