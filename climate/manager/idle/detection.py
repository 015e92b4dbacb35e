# SPDX-License-Identifier: Apache-2.0
"""Find idle leases, mark them, notify their owners, and schedule when they are reclaimed."""
import dataclasses

from oslo_log import log

from climate.db import events
from climate.db import idle_leases
from climate.db import journal
from climate.db import leases
from climate.db import use_samples
from climate.domain import idle
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.idle import rules
from climate.manager.idle import sampler
from climate.manager.idle import summary
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_OVER = texts.same('It is not idle any more.')


class IdleDetection:
    """The periodic task that marks idle leases. It writes only changes, so it may be repeated."""

    def __init__(self, core, owner):
        self._core = core
        self._sampler = sampler.Sampler(core, owner)

    def step(self, now):
        """If a new slot has begun, sample and judge all running leases, and return True."""
        if self._sampler.step(now) is None:
            return False
        with cores.isolated('Idle leases'):
            self.judge(now)
        if self._core.conf.idle.weekly_summary:
            summary.publish(self._core, now)
        return True

    def judge(self, now):
        """Judge all leases by their samples; return the ids of the leases whose marks changed."""
        judged_by = rules.of(self._core.conf)
        with self._core.database.reader() as connection:
            rows = use_samples.running(connection, now)
            samples = use_samples.since(connection, judged_by.watched_since(now))
            marked = idle_leases.marked(connection)
            verdicts = _verdicts(rows, samples, judged_by)
            candidates = leases.mentioned(connection, marked | {
                key for key, verdict in verdicts.items() if verdict.is_idle})
        changed = []
        for lease in candidates:
            with cores.isolated('Lease %s: its idleness', lease.id):
                verdict = self._verdict(lease, verdicts.get(lease.id, idle.UNKNOWN), judged_by,
                                        now)
                marks = idle.marked(idle.marks_of(lease), verdict, rules.reclamation(
                    self._core, lease, verdict.unused) is not None, judged_by, now)
                if lease.idle_since is None and marks.since and verdict.percent_used == 0:
                    marks = dataclasses.replace(marks, since=self._unused_since(
                        lease, judged_by.watched_since(now)))
                # A running task may end the idleness of a lease, so the next pass judges it.
                if marks != idle.marks_of(lease) and lease.task is None:
                    changed += self._write(lease, verdict, marks, now)
        if changed:
            self._core.notify()
        return changed

    def _unused_since(self, lease, watched):
        with self._core.database.reader() as connection:
            used = use_samples.used(
                connection, [reservation.id for reservation in lease.reservations], watched)
        return idle.unused_since(lease.start, used, watched)

    def _verdict(self, lease, verdict, judged_by, now):
        """Return the IdleVerdict, or UNKNOWN for a lease that must not count as idle."""
        counts = (lease.state == lifecycle.ACTIVE and lease.deleted_at is None
                  and now < lease.end and lease.start <= judged_by.watched_since(now)
                  and not rules.is_exempt(self._core.conf, lease)
                  and rules.is_measured(self._core, lease))
        return verdict if counts else idle.UNKNOWN

    @cores.again_after_a_race
    def _write(self, read_lease, verdict, marks, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, read_lease.id)
            if (lease.generation, lease.claim_no) != (read_lease.generation, read_lease.claim_no):
                # Since the lease was read, a request changed it or another manager marked it.
                return []
            leases.change(connection, lease, now, idle_since=marks.since,
                          reclaim_at=marks.reclaim_at)
            before = idle.marks_of(lease)
            if marks.reclaim_at != before.reclaim_at:
                events.change(connection, lease.id,
                              lease_events.reclaimed(lease, marks.reclaim_at), now)
            self._notify_owner(connection, lease, before, verdict, marks, now)
        LOG.info('Lease %s: %s', lease.id, 'idle' if marks.since else 'not idle any more')
        return [lease.id]

    def _notify_owner(self, connection, lease, before, verdict, marks, now):
        """Notify the owner that the lease is idle or in use again, and when it is reclaimed."""
        after = dataclasses.replace(lease, idle_since=marks.since, reclaim_at=marks.reclaim_at)
        if marks.since is None:
            if lease.state == lifecycle.ACTIVE:
                journal.note(connection, lease.id, now, 'climate', 'idle over', _OVER)
                outbox.publish(connection, after, now, 'idle_over')
        elif before.since is None or (marks.reclaim_at and before.reclaim_at is None):
            journal.note(connection, lease.id, now, 'climate', 'idle',
                         texts.same(self._words(verdict, marks)))
            outbox.publish(connection, after, now, 'idle')

    def _words(self, verdict, marks):
        used = 'Nothing ran on it' if verdict.percent_used == 0 else (
            f'Only {verdict.percent_used:.1f} % of it was used')
        words = f'{used} since {_minute(marks.since)}.'
        if marks.reclaim_at is None:
            return words
        consequence = 'It will be ended' if rules.ends(self._core.conf) else (
            'Its unused resources will be reclaimed')
        return f'{words} {consequence} at {_minute(marks.reclaim_at)}, unless it is in use then.'


def _verdicts(rows, samples, judged_by):
    """Return {lease id: its IdleVerdict}.

    :param rows: the rows of ``use_samples.running``.
    """
    samples_of = {}
    for reservation, _, resource_id, _ in rows:
        key = reservation.id, resource_id or 0
        samples_of.setdefault(reservation.lease_id, {})[key] = samples.get(key, use_samples.NONE)
    return {lease_id: idle.judge(own_samples, judged_by)
            for lease_id, own_samples in samples_of.items()}


def _minute(moment):
    return f'{moment:%Y-%m-%d %H:%M} UTC'
