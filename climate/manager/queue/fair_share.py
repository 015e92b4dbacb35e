# SPDX-License-Identifier: Apache-2.0
"""Fair share: projects that have used less come first in the wait queue.

A periodic task computes the share of each project, and writes it to the project's queued leases. A
new lease gets the stored share of its project. So all queued leases of a project always have the
same share, and their order among each other is by age.
"""
import dataclasses

from climate.db import fair_shares as stored
from climate.db import usage_days
from climate.db import usage_rows
from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import fair_shares
from climate.domain import lifecycle
from climate.domain import texts
from climate.domain import usage_figures
from climate.manager import core as cores
from climate.manager.queue import wakeups

PAUSE_SECONDS = 300


class FairShares:
    """The periodic task that computes the shares of all projects.

    The decayed use of the closed days is read once a day.
    """

    def __init__(self, core):
        self._core = core
        self._half_life = core.conf.acquire.fair_share_half_life_days
        # The second at which the closed days end, and {project id: decayed use} at that second.
        self._closed = None, {}

    def renew(self, now):
        """Store the shares of `now`. If the order of the queue may change, wake its first lease.

        Leases that were tried before the change are then tried again in the new order.
        """
        with self._core.database.reader() as connection:
            shares = fair_shares.shares(self._uses(connection, now))
            if shares == stored.every(connection):
                return
        _replace(self._core.database, shares, now)

    def _uses(self, connection, now):
        """Return {project id: decayed use} at a moment."""
        counted_until, at = usage_days.counted_until(connection), usage_figures.second(now)
        if counted_until is None or counted_until >= now:
            return {}
        until = usage_figures.second(counted_until)
        if self._closed[0] != until:
            oldest = fair_shares.MOST_HALF_LIVES * self._half_life * usage_figures.DAY_SECONDS
            self._closed = until, fair_shares.decayed(
                stored.closed_uses(connection, max(0, until - int(oldest))), until,
                self._half_life)
        open_days = usage_figures.tally(
            usage_rows.shares(connection, counted_until, now, now), (), until, at)
        uses = fair_shares.decayed(
            ((key.project_id, key.day, seconds.allocated) for key, seconds in open_days.items()),
            at, self._half_life)
        part = fair_shares.weight(at - until, self._half_life)
        for project_id, use in self._closed[1].items():
            uses[project_id] = uses.get(project_id, 0) + use * part
        return uses


def is_on(conf):
    """Return whether the shares of projects count in the wait queue."""
    return conf.acquire.fair_share_half_life_days > 0


def forget(core):
    """Delete the shares that a manager stored before fair share was switched off."""
    if is_on(core.conf):
        return
    with core.database.reader() as connection:
        if not stored.every(connection):
            return
    _replace(core.database, {}, core.clock())


def with_share(connection, conf, lease):
    """Return a lease whose Acquisition has the share of its project, if shares count."""
    if not is_on(conf):
        return lease
    share = stored.of_project(connection, lease.project_id)
    return dataclasses.replace(
        lease, acquisition=dataclasses.replace(lease.acquisition, share=share))


def explained(connection, conf, lease):
    """Return a lease with a reason that names its place in the queue, if shares count."""
    if (not is_on(conf) or lease.acquisition is None or lease.state != lifecycle.ACQUIRING
            or lease.acquisition.type not in acquire.QUEUED):
        return lease
    before, by_share = stored.place(connection, lease.acquisition)
    others = {0: 'no lease of a project with less use comes', 1: (
        '1 lease of a project with less use comes')}.get(
            by_share, f'{by_share} leases of projects with less use come')
    sentence = (f'It is number {before + 1} in the queue: its project has had '
                f'{fair_shares.as_percent(lease.acquisition.share)} of the recent use, and '
                f'{others} first.')
    return lease.explained(texts.joined(lease.reason_text, texts.same(sentence)))


@cores.again_after_a_race
def _replace(database, shares, now):
    with database.writer() as connection:
        wait_queue.lock(connection)
        if stored.replace(connection, shares, now):
            wakeups.wake_first(connection, now)
