# SPDX-License-Identifier: Apache-2.0
"""Each copy of a resource has, at each moment, the notice with which its owner asked for it."""
import datetime
import random

import pytest

from climate.domain import short_notice

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


class Played:
    """A running lease of copies of one resource that its owner changes, and what it must cost.

    :ivar truth: {hour: the notice of each copy, None for that of the lease}.
    """

    def __init__(self, copies, end):
        self.now, self.end, self.copies, self.later = 0, end, copies, ()
        self.rows, self.longer_since = [[0, copies]], None
        self.truth = {hour: [None] * copies for hour in range(end)}

    def resize(self, copies):
        if copies > self.copies:
            self._add(short_notice.LaterRequest(
                self._at(self.now), self._at(self.now), 'r', 1, self.copies))
        if copies != self.copies:
            self.rows.append([self.now, copies])
        for hour in range(self.now, self.end):
            kept = self.truth[hour][:copies]
            if copies > self.copies and self.longer_since is not None and (
                    hour >= self.longer_since):
                # This time is asked for by the same change.
                kept = [0 * HOUR] * len(kept)
            self.truth[hour] = kept + [0 * HOUR] * (copies - len(kept))
        self.copies = copies

    def move_end(self, end):
        end = max(end, self.now + 1)
        if end > self.end:
            self.longer_since = self.end
            self._add(short_notice.LaterRequest(self._at(self.now), self._at(self.end)))
        for hour in range(self.end, end):
            self.truth[hour] = [(self.end - self.now) * HOUR] * self.copies
        for hour in range(end, self.end):
            del self.truth[hour]
        self.end = end

    def found(self):
        """Return {hour: the notice of each copy} of the parts."""
        result = {}
        for number, (start, copies) in enumerate(self.rows):
            following = self.rows[number + 1][0] if number + 1 < len(self.rows) else self.end
            if start == following:
                continue
            for part in short_notice.parts(self.later, short_notice.NoticePart(
                    copies, self._at(start), self._at(following)), 'r', 1):
                for hour in range(round((part.start - NOON) / HOUR),
                                  round((part.end - NOON) / HOUR)):
                    result.setdefault(hour, []).extend([part.notice] * part.copies)
        return result

    def at(self, hour):
        """Go on to an hour, at which nothing was asked for yet."""
        self.now, self.longer_since = hour, None

    def _add(self, ask):
        self.later = short_notice.with_added(self.later, [ask])

    @staticmethod
    def _at(hour):
        return NOON + hour * HOUR


@pytest.mark.parametrize('seed', range(200))
def test_each_copy_has_the_notice_with_which_it_was_asked_for(seed):
    chance = random.Random(seed)
    lease = Played(chance.randint(1, 4), chance.randint(2, 6))
    while lease.now < lease.end - 1 and lease.now < 20:
        lease.at(lease.now + 1)
        what = chance.choice(['nothing', 'size', 'end', 'both'])
        if what in ('end', 'both'):
            lease.move_end(lease.end + chance.randint(-3, 4))
        if what in ('size', 'both'):
            lease.resize(chance.randint(1, 6))
    assert lease.found() == lease.truth
